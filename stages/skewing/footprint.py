"""How much of its memory a PE needs for the data of one iteration of a loop over time.

Paper    M Sec. III.H
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import islpy as isl

from lairmake.stages.poly.cardinality import count_most

OUT = isl.dim_type.out


def footprint(
    times: isl.Map, place: isl.Map, accesses: Iterable[isl.Map], sizes: Mapping[str, int]
) -> int:
    """Return the bytes of the elements that a PE uses at one time, the most of any.

    `times` { S[i] -> [t...] } has the dimensions down to the loop; `sizes` gives the bytes of an
    element by tensor.
    """
    step = times.flat_range_product(place).compute_divs().reverse()
    return sum(
        sizes[access.get_tuple_name(OUT)] * count_most(step.apply_range(access))
        for access in accesses
    )
