"""Enumerate the sizes of a rectangular instance set: one SIMD configuration per size.

Paper    V Sec. 5.4, (42), (43), Ex. 5.10
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.poly.bind import PARAM, project_names
from lairmake.stages.poly.bounds import ExactBounds
from lairmake.stages.poly.box_hull import BoxHull, box_hull

MOST_COUNTED = 4096
"""Identifiers are counted only in hulls of at most so many elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumeration:
    """The sizes `[PE_X, PE_Y] -> { [n] }` that a task needs, and their identifiers `{ [d] }`.

    A size is the offset of `hull`, the fixed-size box hull of the sizes, plus its identifier.
    `count` is the number of identifiers.
    """

    sizes: isl.Set
    hull: BoxHull
    identifiers: isl.Set
    count: int


def enumerate_sizes(bounds: ExactBounds, free: Sequence[str]) -> Enumeration | None:
    """Return the sizes over all values of the index symbolic constants `free`, identified.

    None if the bounds are not those of a box, the sizes have no fixed-size box hull, or there
    are too many to count.
    """
    if not bounds.is_box:
        return None
    sizes = project_names(_sizes(bounds), free).coalesce()
    hull = box_hull(sizes)
    if hull is None or prod(hull.size) > MOST_COUNTED:
        return None
    identifiers = _identifiers(sizes, hull)
    count = identifiers.count_val().to_python()
    return Enumeration(sizes=sizes, hull=hull, identifiers=identifiers, count=count)


def _sizes(bounds: ExactBounds) -> isl.Set:
    """Return `[p] -> { [size(p)] : p in domain }`."""
    space = bounds.domain.space.add_unnamed_tuple_ui(len(bounds.size))
    function = isl.MultiPwAff.zero(space)
    for position, size in enumerate(bounds.size):
        function = function.set_pw_aff(position, size)
    return function.as_set().intersect_params(bounds.domain)


def _identifiers(sizes: isl.Set, hull: BoxHull) -> isl.Set:
    """Return `{ [n - offset] }` with all symbolic constants projected out, V (43)."""
    shifted = sizes.sum(hull.offset.neg().as_set().align_params(sizes.space))
    return project_names(shifted, shifted.get_var_names_not_none(PARAM)).coalesce()
