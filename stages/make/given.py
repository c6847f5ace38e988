"""Files that a user hands over: read whole, if they are files, and not longer than any text is."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from stages.diagnose import UserError
from stages.make.folders import KERNEL, LAYER, MLIR, NETWORK, shown_path
from stages.make.store.files import READ, read_all
from stages.make.store.memo import Mark, mark_of

ARRAYS = ".npy"
"""These may have any size."""
BY_HAND = frozenset({LAYER, NETWORK, KERNEL, "lairmake.yaml"})
MOST = {".lair": 2**20, MLIR: 2**24}
"""How many bytes a text of a kind may have that people write; MLIR may hold weights."""
OTHERS = 2**26
"""How many bytes any other text may have."""


def content_of(path: Path) -> bytes:
    """Return the bytes of a file. Raises UserError as `read_given` does."""
    return read_given(path)[0]


def read_given(path: Path) -> tuple[bytes, Mark]:
    """Return the bytes of a file, and what tells whether it was written since.

    Raises UserError where it cannot be read, is no file but a folder, a pipe or a device, which
    might never end, or is too long for its kind.
    """
    most = 2**20 if path.name in BY_HAND else MOST.get(path.suffix, OTHERS)
    try:
        file = os.open(path, READ)
        try:
            state = os.fstat(file)
            if stat.S_ISDIR(state.st_mode):
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(state.st_mode):
                hint = "what is read is a file, and no pipe or device"
                raise UserError(f"{shown_path(path)} is no file", hint=hint)
            if path.suffix != ARRAYS and state.st_size > most:
                size = f"{state.st_size} bytes long, at most {most} are read"
                raise UserError(f"{shown_path(path)} is {size}", hint="is this the right file?")
            return read_all(file, state.st_size), mark_of(state)
        finally:
            os.close(file)
    except OSError as error:
        raise UserError(f"{shown_path(path)}: {error.strerror}") from error
