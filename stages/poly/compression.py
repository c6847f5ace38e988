"""Variable compression, V Sec. 5.2, and coordinates in which a set has few holes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, lcm

import islpy as isl

from lairmake.stages.poly.box import box_hull, count_hull, local_map
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.functions import find_greatest, find_least, simplify
from lairmake.stages.poly.integers import (
    Matrix,
    find_independent_columns,
    find_pivot_rows,
    hermite,
    hull_equalities,
)
from lairmake.stages.poly.lattices import along_lattice
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

PARAM, IN, SET, DIV = isl.dim_type.param, isl.dim_type.in_, isl.dim_type.set, isl.dim_type.div

# --- Variable compression -------------------------------------------------------------------------
#
# Paper    V Sec. 2 and 5.2, (18), (22), (28), (33)
# Source   Meister, Stating and Manipulating Periodicity in the Polytope Model, 2004
#
# The equality constraints shared by all disjuncts, existentials taken as set variables, read
#
#     A (x, e) = b(p)            A U = H, H lower triangular, U unimodular (left Hermite form)
#
# so (x, e) = U (y1, y2), where H y1 = b(p) fixes y1 and y2 is free.  The rows of U that belong to x
# give the compression { [y2] -> S[x] }, affine in y2; it is quasi-affine in the symbolic constants
# where a pivot of H is not 1 or -1: y1 then is a floor, exact wherever the set is not empty.

@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A compression `{ [i0, ...] -> S[...] }`, and the compressed set.

    `map` restricted to `set` is a bijection to the original set, for all symbolic constants.
    The tuple of `set` has no name.
    """

    map: isl.Map
    set: isl.Set


def compress(elements: isl.Set) -> Compressed:
    """Return the variable compression of a set, and the compressed set.

    Ensures that the compression, restricted to the compressed set, is injective and reaches
    exactly `elements`.  An empty set is compressed to an empty one.
    """
    function = _function(elements)
    compressed = elements.preimage_multi_aff(function).detect_equalities().coalesce()
    relation = isl.Map.from_multi_aff(function)
    return Compressed(map=relation, set=compressed)


def drop_hidden_equalities(compressed: Compressed) -> Compressed:
    """Return a compression without the equalities that hold, but are not written in all disjuncts.

    A dimension then is a piecewise function of the symbolic constants, as i_1 in V Ex. 5.7.
    """
    change = along_lattice(compressed.set)
    if change is None or change.dim(isl.dim_type.in_) == compressed.set.dim(SET):
        return compressed
    relation = change.apply_range(compressed.map)
    return Compressed(map=relation, set=compressed.set.apply(change.reverse()).coalesce())


def keeps_order(compression: isl.Map, elements: isl.Set) -> bool:
    """Say whether `i << j` implies `compression(i) << compression(j)` for all i, j of the set."""
    here = compression.intersect_domain(elements)
    before = isl.Map.lex_lt(elements.space).intersect_domain(elements).intersect_range(elements)
    images = here.reverse().apply_range(before).apply_range(here)
    return images.is_subset(isl.Map.lex_lt(here.range().space))


def _function(elements: isl.Set) -> isl.MultiAff:
    """Return `{ [y2] -> S[x] }` with (x, e) = U (y1, y2)."""
    dimensions = elements.dim(SET)
    equalities, width = hull_equalities(elements)
    echelon, unimodular = hermite([row[:width] for row in equalities], width)
    rank = len(find_pivot_rows(echelon))
    free = find_independent_columns([row[rank:] for row in unimodular[:dimensions]], width - rank)
    domain = elements.space.params().add_unnamed_tuple_ui(len(free[0]) if free else 0)
    right = [_parametric(domain, [-entry for entry in row[width:]]) for row in equalities]
    fixed = _substitute(echelon, right)
    rows = [
        _row(domain, zip(row[:rank], fixed, strict=True), columns)
        for row, columns in zip(unimodular, free, strict=False)
    ]
    space = domain.map_from_domain_and_range(elements.space)
    return isl.MultiAff.from_aff_list(space, _listed(rows))


