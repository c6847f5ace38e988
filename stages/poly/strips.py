"""Strips of a set: intervals of one length that recur with a period, as blocks dealt to PEs do.

Paper    V Sec. 4.3 and 5.2, go without this

Along a dimension a set lies in strips of period m if there are o(p) and b < m with

    x = o(p) + m a + c,  0 <= c < b              for all its elements x

Then (a, c) are denser than x: in them, holes of m - b between the strips are gone.  Periods come
from the denominators of the set's divisions.  Given m and any phase g(p), the residues of x - g(p)
are, for all p together, a set of numbers R in [0, m); the longest gap of R, taken around a circle,
says where a strip begins: o(p) = g(p) + start, b = m - gap + 1.  Phases are 0, what is divided by
m, and the least residue.  What is kept is what makes the box hull smallest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, lcm

import islpy as isl

from lairmake.stages.poly.bind import PARAM
from lairmake.stages.poly.box_hull import count_hull
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.extremes import find_greatest, find_least
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.simple import simplify

SET, DIV = isl.dim_type.set, isl.dim_type.div
MOST_PERIODS = 8
"""So many periods are tried, the shortest first."""
MOST_FOR_STRIPS = 1_500_000
"""How much isl may work for the strips of one dimension, in its own unit: a second."""


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
