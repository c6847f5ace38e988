"""A vector instruction in loops: some dimensions are loops, the others a box of fixed size.

Paper    V Sec. 5, goes without this
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from lairmake.stages.layer.vector.boxed import boxed
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.lattice import dense
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.functions import PARAM, greatest_value

SET = isl.dim_type.set
WHY_NESTED = "within loops, the instances are a box"


def candidate(situation: Situation) -> Candidate:
    """Return the largest box in the fewest loops. Raises NotPossibleError."""
    plain = dense(situation)
    elements = situation.elements.apply(plain.reverse())
    width = elements.dim(SET)
    reason = NotPossibleError("there is a single dimension")
    for loops in range(max(1, width - situation.profile.dimensions), width):
        found: list[Candidate] = []
        for outer in itertools.combinations(range(width), loops):
            try:
                found.append(find_within(situation, plain, elements, outer, ("nested", WHY_NESTED)))
            except NotPossibleError as error:
                reason = NotPossibleError(f"within loops, {error}")
        if found:
            return max(found, key=_points)
    raise reason


def find_within(
    situation: Situation,
    plain: isl.Map,
    elements: isl.Set,
    outer: tuple[int, ...],
    called: tuple[str, str],
) -> Candidate:
    """Return the box of the other dimensions within loops over these; `called`: its way, and why.

    `plain` is { [k] -> [i] }, `elements` the instances { [k] }. Raises NotPossibleError.
    """
    change = split_off(plain.get_space().domain(), outer).apply_range(plain)
    return replace(boxed(situation, *called, change), outer=find_loops(elements, outer))


def find_loops(elements: isl.Set, outer: Sequence[int]) -> isl.Set:
    """Return { [outer0, ...] }, the values of the outer dimensions of { [k] }."""
    around = elements
    for position in reversed(range(elements.dim(SET))):
        if position not in outer:
            around = around.project_out(SET, position, 1)
    for position in range(len(outer)):
        around = around.set_dim_name(SET, position, f"outer{position}")
    return around.coalesce()


def split_off(space: isl.Space, outer: Sequence[int]) -> isl.Map:
    """Return [outer0, ...] -> { [k] -> [i] }, the outer dimensions as symbolic constants."""
    split = isl.Map.identity(space.map_from_set())
    for number, position in enumerate(outer):
        split = split.move_dims(PARAM, split.dim(PARAM), isl.dim_type.in_, position - number, 1)
        split = split.set_dim_name(PARAM, split.dim(PARAM) - 1, f"outer{number}")
    return split


def _points(candidate: Candidate) -> int:
    """Return how many elements a box has at most."""
    domain = candidate.box.params()
    sizes = (size.intersect_params(domain).floor() for size in candidate.sizes)
    return prod(greatest_value(size).to_python() for size in sizes)
