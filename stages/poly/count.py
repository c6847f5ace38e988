"""How many elements a set has: exactly where that takes no time, else at most."""

from __future__ import annotations

from math import prod

import islpy as isl

from stages.poly.bind import PARAM

MOST_COUNTED = 100_000
"""Elements are counted one by one in boxes of at most so many."""


def count(elements: isl.Set) -> int:
    """Return the number of `[p] -> { [x] }`'s pairs (p, x), or a bound where they are many.

    The bound is the number of elements of the box around them. Raises ValueError if there is none.
    """
    whole = _with_constants(elements)
    if whole.is_empty():
        return 0
    around = prod(_extent(whole, k) for k in range(whole.dim(isl.dim_type.set)))
    return int(whole.count_val().to_python()) if around <= MOST_COUNTED else around


def _with_constants(elements: isl.Set) -> isl.Set:
    """Return { [p, x] }, the symbolic constants as dimensions."""
    anonymous = isl.Set.from_params(elements) if elements.is_params() else elements.flatten()
    return anonymous.move_dims(isl.dim_type.set, 0, PARAM, 0, anonymous.dim(PARAM))


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
