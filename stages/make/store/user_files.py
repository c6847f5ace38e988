"""Files that a user hands over: regular files, read whole, and not longer than any text is."""

from __future__ import annotations

import errno
from pathlib import Path

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.store.files import opened, read_open
from lairmake.stages.make.store.folders import (
    GRAPHS,
    KERNEL,
    LAYER,
    MLIR,
    NETWORK,
    PROGRAM,
    shown_path,
)
from lairmake.stages.make.store.state import Mark, mark_of

ARRAYS = (".npy", ".npz")
"""Endings of arrays, which may have any size."""
BY_HAND = frozenset({LAYER, NETWORK, KERNEL, PROGRAM, "lairmake.yaml"})
MOST_BY_HAND = 2**20
"""Number of bytes of a file in `BY_HAND`, at most."""
MOST = {".lair": 2**20, ".py": 2**22, MLIR: 2**24, **dict.fromkeys(GRAPHS, 2**31 - 1)}
"""Number of bytes, at most, of a text that people write, by ending; MLIR may hold weights, and
graphs hold those of whole networks."""
WEIGHTS = 2**31 - 1
"""Number of bytes, at most, of a file with weights of a graph."""
OTHERS = 2**26
"""Number of bytes, at most, of any other text."""
REMEDIES = {
    errno.EISDIR: "a file belongs here: give the folder another name",
    errno.EINVAL: "what is read is a file, and no pipe or device",
}


def content_of(path: Path) -> bytes:
    """Return the bytes of a file. Raises UserError as `read_given` does."""
    return read_given(path)[0]


def read_given(path: Path, longest: int | None = None) -> tuple[bytes, Mark]:
    """Return the bytes of a file, and its mark, which tells whether it was written since.

    Raises UserError for a file that cannot be read, for a folder, for a pipe or a device, which
    might never end, and for a file that is too long for its kind. `longest` is the number of bytes
    for a file of no kind.
    """
    by_hand = path.name in BY_HAND and path.parent.name != "build"  # where stages write them
    most = MOST_BY_HAND if by_hand else longest or MOST.get(path.suffix, OTHERS)
    try:
        with opened(path) as (file, state):
            if path.suffix not in ARRAYS and state.st_size > most:
                said = f"{shown_path(path)} is {state.st_size} bytes long, at most {most} are read"
                raise UserError(said, hint="is this the right file?")
            return read_open(file, state.st_size), mark_of(state)
    except OSError as error:
        hint = REMEDIES.get(error.errno or 0)
        if path.name == LAYER and error.errno == errno.ENOENT:
            hint = "the folder of a layer holds NAME.lair and layer.yaml"
        raise UserError(f"{shown_path(path)}: {error.strerror}", hint=hint) from error
