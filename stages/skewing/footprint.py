"""How much of its memory a PE needs for the data of one iteration of a loop over time.

Paper    M Sec. III.H
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

import islpy as isl

from stages.poly.extents import find_shape

SET, OUT = isl.dim_type.set, isl.dim_type.out


def footprint(
    times: isl.Map, place: isl.Map, accesses: Iterable[isl.Map], sizes: Mapping[str, int]
) -> int:
    """Return the bytes of the boxes of elements that a PE uses at one time, the most of any.

    `times` { S[i] -> [t...] } has the dimensions down to the loop; `sizes` gives the bytes of an
    element by tensor.
    """
    step = times.flat_range_product(place).compute_divs().reverse()
    return sum(
        sizes[access.get_tuple_name(OUT)] * _elements(step.apply_range(access))
        for access in accesses
    )


def _elements(used: isl.Map) -> int:
    """Return the number of elements of the largest box around those of one step."""
    return prod(find_shape(used.reverse().apply_range(used).deltas()))
