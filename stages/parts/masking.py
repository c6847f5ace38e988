"""Parts with conditions: where a mask would cut a result up, row by row, its terms are polyhedra.

Source   F Alg. 1 has hyperrectangles of elements that are computed alike; here those are, too, of
         which only instances under affine conditions count

An element without any instance gets the neutral element of its reduction. What is no reduction
becomes one: zeros are what nothing is added to, and -inf what is never exceeded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import Number
from lairmake.stages.parts.boxes import SIGNS
from lairmake.stages.parts.folding import fold
from lairmake.stages.parts.reached import Variant
from lairmake.stages.poly.box import NotRectangularError, bounding_box
from lairmake.stages.volumes.operation import Result

SET, DIV = isl.dim_type.set, isl.dim_type.div
MOST_ALONG = 8
"""Of a result that is cut into more intervals along a dimension, parts have conditions."""
MOST_PIECES = 4
"""A term with conditions is so many conjunctions at most."""


def is_cut_up(boxes: Sequence[isl.Set]) -> bool:
    """Return whether hyperrectangles are more intervals along a dimension than a few."""
    ends = zip(*(bounding_box(box) for box in boxes), strict=True)
    return any(len(set(each)) > MOST_ALONG for each in ends)


def as_masked(result: Result, found: Sequence[Variant], whole: str) -> Result | None:
    """Return a result as a reduction of what is under conditions; None if that is not possible.

    What is not under them is neutral: only constants that are may be left out. Operations on
    integers wrap to the type `whole`.
    """
    values = [fold(parse_expression(result.value), each.known, whole) for each in found]
    numbers = {value.value for value in values if isinstance(value, Number)}
    if result.operator in SIGNS:
        return result if numbers <= {NEUTRAL[result.operator]} else None
    lowest, greatest = {-math.inf}, {math.inf}
    operator = {True: "+="}.get(numbers <= {0}) or (
        "max=" if numbers == lowest else "min=" if numbers == greatest else None
    )
    return None if operator is None or result.init else replace(result, operator=operator)


def list_pieces(instances: isl.Set) -> list[isl.Set]:
    """Return disjoint conjunctions that make up a set. Raises NotRectangularError for many."""
    plain = instances.coalesce().compute_divs()
    pieces = plain if plain.n_basic_set() == 1 else plain.make_disjoint().coalesce()
    if pieces.n_basic_set() > MOST_PIECES:
        raise NotRectangularError
    return [isl.Set.from_basic_set(each) for each in pieces.get_basic_sets()]


def spell_conditions(elements: isl.Set, names: Mapping[int, str]) -> list[str]:
    """Return the constraints of { [l] }, one conjunction, as LAIR has them.

    `names` are those of the dimensions that may be other than 0.
    """
    (basic,) = elements.get_basic_sets()
    return [_spell(each, names) for each in basic.get_constraints()]


def _spell(constraint: isl.Constraint, names: Mapping[int, str]) -> str:
    aff = constraint.get_aff()
    sides = [_sum(aff, names, sign) for sign in (1, -1)]
    return f"{sides[0]} {'=' if constraint.is_equality() else '>='} {sides[1]}"


def _sum(aff: isl.Aff, names: Mapping[int, str], sign: int) -> str:
    """Return the terms of one sign of an affine function, all of them positive; 0 for none."""
    found = []
    for factor, name in _affine_terms(aff, names):
        if factor * sign > 0:
            found.append(name if abs(factor) == 1 else f"{abs(factor)}*{name}")
    constant = _whole(aff.get_constant_val().mul(aff.get_denominator_val())) * sign
    if constant > 0 or not found:
        found.append(str(max(0, constant)))
    return " + ".join(found)


def _affine_terms(aff: isl.Aff, names: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Yield factors, times the denominator, and what they multiply: iterators and quotients."""
    below = aff.get_denominator_val()
    for k, name in names.items():
        yield _whole(aff.get_coefficient_val(isl.dim_type.in_, k).mul(below)), name
    for k in range(aff.dim(DIV)):
        factor = _whole(aff.get_coefficient_val(DIV, k).mul(below))
        if factor:
            yield factor, _quotient(aff.get_div(k), names)


def _quotient(aff: isl.Aff, names: Mapping[int, str]) -> str:
    """Return floor(e / m) as LAIR has it."""
    above, taken = _sum(aff, names, 1), _sum(aff, names, -1)
    numerator = above if taken == "0" else f"{above} - ({taken})"
    return f"(({numerator}) // {_whole(aff.get_denominator_val())})"


def _whole(value: isl.Val) -> int:
    return int(value.to_python())
