"""The fixed-size box hull of a set: a box with a constant size that contains the set.

Paper    V Sec. 2, 4.3 (8) and 5.3 (Ex. 5.8, 5.9)

For every dimension x_i, each constraint x_i >= l(p) of the set's description that involves no
other dimension and no existential offers the interval of size max(x_i - l(p)) + 1 at offset
l(p); the smallest size is kept.  The least element of all is offered as a constant offset too.
Hence the hull depends on the description of the set, and there may be none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.poly.bind import PARAM, project_names
from lairmake.stages.poly.detached import detach
from lairmake.stages.poly.extremes import find_greatest, find_least
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.simple import simplify

SET, DIV = isl.dim_type.set, isl.dim_type.div
MOST_FOR_LEAST = 500_000
"""How much isl may work for a piecewise offset, in its own unit: half a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxHull:
    """A box `{ T[x] : offset <= x < offset + size }` in the tuple of the set it was made from.

    `offset` is `[p] -> { T[o(p)] }`, a function of the symbolic constants without domain tuple.
    """

    offset: isl.MultiPwAff
    size: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.offset.dim(isl.dim_type.out) != len(self.size) or min(self.size, default=0) < 0:
            raise ValueError(f"no box of size {self.size} at {self.offset}")


def box_hull(
    elements: isl.Set,
    context: isl.Set | None = None,
    offset_params: Sequence[str] | None = None,
    quasi_affine: bool = False,
    rounded: bool = False,
) -> BoxHull | None:
    """Return the fixed-size box hull of a set within the context; None if it has none.

    The offset is purely affine and involves only `offset_params` (default: any symbolic
    constant).  With `quasi_affine` it may be piecewise quasi-affine, as Section 4.3 permits for
    allocations; where isl needs long for that, the box may be larger.  With `rounded` it may be an
    affine function over a number, rounded up, where that gives a smaller box.  An empty set has a
    hull of size 0 in every dimension.
    Ensures that the box contains the set.
    """
    known = elements if context is None else elements.intersect_params(context)
    known = project_names(known, _foreign(known, offset_params))
    offset = isl.MultiPwAff.zero(known.space)
    if known.is_empty():
        return BoxHull(offset=offset, size=(0,) * known.dim(SET))
    size: list[int] = []
    for position in range(known.dim(SET)):
        interval = _interval(_only(known, position), quasi_affine, rounded)
        if interval is None:
            return None
        offset = offset.set_pw_aff(position, interval[1])
        size.append(interval[0])
    return _checked(BoxHull(offset=offset, size=tuple(size)), known)


def count_hull(elements: isl.Set) -> int | None:
    """Return how many elements the smallest box hull of a set has; None if there is none."""
    hull = box_hull(elements, quasi_affine=True)
    return None if hull is None else prod(hull.size)


def offset_set(hull: BoxHull) -> isl.Set:
    """Return `[p] -> { T[o(p)] }`, the offset as a set of one element."""
    return hull.offset.as_set()


def size_set(hull: BoxHull) -> isl.Set:
    """Return `{ T[n] }`, the size as a set of one element."""
    universe = isl.Set.universe(hull.offset.space.drop_all_params())
    for position, size in enumerate(hull.size):
        universe = universe.fix_val(SET, position, size)
    return universe


def as_set(hull: BoxHull, context: isl.Set) -> isl.Set:
    """Return `{ T[x] : offset <= x < offset + size }` for the symbolic constants of the context."""
    extents = isl.Set.universe(hull.offset.space)
    for position, size in enumerate(hull.size):
        extents = extents.lower_bound_val(SET, position, 0)
        extents = extents.upper_bound_val(SET, position, size - 1)
    return offset_set(hull).sum(extents).intersect_params(context)


def local_map(hull: BoxHull, local_name: str) -> isl.Map:
    """Return `[p] -> { T[x] -> local_name[x - offset] }`, as in V (9)."""
    space = hull.offset.space.drop_all_params()
    identity = isl.MultiPwAff.identity_on_domain_space(space)
    shifted = identity.sub(hull.offset.insert_domain(space))
    return shifted.as_map().set_tuple_name(isl.dim_type.out, local_name)


def box(name: str, size: Sequence[int]) -> isl.Set:
    """Return `{ name[x] : 0 <= x < size }`."""
    dimensions = ", ".join(f"0:{extent - 1}" for extent in size)
    return isl.Set(f"{{ {name}[{dimensions}] }}")