def _parametric(domain: isl.Space, entries: list[int]) -> isl.Aff:
    """Return the sum of the symbolic constants times the entries, the last one by itself."""
    result = isl.Aff.zero_on_domain_space(domain).set_constant_val(entries[-1])
    for position, entry in enumerate(entries[:-1]):
        result = result.set_coefficient_val(PARAM, position, entry)
    return result


def _substitute(echelon: Matrix, right: list[isl.Aff]) -> list[isl.Aff]:
    """Return y1 with H y1 = right, rounded down; rows without pivot do not bind any variable."""
    found: list[isl.Aff] = []
    for row in find_pivot_rows(echelon):
        rest = right[row]
        for entry, value in zip(echelon[row], found, strict=False):
            rest = rest.sub(value.scale_val(entry))
        pivot = echelon[row][len(found)]
        found.append(rest if pivot == 1 else rest.scale_down_val(pivot).floor())
    return found


def _row(
    domain: isl.Space, fixed: Iterable[tuple[int, isl.Aff]], columns: list[int]
) -> isl.Aff:
    """Return one dimension of the original set: its part in y1 and its part in y2."""
    result = isl.Aff.zero_on_domain_space(domain)
    for entry, value in fixed:
        result = result.add(value.scale_val(entry))
    for position, entry in enumerate(columns):
        result = result.add_coefficient_val(isl.dim_type.in_, position, entry)
    return result


def _listed(rows: list[isl.Aff]) -> isl.AffList:
    result = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(rows))
    for row in rows:
        result = result.add(row)
    return result

# --- Strips of a set ------------------------------------------------------------------------------
#
# Paper    V Sec. 4.3 and 5.2, go without this
#
# Strips are intervals of one length that recur with a period, as blocks dealt to PEs do. Along a
# dimension a set lies in strips of period m if there are o(p) and b < m with
#
#     x = o(p) + m a + c,  0 <= c < b              for all its elements x
#
# Then (a, c) are denser than x: in them, holes of m - b between the strips are gone.  Periods come
# from the denominators of the set's divisions.  Given m and any phase g(p), the residues of x -
# g(p) are, for all p together, a set of numbers R in [0, m); the longest gap of R, taken around a
# circle, says where a strip begins: o(p) = g(p) + start, b = m - gap + 1.  Phases are 0, what is
# divided by m, and the least residue.  What is kept is what makes the box hull smallest.

