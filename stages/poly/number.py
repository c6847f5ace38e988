"""How many elements a set has: exactly, but where that takes long at most."""

from __future__ import annotations

from math import prod

import islpy as isl

from lairmake.stages.poly.cardinality import bind_constants, cardinality
from lairmake.stages.poly.extents import bounding_box
from lairmake.stages.poly.extremes import greatest_value
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

MOST_OPERATIONS = 2_000_000
"""How much isl may work to count exactly, in its own unit: half a second."""


def count(elements: isl.Set) -> int:
    """Return the number of `[p] -> { [x] }`'s pairs (p, x), or a bound where counting takes long.

    The bound is the number of elements of the box around them. Raises ValueError if there is none.
    """
    try:
        with limit_operations(MOST_OPERATIONS):
            return cardinality(elements)
    except (TooManyOperations, ValueError):
        return prod(high - low + 1 for low, high in bounding_box(bind_constants(elements)))


def bound_points(elements: isl.Set) -> int:
    """Return a bound on the size of [p] -> { [x] } for any p: the product of its extents."""
    extents = []
    for k in range(elements.dim(isl.dim_type.set)):
        spread = greatest_value(elements.dim_max(k).sub(elements.dim_min(k)).floor())
        extents.append(spread.to_python() + 1)
    return prod(extents)
