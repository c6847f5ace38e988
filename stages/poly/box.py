"""Boxes around sets: fixed-size hulls, exact bounds, and enumerated sizes, V (35)-(43)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.poly.canonical import detach, list_maps, unite
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    find_greatest,
    find_index_constants,
    find_least,
    project_names,
    simplify,
)
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

PARAM, OUT, SET, DIV = isl.dim_type.param, isl.dim_type.set, isl.dim_type.set, isl.dim_type.div

# --- Fixed-size box hull of a set -----------------------------------------------------------------
#
# Paper    V Sec. 2, 4.3 (8) and 5.3 (Ex. 5.8, 5.9)
#
# For every dimension x_i, each constraint x_i >= l(p) of the set's description that involves no
# other dimension and no existential offers the interval of size max(x_i - l(p)) + 1 at offset
# l(p); the smallest size is kept.  The least element of all is offered as a constant offset too.
# Hence the hull depends on the description of the set, and there may be none.

MOST_FOR_LEAST = 500_000
"""Operations that isl may spend on a piecewise offset: half a second."""


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
        # `extent` is read again, for the sizes from these bounds, and detect_equalities of a set
        # that shares with it has been seen to drop constraints of it (islpy 2026.2.2; see detach).
        # To be looked at again with another version, before this is left out.
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

# --- Exact bounds of a set ------------------------------------------------------------------------
#
# Paper    V Sec. 5.1, (13), (14), (16), (20), (21), (24)

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

# --- Extents of a set -----------------------------------------------------------------------------

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
    """Return the extents of a set, as `find_extents` does. Raises ValueError if it is unbounded."""
    found = find_extents(elements)
    if found is None:
        raise ValueError(f"{elements} is unbounded")
    return found


def find_shape(box: isl.Set) -> tuple[int, ...]:
    """Return the sizes of { T[i] : 0 <= i < size }, for any values of symbolic constants."""
    positions = range(box.dim(isl.dim_type.set))
    return tuple(find_greatest(box, k).to_python() + 1 for k in positions)

# --- Sizes of a rectangular instance set ----------------------------------------------------------
#
# There is one SIMD configuration per size.
#
# Paper    V Sec. 5.4, (42), (43), Ex. 5.10

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

# --- Extra instances of an approximation ----------------------------------------------------------
#
# Paper    V Sec. 5.3, (35)-(41), Ex. 5.9

@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """A local tensor's `size` per dimension, and the index `shift` of its first element.

    Local index l of the allocation before the extension is l - shift in the extended one.
    """

    size: tuple[int, ...]
    shift: tuple[int, ...]


def extra_instances(approximated: isl.Set, proper: isl.Set) -> isl.Set:
    """Return `approximated - proper`: what the approximation runs in vain, V (36)."""
    return approximated.subtract(proper).coalesce()


def accessed_by(access: isl.Map, instances: isl.Set, free: Sequence[str]) -> isl.Set:
    """Return the elements that the instances access for any value of `free`, V (38)-(41).

    `access` is `{ [i0, ...] -> y_local[...] }`; `free` are the index symbolic constants, which
    are projected out (none: what a single invocation accesses). Its equalities are found first:
    where some are only implied, `coalesce` of isl may wrap a constraint around one that is parallel
    to it, and follows a null pointer (isl_set_wrap_facet).
    """
    accessed = project_names(instances.apply(access), free)
    return accessed.detect_equalities().coalesce()


def find_conflict(access: isl.Map, instances: isl.Set, used: isl.Set) -> isl.Set:
    """Return the elements that the instances write while others use them, V (40).

    Index symbolic constants may have any value, except those on which `used` depends.
    """
    free = set(find_index_constants(instances)) - set(find_index_constants(used))
    return accessed_by(access, instances, sorted(free)).intersect(used)


def extend_allocation(size: Sequence[int], accessed_by_extra: isl.Set) -> Extension | None:
    """Return the local tensor that has room for the extra instances as well, V Ex. 5.9.

    In every dimension the interval from 0 to size - 1 is extended to the least and the greatest
    index that an extra instance accesses on any PE.  None if there is no greatest or least.

    Raises ValueError if the dimensions of tensor and accessed elements differ.
    """
    if accessed_by_extra.dim(SET) != len(size):
        raise ValueError(f"{accessed_by_extra} has not {len(size)} dimensions")
    if accessed_by_extra.is_empty():
        return Extension(size=tuple(size), shift=(0,) * len(size))
    found = find_extents(accessed_by_extra)
    if found is None:
        return None
    least = tuple(min(0, low) for low, _ in found)
    sizes = (max(n - 1, high) for n, (_, high) in zip(size, found, strict=True))
    grown = tuple(last - first + 1 for last, first in zip(sizes, least, strict=True))
    return Extension(size=grown, shift=least)

# --- Disjoint hyperrectangles ---------------------------------------------------------------------
#
# Source   F Alg. 1: disjoint hyperrectangles of a set of elements

MOST = 64
"""The most changes, along one dimension, of what a relation gives."""


class NotRectangularError(Exception):
    """What a relation gives changes in too many places."""


def split_into_rectangles(domain: isl.Set) -> list[isl.Set]:
    """Return disjoint hyperrectangles whose union is a set; sizes may be symbolic.

    The set is cut along its first dimension where the rest changes, and each part is cut further.
    Parts are maximal, so that a hyperrectangle stays whole. Raises NotRectangularError for sets
    that need more than MOST cuts.
    """
    name = domain.get_tuple_name()
    found = [box for box, fibre in list_slabs(domain, domain.dim(OUT)) if not fibre.is_empty()]
    return [box if name is None else box.set_tuple_name(name) for box in found]


def list_slabs(relation: isl.Set, count: int) -> Iterator[tuple[isl.Set, isl.Set]]:
    """Yield hyperrectangles of the first `count` dimensions, each with the set F of the others.

    Within { [x, y] : x in box } the relation is box x F. The first dimension is cut where
    { rest : [x, rest] } is not that of x - 1, and each interval is cut further. Empty F are left
    out. Raises NotRectangularError where there are more than MOST cuts.
    """
    plain = _plain(relation)
    if count == 0:
        if not plain.is_empty():
            yield isl.Set("{ [] }"), plain
        return
    for interval, fibre in _intervals(plain):
        for box, rest in list_slabs(fibre, count - 1):
            yield interval.flat_product(box).coalesce(), rest


def _plain(domain: isl.Set) -> isl.Set:
    return domain.reset_tuple_id() if domain.has_tuple_id() else domain


def _intervals(relation: isl.Set) -> Iterator[tuple[isl.Set, isl.Set]]:
    """Yield { [x] : c <= x < c' } for the places c where the rest changes, and the rest there."""
    first = _first(relation)
    cuts = list(_points(_changes(relation)))
    for at, cut in enumerate(cuts):
        inside = first.intersect(_from(cut))
        if at + 1 < len(cuts):
            inside = inside.subtract(_from(cuts[at + 1]))
        fibre = relation.intersect(_beside(cut, relation)).project_out(OUT, 0, 1)
        if not inside.is_empty():
            yield inside.coalesce(), fibre.coalesce()


def _first(relation: isl.Set) -> isl.Set:
    return relation.project_out(OUT, 1, relation.dim(OUT) - 1).coalesce()


def _changes(relation: isl.Set) -> isl.Set:
    """Return { [x] : what there is at x is not what there is at x - 1 }."""
    width = relation.dim(OUT)
    names = [f"i{k}" for k in range(width)]
    moved = [f"{names[0]} + 1", *names[1:]]
    step = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(moved)}] }}")
    after = relation.apply(step)
    return _first(relation.subtract(after).union(after.subtract(relation)))


