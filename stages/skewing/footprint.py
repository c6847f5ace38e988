"""How much of its memory a PE needs for the data of one iteration of a loop over time.

Paper    M Sec. III.H
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

import islpy as isl

from stages.poly.cardinality import cardinality
from stages.poly.extents import find_shape
from stages.poly.least import least
from stages.poly.quota import TooManyOperations, limit_operations

SET, OUT = isl.dim_type.set, isl.dim_type.out
MOST_FOR_COUNT = 2_000_000
"""What counting the elements of one reference may take in isl's own unit."""


def footprint(
    times: isl.Map, place: isl.Map, accesses: Iterable[isl.Map], sizes: Mapping[str, int]
) -> int:
    """Return the bytes of the elements that a PE uses at one time, the most of any.

    `times` { S[i] -> [t...] } has the dimensions down to the loop; `sizes` gives the bytes of an
    element by tensor.
    """
    step = times.flat_range_product(place).compute_divs().reverse()
    return sum(
        sizes[access.get_tuple_name(OUT)] * _elements(step.apply_range(access))
        for access in accesses
    )


def _elements(used: isl.Map) -> int:
    """Return the number of elements { [t, p] -> T[e] } of a step, or of a box around them.

    These are { e - first(t, p) }, of all steps together: as many as each has where all of them are
    alike. Where isl needs long, or that is no fewer, the largest box around those of one step.
    """
    box = prod(find_shape(used.reverse().apply_range(used).deltas()))
    try:
        with limit_operations(MOST_FOR_COUNT):
            every = least(used).range_product(used).range().unwrap().deltas()
            return min(box, cardinality(every))
    except (TooManyOperations, ArithmeticError, ValueError):
        return box
