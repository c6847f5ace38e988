"""How many elements a set has: exactly, but where that takes long at most."""

from __future__ import annotations

from math import prod

import islpy as isl

from stages.poly.cardinality import cardinality, with_constants
from stages.poly.quota import TooManyOperations, limited

MOST_OPERATIONS = 2_000_000
"""How much isl may work to count exactly, in its own unit: half a second."""


def count(elements: isl.Set) -> int:
    """Return the number of `[p] -> { [x] }`'s pairs (p, x), or a bound where counting takes long.

    The bound is the number of elements of the box around them. Raises ValueError if there is none.
    """
    try:
        with limited(MOST_OPERATIONS):
            return cardinality(elements)
    except (TooManyOperations, ValueError):
        whole = with_constants(elements)
        return prod(_extent(whole, k) for k in range(whole.dim(isl.dim_type.set)))


def _extent(elements: isl.Set, position: int) -> int:
    low, high = elements.dim_min_val(position), elements.dim_max_val(position)
    if not (low.is_int() and high.is_int()):
        raise ValueError(f"{elements} is unbounded")
    return int(high.sub(low).to_python()) + 1


def most_points(elements: isl.Set) -> int:
    """Return a bound on the size of [p] -> { [x] } for any p: the product of its extents."""
    extents = []
    for k in range(elements.dim(isl.dim_type.set)):
        spread = elements.dim_max(k).sub(elements.dim_min(k)).floor().max_val()
        extents.append(spread.to_python() + 1)
    return prod(extents)