def _points(places: isl.Set) -> Iterator[isl.Set]:
    """Yield the points of a set of one dimension, the least first.

    Raises NotRectangularError for more than MOST, and where their order depends on symbolic
    constants.
    """
    for _ in range(MOST + 1):
        if places.is_empty():
            return
        least = places.lexmin()
        if least.coalesce().n_basic_set() > 1:
            break
        yield least
        places = places.subtract(least).coalesce()
    raise NotRectangularError


def _from(cut: isl.Set) -> isl.Set:
    """Return { [x] : x >= c } for a point c."""
    return cut.apply(isl.Map("{ [c] -> [x] : x >= c }"))


def _beside(cut: isl.Set, relation: isl.Set) -> isl.Set:
    """Return { [c, rest] } for a point c."""
    rest = isl.Set.universe(relation.space).project_out(OUT, 0, 1)
    return cut.flat_product(rest)

# --- Sets that meet somewhere ---------------------------------------------------------------------

MOST_PIECES = 64
"""The most pieces of space; where more are needed, sets may count as meeting that do not."""


def together(sets: Sequence[isl.Set | None]) -> list[frozenset[int]]:
    """Return which of the sets [p] -> { : ... } meet at a point [p], for all points, by number.

    None stands for all points. A group that is a part of another is left out.
    """
    known = {k: elements for k, elements in enumerate(sets) if elements is not None}
    pieces = [isl.Set("{ : }")]
    for elements in known.values():
        if 2 * len(pieces) <= MOST_PIECES:
            cut = [half for p in pieces for half in (p.intersect(elements), p.subtract(elements))]
            pieces = [piece.coalesce() for piece in cut if not piece.is_empty()]
    found = {
        frozenset(k for k in range(len(sets)) if k not in known or not p.is_disjoint(known[k]))
        for p in pieces
    }
    return sorted((f for f in found if not any(f < other for other in found)), key=sorted)

# --- Local memory per PE --------------------------------------------------------------------------
#
# Allocations are seen from one PE, or moved.
#
# Paper    V Sec. 4.3, (8) (9)

Shape = tuple[int, ...]


def at_this_pe(to_local: isl.UnionMap) -> dict[str, isl.Map]:
    """Return, by tensor, [PE_X, PE_Y] -> { T[e] -> T_local[l] }: an allocation seen from one PE.

    It has the symbolic constants of chunks where it depends on them.
    """
    own = (m.drop_unused_params() for m in list_maps(to_local))
    bound = [bind_domain(m.curry(), PE_NAMES).unwrap() for m in own]
    return {m.get_tuple_name(isl.dim_type.in_): m for m in bound}


def shift(to_local: isl.UnionMap, shifts: Mapping[str, Sequence[int]]) -> isl.UnionMap:
    """Return { [PE -> T[e]] -> T_local[l - shift] }, the shift of each local tensor by its name."""
    named = [(m, m.get_tuple_name(isl.dim_type.out)) for m in list_maps(to_local)]
    return unite(m.apply_range(shift_map(name, shifts[name])) for m, name in named)


def shift_map(name: str, shift: Sequence[int]) -> isl.Map:
    """Return { name[l] -> name[l - shift] }."""
    names = [f"l{k}" for k in range(len(shift))]
    moved = [f"{n} - ({s})" for n, s in zip(names, shift, strict=True)]
    return isl.Map(f"{{ {name}[{', '.join(names)}] -> {name}[{', '.join(moved)}] }}")
