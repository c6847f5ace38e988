"""The lowest and the highest value of each dimension of a set."""

from __future__ import annotations

import islpy as isl

from lairmake.stages.poly.extremes import find_greatest, find_least


def find_extents(elements: isl.Set) -> list[tuple[int, int]] | None:
    """Return the lowest and highest value of each dimension of a set that is not empty.

    None if a dimension has none of them. Symbolic constants may have any value.
    """
    positions = range(elements.dim(isl.dim_type.set))
    ends = [(find_least(elements, k), find_greatest(elements, k)) for k in positions]
    if not all(low.is_int() and high.is_int() for low, high in ends):
        return None
    return [(low.to_python(), high.to_python()) for low, high in ends]


def bounding_box(elements: isl.Set) -> list[tuple[int, int]]:
    """Return the same of a bounded set. Raises ValueError if it is none."""
    found = find_extents(elements)
    if found is None:
        raise ValueError(f"{elements} is unbounded")
    return found


def find_shape(box: isl.Set) -> tuple[int, ...]:
    """Return the sizes of { T[i] : 0 <= i < size }, for any values of symbolic constants."""
    positions = range(box.dim(isl.dim_type.set))
    return tuple(find_greatest(box, k).to_python() + 1 for k in positions)