MOST_PERIODS = 8
"""The most periods that are tried, the shortest first."""
MOST_FOR_STRIPS = 1_500_000
"""Operations that isl may spend on the strips of one dimension: a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strips:
    """x = offset(p) + period a + c with 0 <= c < width; where the width is 1 there is no c."""

    period: int
    width: int
    offset: isl.PwAff


def along_strips(elements: isl.Set) -> isl.Map | None:
    """Return [p] -> { [a, c, ...] -> T[x] } on which the box hull of a set is smaller.

    The tuple of strips has no name. None if there are no strips, or they make no hull smaller.
    Ensures that the map is injective for each p, and that every element is in its range.
    """
    if elements.dim(SET) == 0 or elements.is_empty():
        return None
    parts = [_along(_only(elements, k)) for k in range(elements.dim(SET))]
    if all(part is None for part in parts):
        return None
    whole = isl.Map("{ [] -> [] }")
    for part in parts:
        one = isl.Map("{ [x] -> [x] }") if part is None else part
        whole = whole.flat_product(one)
    name = elements.get_tuple_name()
    change = whole if name is None else whole.set_tuple_name(isl.dim_type.out, name)
    return _checked(change, elements)


def _along(extent: isl.Set) -> isl.Map | None:
    """Return [p] -> { [a, c, ...] -> [x] } for a set of one dimension; None if it has no strips."""
    strips = None
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_FOR_STRIPS):
        strips = _find(extent)
    if strips is None:
        return None
    strips = _from_zero(strips, extent)
    change = _change(strips, extent.params())
    inner = extent.apply(change.reverse()).coalesce()
    further = along_strips(inner)
    return change if further is None else further.apply_range(change)


def _find(extent: isl.Set) -> Strips | None:
    """Return the strips of the smallest box hull; None if none is smaller than that of the set.

    Of several those of the least width, and then of the shortest period.
    """
    periods = _periods(extent)
    best, least = None, (count_hull(extent) or inf, 0)
    fewest = _fewest(extent) if periods else 0
    for period in periods if fewest < least[0] else ():
        for phase in _phases(extent, period):
            strips = _strips(extent, period, phase)
            if strips is None or (fewest, strips.width) >= least:
                continue
            number = count_hull(extent.apply(_change(strips, extent.params()).reverse()))
            if number is not None and (number, strips.width) < least:
                best, least = strips, (number, strips.width)
    return best


def _fewest(extent: isl.Set) -> int:
    """Return a number below which no box hull of the set, or of strips, has elements.

    That is how many the set has for one value of the symbolic constants; 0 if none is found.
    """
    here = isl.Set.from_point(extent.params().sample_point())
    with contextlib.suppress(ValueError):
        return cardinality(extent.intersect_params(here))
    return 0


def _periods(extent: isl.Set) -> list[int]:
    """Return what a set of one dimension may recur with: denominators, and their multiples."""
    found = {int(div.get_denominator_val().to_python()) for div in _divisions(extent)} - {1}
    several = {
        lcm(*some) for count in (1, 2, 3) for some in combinations(sorted(found), count)
    } | {a * b for a, b in combinations(sorted(found), 2)}
    return sorted(several)[:MOST_PERIODS]


def _divisions(extent: isl.Set) -> Iterator[isl.Aff]:
    for basic in extent.compute_divs().get_basic_sets():
        local = basic.get_local_space()
        for position in range(basic.dim(DIV)):
            yield local.get_div(position)


def _phases(extent: isl.Set, period: int) -> Iterator[isl.PwAff]:
    """Yield functions of the symbolic constants that strips may begin at, the simplest first.

    These are 0, every f of floor((x - f) / m) and of a constraint on x - f, and the least residue.
    """
    zero = isl.Aff.zero_on_domain_space(extent.space.params())
    yield isl.PwAff.from_aff(zero)
    found = {str(phase): phase for phase in _differences(extent, period, zero)}
    yield from (isl.PwAff.from_aff(found[text]) for text in sorted(found) if text != str(zero))
    residues = extent.apply(isl.Map(f"{{ [x] -> [x mod {period}] }}"))
    yield simplify(residues.dim_min(0), extent.params())


def _differences(extent: isl.Set, period: int, zero: isl.Aff) -> Iterator[isl.Aff]:
    """Yield f of all functions x - f + n d, d of divisions, their constants modulo the period.

    And n f of functions floor(x / n) - f + n' d.
    """
    divided = (d.scale_val(d.get_denominator_val()) for d in _divisions(extent))
    conjunctions = extent.compute_divs().get_basic_sets()
    bounds = (c.get_aff() for each in conjunctions for c in each.get_constraints())
    for function in (*divided, *bounds):
        factor, unit = _factor(function)
        if factor.abs().is_one():
            found = zero.set_constant_val(function.get_constant_val())
            for position in range(function.dim(PARAM)):
                value = function.get_coefficient_val(PARAM, position)
                found = found.set_coefficient_val(PARAM, position, value)
            found = (found.neg() if factor.is_one() else found).scale_val(unit)
            yield found.set_constant_val(found.get_constant_val().mod(isl.Val(period)))


def _factor(function: isl.Aff) -> tuple[isl.Val, isl.Val]:
    """Return the factor of x in a function, and 1; or that of a floor(x / n) in it, and n."""
    factor = function.get_coefficient_val(isl.dim_type.in_, 0)
    if not factor.is_zero():
        return factor, isl.Val(1)
    for number in range(function.dim(DIV)):
        inner, outer = function.get_div(number), function.get_coefficient_val(DIV, number)
        unit = inner.get_denominator_val()
        own = inner.get_coefficient_val(isl.dim_type.in_, 0).mul(unit)
        if own.is_one() and outer.abs().is_one():
            return outer, unit
    return factor, isl.Val(1)


def _strips(extent: isl.Set, period: int, phase: isl.PwAff) -> Strips | None:
    """Return the narrowest strips of a period from a phase; None if they are as wide as it is."""
    from_phase = extent.sum(isl.Set.from_pw_aff(phase.neg())).project_out_all_params()
    near = from_phase.apply(isl.Map(f"{{ [x] -> [x mod {period}] }}")).coalesce()
    around = near.union(near.apply(isl.Map(f"{{ [x] -> [x + {period}] }}")))
    later = isl.Map("{ [x] -> [y] : y > x }").intersect_domain(near).intersect_range(around)
    follows = later.lexmin()
    gap = int(find_greatest(follows.deltas(), 0).to_python())
    if gap <= 1:
        return None
    longest = follows.intersect(isl.Map(f"{{ [x] -> [x + {gap}] }}"))
    start = int(find_least(longest.range(), 0).to_python())
    offset = phase.add_constant_val(isl.Val(start)).coalesce()
    return Strips(period=period, width=period - gap + 1, offset=offset)


def _from_zero(strips: Strips, extent: isl.Set) -> Strips:
    """Return the same strips, numbered so that the first one of all p is 0, if there is a first."""
    numbered = extent.apply(_change(strips, extent.params()).reverse())
    first = find_least(numbered.project_out_all_params(), 0)
    if not first.is_int():
        return strips
    shifted = strips.offset.add_constant_val(first.mul(isl.Val(strips.period))).coalesce()
    return replace(strips, offset=shifted)


def _change(strips: Strips, domain: isl.Set) -> isl.Map:
    """Return [p] -> { [a, c] -> [offset + period a + c] : 0 <= c < width }."""
    if strips.width == 1:
        steps = isl.Map(f"{{ [a] -> [{strips.period}a] }}")
    else:
        m, b = strips.period, strips.width
        steps = isl.Map(f"{{ [a, c] -> [{m}a + c] : 0 <= c < {b} }}")
    origin = isl.Map.from_domain_and_range(
        steps.domain(), isl.Set.from_pw_aff(strips.offset.intersect_domain(domain))
    )
    return steps.align_params(origin.space).sum(origin)


def _only(elements: isl.Set, position: int) -> isl.Set:
    """Return `{ [x_i] : x in elements }` for the dimension i at the position."""
    after = elements.project_out(SET, position + 1, elements.dim(SET) - position - 1)
    return after.project_out(SET, 0, position).reset_tuple_id()


def _checked(change: isl.Map, elements: isl.Set) -> isl.Map:
    if not (elements.is_subset(change.range()) and change.is_injective()):
        raise AssertionError(f"{change} does not reach each of {elements} once")
    return change

# --- Coordinates in which a set has few holes -----------------------------------------------------
#
# Paper    V Sec. 4.3 and 5.2, go without this
#
# The box hull of a set holds what lies between its elements as well: of { [i] : i mod 8 = p },
# seven elements of eight.  Coordinates along the lattice of the set, along its strips, or along
# both, have fewer holes.  Each change of coordinates is a function { [k] -> T[x] } that reaches all
# elements of the set once; the box hull of the k is smaller.

MOST_FOR_COMPACTING = 300_000
"""Operations that isl may spend on a lattice: half a second."""


def compact(elements: isl.Set) -> isl.Map | None:
    """Return [p] -> { [k] -> T[x] } on which the box hull of a set is smallest.

    None if it is not smaller than that of the set, or isl needs long to tell. Ensures that the map
    is injective for each p, and that every element of the set is in its range.
    """
    best, strips = None, along_strips(elements)
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_FOR_COMPACTING):
        best = _smallest(elements, _changes(elements, strips))
    return strips if best is None else best


def fit(elements: isl.Set, name: str) -> tuple[tuple[int, ...], isl.Map]:
    """Return the size of a box, and [p] -> { T[x] -> name[k(x) - offset] } that puts a set in it.

    Size and offset are those of the fixed-size box hull, V (8) (9), in the coordinates k(x): those
    of `compact`, or k(x) = x where there are none. The set must be bounded.
    """
    change = compact(elements)
    inner = elements if change is None else elements.apply(change.reverse())
    hull = box_hull(inner, quasi_affine=True)
    assert hull is not None, "a bounded set has a hull"
    local = local_map(hull, name)
    return hull.size, local if change is None else change.reverse().apply_range(local)


def drop_holes(compressed: Compressed) -> Compressed:
    """Return a compression to the coordinates of strips, where the box hull is smaller in them."""
    change = along_strips(compressed.set)
    if change is None:
        return compressed
    relation = change.apply_range(compressed.map)
    return Compressed(map=relation, set=compressed.set.apply(change.reverse()).coalesce())


def _smallest(elements: isl.Set, changes: Sequence[isl.Map]) -> isl.Map | None:
    """Return the change on which the box hull is smallest; None if that of the set is as small."""
    best, fewest = None, count_hull(elements) if changes else None
    for change in changes:
        number = count_hull(elements.apply(change.reverse()))
        if number is not None and (fewest is None or number < fewest):
            best, fewest = change, number
    return best


def _changes(elements: isl.Set, strips: isl.Map | None) -> list[isl.Map]:
    """Return the strips, the lattice, and the strips along the lattice, if there are any."""
    found, lattice = [] if strips is None else [strips], along_lattice(elements)
    if lattice is not None:
        within = along_strips(elements.apply(lattice.reverse()))
        found += [lattice] if within is None else [lattice, within.apply_range(lattice)]
    return found

# --- Dimensions taken apart into rows -------------------------------------------------------------
#
# Paper    V Sec. 5, condition 4, goes without this
#
# Element number m a + c of a dimension becomes [a, c]. An access through i//m and i mod m is not
# linear in i, but in the number a of a row of m elements and the place c in it.

def find_periods(access: isl.Map) -> list[list[int]]:
    """Return, for each dimension i of { [i] -> T[e] }, the m of each division that holds it."""
    found: list[set[int]] = [set() for _ in range(access.dim(IN))]
    for basic in access.wrap().flatten().compute_divs().get_basic_sets():
        local = basic.get_local_space()
        for number in range(basic.dim(DIV)):
            division = local.get_div(number)
            for position, periods in enumerate(found):
                if division.involves_dims(IN, position, 1):
                    periods.add(int(division.get_denominator_val().to_python()))
    return [sorted(periods) for periods in found]


def split(least: Sequence[isl.PwAff], periods: Sequence[int | None]) -> isl.Map:
    """Return [p] -> { [a, c, ...] -> [i] : i = least(p) + m a + c and 0 <= c < m }.

    Dimensions without a period m stay as they are. The map is injective for each p.
    """
    rows, starts = [], []
    for first, period in zip(least, periods, strict=True):
        rows.append(
            "{ [i] -> [i] }" if period is None
            else f"{{ [a, c] -> [{period}a + c] : 0 <= c < {period} }}"
        )
        starts.append(first.scale_val(isl.Val(0)) if period is None else first)
    change, origin = isl.Map("{ [] -> [] }"), isl.Set("{ [] }")
    for row, start in zip(rows, starts, strict=True):
        change = change.flat_product(isl.Map(row))
        origin = origin.flat_product(isl.Set.from_pw_aff(start))
    shift = isl.Map.from_domain_and_range(change.domain(), origin)
    return change.align_params(shift.space).sum(shift)
