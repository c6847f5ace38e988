"""Split a set along its first dimension where the section changes.

The section of a set S at x is S_x = { [y] : [x, y] in S }. Where S_x is the same for all x from a
to b, and another one at a - 1 and b + 1, the part of S from a to b is one slab, however S was put
together: staircases of boxes come apart in the same way.
"""

from __future__ import annotations

from functools import lru_cache

import islpy as isl

from lairmake.stages.poly.bind import PARAM
from lairmake.stages.poly.extremes import find_least

SET = isl.dim_type.set
MOST_CHANGES = 12
"""Dimensions along which the section changes more often are not split."""


def split(elements: isl.Set) -> list[isl.Set]:
    """Return the slabs of a set, along the symbolic constants first; each is split in turn.

    Dimensions along which the section changes everywhere, or too often, are left as they are.
    """
    count = elements.dim(PARAM)
    slabs = [elements.move_dims(SET, 0, PARAM, 0, count)]
    for position in range(slabs[0].dim(SET)):
        slabs = [part for slab in slabs for part in _slabs(slab, position)]
    return [slab.move_dims(PARAM, 0, SET, 0, count) for slab in slabs]


def find_hull(elements: isl.Set) -> isl.Set:
    """Return one conjunction that contains the set: shared constraints, equalities and strides."""
    hull = elements.simple_hull().intersect(elements.affine_hull())
    return isl.Set.from_basic_set(hull).detect_equalities()


def _slabs(elements: isl.Set, position: int) -> list[isl.Set]:
    hull = find_hull(elements)
    if hull.is_subset(elements):
        return [hull]
    parts: list[isl.Set] = []
    rest = elements
    for change in _changes(elements, position):
        parts.append(rest.upper_bound_val(SET, position, change))
        rest = rest.lower_bound_val(SET, position, change.add(isl.Val(1)))
    return [part.coalesce() for part in [*parts, rest] if not part.is_empty()]


def _changes(elements: isl.Set, position: int) -> list[isl.Val]:
    """Return the x with S_x != S_{x+1} in their order; nothing if there are more than a few."""
    count = elements.dim(SET)
    follow = elements.apply(_step(count, position))
    differ = elements.subtract(follow).union(follow.subtract(elements))
    line = differ.project_out(SET, position + 1, count - position - 1).project_out(SET, 0, position)
    points = [isl.Set.from_basic_set(point) for point in line.coalesce().get_basic_sets()]
    if len(points) > MOST_CHANGES or not all(point.is_singleton() for point in points):
        return []
    found = {find_least(point, 0).to_python() for point in points}
    return [isl.Val(x) for x in sorted(found)]


@lru_cache
def _step(count: int, position: int) -> isl.Map:
    """Return { [x] -> [x'] } with x' = x but for the dimension at the position: one less."""
    names = [f"x{k}" for k in range(count)]
    values = [f"{name} - 1" if k == position else name for k, name in enumerate(names)]
    return isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(values)}] }}")
