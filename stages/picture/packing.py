"""Arrays of whole numbers as they go into a page: few bytes, in text.

Each number is written as its difference from the one to the west, in the least type that holds them
all; that is deflated, as zlib does, and written in base 64. A browser has what undoes it.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[Any]
TYPES = ("u1", "i1", "u2", "i2", "i4")
LEVELS = 255
"""In so many levels numbers are written where they are only looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An array: its type (u1, i1, u2, i2, i4), its shape, and its deflated numbers in base 64.

    A number that is shown is `step` times the one that is written, plus `least`; there is one for
    each square of `block` x `block` PEs. By default all numbers are as they are.
    """

    type: str
    shape: tuple[int, ...]
    deflated: str
    least: float = 0
    step: float = 1
    block: int = 1


def pack(array: Ints) -> Packed:
    """Return an array of whole numbers of at most 32 bits, of any shape but ()."""
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    fits = (np.dtype(name) for name in TYPES)
    dtype = next(t for t in fits if np.iinfo(t).min <= least and most <= np.iinfo(t).max)
    whole = array.astype(dtype.newbyteorder("<"))
    differences = whole.copy()
    differences[..., 1:] -= whole[..., :-1]
    deflated = base64.b64encode(zlib.compress(differences.tobytes(), 9)).decode("ascii")
    return Packed(type=dtype.str[1:], shape=array.shape, deflated=deflated)


def pack_within(array: Ints, most: int) -> Packed:
    """Return an array [height, width] in at most so many characters, if need be not exactly.

    Then it has 256 levels, and the means of ever larger squares of PEs, until they fit.
    """
    packed, block = pack(array), 1
    while len(packed.deflated) > most and block < max(array.shape):
        packed = _pack_levels(_means(array, block), block)
        block *= 2
    return packed


def _means(array: Ints, block: int) -> NDArray[np.float64]:
    """Return the means of squares of PEs; those at the east and the south may be cut."""
    rows, columns = (np.arange(0, extent, block) for extent in array.shape)
    sums = np.add.reduceat(np.add.reduceat(array.astype(np.float64), rows, 0), columns, 1)
    height, width = array.shape
    heights, widths = np.diff(rows, append=height), np.diff(columns, append=width)
    found: NDArray[np.float64] = sums / np.outer(heights, widths)
    return found


def _pack_levels(means: NDArray[np.float64], block: int) -> Packed:
    least, most = float(means.min()), float(means.max())
    step = (most - least) / LEVELS or 1.0
    packed = pack(np.rint((means - least) / step).astype(np.int64))
    return Packed(
        type=packed.type, shape=packed.shape, deflated=packed.deflated,
        least=least, step=step, block=block,
    )
