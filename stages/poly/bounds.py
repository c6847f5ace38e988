"""The exact bounds of a set in every dimension, and whether the set is the box between them.

Paper    V Sec. 5.1, (13), (14), (16), (20), (21), (24)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.bind import PARAM, project_names
from lairmake.stages.poly.extremes import find_least
from lairmake.stages.poly.simple import simplify

SET = isl.dim_type.set


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactBounds:
    """Minimum, maximum and size (maximum - minimum + 1) of a set, independently per dimension.

    They are piecewise quasi-affine functions of the symbolic constants on `domain`, where the set
    is not empty, with integer values; `size` is simplified with respect to `domain`, and exact
    only there.
    `is_box` says whether the set has every element within its bounds.
    """

    minimum: tuple[isl.PwAff, ...]
    maximum: tuple[isl.PwAff, ...]
    size: tuple[isl.PwAff, ...]
    is_box: bool
    domain: isl.Set


def exact_bounds(elements: isl.Set, context: isl.Set) -> ExactBounds:
    """Return the exact bounds of a set for the symbolic constants of the context.

    Ensures `minimum <= x <= maximum` for every element x.

    Raises ValueError if the set is unbounded in some dimension.
    """
    known = elements.intersect_params(context)
    if not _is_bounded(known):
        raise ValueError(f"{known} is unbounded")
    positions = range(known.dim(SET))
    minimum = tuple(known.dim_min(position).coalesce().floor() for position in positions)
    maximum = tuple(known.dim_max(position).coalesce().floor() for position in positions)
    domain = known.params()
    size = tuple(
        simplify(_length(least, greatest), domain)
        for least, greatest in zip(minimum, maximum, strict=True)
    )
    is_box = _box(known, minimum, maximum).intersect_params(domain).is_subset(known)
    return ExactBounds(minimum=minimum, maximum=maximum, size=size, is_box=is_box, domain=domain)


def find_full(elements: isl.Set, bounds: ExactBounds) -> isl.Set:
    """Return the symbolic constants for which a set has every element within its bounds.

    As `[p] -> { : ... }`, of those for which it is not empty.
    """
    within = _box(elements, bounds.minimum, bounds.maximum).intersect_params(bounds.domain)
    return bounds.domain.subtract(within.subtract(elements).params()).coalesce()


def bound_set(elements: isl.Set, bounds: Sequence[isl.PwAff]) -> isl.Set:
    """Return `[p] -> { T[b(p)] }`, bounds or sizes as a set of one element in the tuple T."""
    return _tuple_of(elements, bounds).as_set()


def find_fixed_size(bounds: ExactBounds, free: Sequence[str]) -> tuple[isl.PwAff, ...] | None:
    """Return the sizes if they do not depend on the symbolic constants `free`.

    They are functions of the others, exact where the set is not empty for some value of `free`.
    None if a size depends on `free`.
    """
    domain = project_names(bounds.domain, free)
    found: list[isl.PwAff] = []
    for size in bounds.size:
        values = project_names(_values(size, bounds.domain), free)
        least = values.dim_min(0)
        if not least.is_equal(values.dim_max(0)):
            return None
        found.append(simplify(least, domain))
    return tuple(found)


def find_constant_size(bounds: ExactBounds) -> tuple[int, ...] | None:
    """Return the sizes if they depend on no symbolic constant; None if they do.

    A set that is always empty has size 0 in every dimension.
    """
    if bounds.domain.is_empty():
        return (0,) * len(bounds.size)
    names = bounds.domain.get_var_names_not_none(PARAM)
    sizes = [project_names(_values(size, bounds.domain), names) for size in bounds.size]
    if not all(size.is_singleton() for size in sizes):
        return None
    return tuple(find_least(size, 0).to_python() for size in sizes)


def _is_bounded(elements: isl.Set) -> bool:
    """Is every dimension bounded for each value of the symbolic constants?"""
    return all(
        elements.dim_is_bounded(SET, position) for position in range(elements.dim(SET))
    )


def _length(least: isl.PwAff, greatest: isl.PwAff) -> isl.PwAff:
    return greatest.sub(least).add_constant_val(isl.Val(1))


def _box(
    elements: isl.Set, minimum: Sequence[isl.PwAff], maximum: Sequence[isl.PwAff]
) -> isl.Set:
    """Return `{ T[x] : minimum <= x <= maximum }` in the tuple of the set."""
    box = isl.Set.universe(elements.space)
    box = box.lower_bound_multi_pw_aff(_tuple_of(elements, minimum))
    return box.upper_bound_multi_pw_aff(_tuple_of(elements, maximum))


def _tuple_of(elements: isl.Set, bounds: Sequence[isl.PwAff]) -> isl.MultiPwAff:
    """Return `[p] -> { T[b(p)] }` in the tuple T of the set."""
    result = isl.MultiPwAff.zero(elements.space)
    for position, bound in enumerate(bounds):
        result = result.set_pw_aff(position, bound)
    return result


def _values(size: isl.PwAff, domain: isl.Set) -> isl.Set:
    """Return `[p] -> { [size(p)] : p in domain }`."""
    return isl.Set.from_pw_aff(size.intersect_domain(domain))