def _only(elements: isl.Set, position: int) -> isl.Set:
    """Return `{ [x_i] : x in elements }` for the dimension i at the position."""
    after = elements.project_out(SET, position + 1, elements.dim(SET) - position - 1)
    return after.project_out(SET, 0, position).reset_tuple_id()


def _interval(
    extent: isl.Set, quasi_affine: bool, rounded: bool
) -> tuple[int, isl.PwAff] | None:
    """Return size and offset of the smallest interval around a set of one dimension.

    Among intervals of one size a constant offset comes first, then an affine one.
    """
    bounds = [*_constant_bounds(extent), *_ranked(_affine_bounds(extent))]
    if rounded:
        bounds += _ranked(_affine_bounds(extent, rounded=True))
    found = list(_sized(extent, bounds))
    if quasi_affine:
        with contextlib.suppress(TooManyOperations), limit_operations(MOST_FOR_LEAST):
            found += list(_sized(extent, _least(extent)))
    return min(found, key=lambda interval: interval[0], default=None)


def _sized(extent: isl.Set, bounds: Iterable[isl.PwAff]) -> Iterator[tuple[int, isl.PwAff]]:
    """Yield size and offset of the intervals that begin at these bounds and contain the set."""
    for bound in bounds:
        size = _size_from(extent, bound)
        if size is not None:
            yield size, bound


def _constant_bounds(extent: isl.Set) -> Iterator[isl.PwAff]:
    least = find_least(extent, 0)
    if least.is_int():
        yield isl.PwAff.from_aff(isl.Aff.val_on_domain_space(extent.space.params(), least))


def _ranked(bounds: Iterable[isl.PwAff]) -> list[isl.PwAff]:
    """Return the bounds, each once, those of the fewest symbolic constants first."""
    different = {str(bound): bound for bound in bounds}
    return sorted(different.values(), key=lambda bound: (_names_in(bound), str(bound)))


def _affine_bounds(extent: isl.Set, rounded: bool = False) -> Iterator[isl.PwAff]:
    """Yield l for every constraint x >= l or x = l of the simple hull, l affine in constants.

    With `rounded` yield l rounded up, for constraints n x >= n l as well.
    """
    for elements in (extent, extent.remove_divs()):
        apart = detach(elements).detect_equalities()
        hull = apart.coalesce().remove_unknown_divs().simple_hull()
        for constraint in hull.get_constraints():
            if _is_plain_bound(constraint, rounded):
                bound = constraint.get_bound(SET, 0)
                function = isl.PwAff.from_aff(bound).project_domain_on_params()
                yield function.ceil() if rounded else function


def _is_plain_bound(constraint: isl.Constraint, rounded: bool) -> bool:
    """Is this a lower bound on the dimension itself, or a multiple, without existentials?"""
    factor = constraint.get_coefficient_val(SET, 0)
    lower = factor.is_pos() if rounded else factor.is_one()
    lower = lower or (constraint.is_equality() and factor.is_negone())
    return lower and not constraint.involves_dims(DIV, 0, constraint.dim(DIV))


def _names_in(bound: isl.PwAff) -> int:
    """Return how many symbolic constants the bound involves."""
    return sum(bound.involves_dims(PARAM, i, 1) for i in range(bound.dim(PARAM)))


def _size_from(extent: isl.Set, bound: isl.PwAff) -> int | None:
    """Return max(x - bound) + 1; None if there is no such number."""
    distances = extent.sum(isl.Set.from_pw_aff(bound.neg()))
    greatest = find_greatest(distances.project_out_all_params(), 0)
    return greatest.to_python() + 1 if greatest.is_int() else None


def _least(extent: isl.Set) -> Iterator[isl.PwAff]:
    """Yield the least element for each value of the constants; it is piecewise quasi-affine."""
    if extent.dim_is_bounded(SET, 0):
        yield simplify(extent.dim_min(0), extent.params())


def _checked(hull: BoxHull, elements: isl.Set) -> BoxHull:
    if not elements.is_subset(as_set(hull, elements.params())):
        raise AssertionError(f"{hull} does not contain {elements}")
    return hull


def _foreign(elements: isl.Set, offset_params: Sequence[str] | None) -> list[str]:
    """Return the symbolic constants that the offset must not involve."""
    if offset_params is None:
        return []
    return [name for name in elements.get_var_names_not_none(PARAM) if name not in offset_params]
