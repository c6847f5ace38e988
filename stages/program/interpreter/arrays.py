"""Arrays of entries as files."""

from __future__ import annotations

import io

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.program.irg.graph import Entry
from lairmake.stages.program.values.arithmetic import Array


def check_array(array: Array, entry: Entry, path: str) -> Array:
    """Return an array that a stage wrote. Raises UserError where it is not of its entry."""
    if array.dtype.name != entry.type or array.shape != entry.shape:
        said = f"{path} is {array.dtype} of shape {array.shape}, and {entry.name} is {entry.type}" \
               f" of shape {entry.shape}"
        raise UserError(said, hint="a build writes it anew once it is deleted")
    return array


def write_array(array: Array) -> bytes:
    """Return an array as a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
