"""Files that a user hands over: read whole, if they are files, and not longer than any text is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stages.diagnose import UserError
from stages.make.folders import shown_path

MOST = {".npy": None, ".mlir": 2**24, ".isl": 2**26, ".lair": 2**20, ".yaml": 2**20}
"""How many bytes a file of a kind may have; None is as many as there are."""
OTHERS = 2**26


def content_of(path: Path, most: int | None = -1) -> bytes:
    """Return the bytes of a file, at most `most`, or as many as its kind may have.

    Raises UserError where it cannot be read, is no file but a folder, a pipe or a device, which
    might never end, or is too long.
    """
    most = MOST.get(path.suffix, OTHERS) if most == -1 else most
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                hint = "what is read is a file, and no pipe or device"
                raise UserError(f"{shown_path(path)} is no file", hint=hint)
            if most is not None and state.st_size > most:
                size = f"{state.st_size} bytes long, at most {most} are read"
                raise UserError(f"{shown_path(path)} is {size}", hint="is this the right file?")
            return file.read()
    except OSError as error:
        raise UserError(f"{shown_path(path)}: {error.strerror}") from error


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody who writes into a pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
