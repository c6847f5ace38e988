"""Files that a user hands over: read whole, if they are files, and not longer than any text is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stages.diagnose import UserError
from stages.make.folders import KERNEL, LAYER, MLIR, NETWORK, shown_path

ARRAYS = ".npy"
"""These may have any size."""
BY_HAND = frozenset({LAYER, NETWORK, KERNEL, "lairmake.yaml"})
MOST = {".lair": 2**20, MLIR: 2**24}
"""How many bytes a text of a kind may have that people write; MLIR may hold weights."""
OTHERS = 2**26
"""How many bytes any other text may have."""


def content_of(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises UserError where it cannot be read, is no file but a folder, a pipe or a device, which
    might never end, or is too long for its kind.
    """
    most = 2**20 if path.name in BY_HAND else MOST.get(path.suffix, OTHERS)
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                hint = "what is read is a file, and no pipe or device"
                raise UserError(f"{shown_path(path)} is no file", hint=hint)
            if path.suffix != ARRAYS and state.st_size > most:
                size = f"{state.st_size} bytes long, at most {most} are read"
                raise UserError(f"{shown_path(path)} is {size}", hint="is this the right file?")
            return file.read()
    except OSError as error:
        raise UserError(f"{shown_path(path)}: {error.strerror}") from error


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody who writes into a pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
