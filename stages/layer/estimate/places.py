"""How much there is to do on some PEs of a layer: those at corners and in the middle of tasks.

They stand for all of them: where tasks run on boxes of PEs, the busiest one is at a corner of one,
or as busy as those in its middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from lairmake.stages.layer.texts.isl_files import Instances
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.functions import PARAM, PE_NAMES, find_index_constants, project_names

PE = tuple[int, int]

MOST_PLACES = 12
"""So many PEs are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """What a PE has of a task: how often it is invoked, with instances, and how many there are.

    `box` is how many the box around them has.
    """

    invoked: int
    runs: int
    instances: int
    box: int


NOTHING = Amount(invoked=0, runs=0, instances=0, box=0)


def find_pes(known: isl.Set) -> isl.Set:
    """Return { PE[x, y] } of [PE_X, PE_Y, ...] -> { ... }."""
    here = known.params()
    here = project_names(here, find_index_constants(here))
    return here.unbind_params(isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }"))


def list_places(tasks: Iterable[str], instances: Instances) -> list[PE]:
    """Return the PEs of the tasks that stand for all of them."""
    found = [pe for task in tasks for pe in _places(find_pes(instances.known(task)))]
    return list(dict.fromkeys(found))[:MOST_PLACES]


def _places(pes: isl.Set) -> Iterator[PE]:
    """Yield the corners and the middle of the box around { PE[x, y] }, as far as they are PEs."""
    if pes.is_empty():
        return
    (left, right), (top, bottom) = bounding_box(pes)
    middle = (left + right) // 2, (top + bottom) // 2
    for x, y in ((left, top), (right, bottom), middle, (right, top), (left, bottom)):
        if not pes.is_disjoint(isl.Set(f"{{ PE[{x}, {y}] }}")):
            yield x, y


def count_amounts(
    tasks: Iterable[str], instances: Instances, places: Sequence[PE]
) -> Mapping[str, Mapping[PE, Amount]]:
    """Return what each of some PEs has of each task."""
    return {task: {pe: _amount(task, instances, pe) for pe in places} for task in tasks}


def _amount(task: str, instances: Instances, pe: PE) -> Amount:
    own = _at(instances.of(task), pe)
    known = _at(instances.known(task), pe)
    if known.is_empty():
        return NOTHING
    if own.is_empty():
        return replace(NOTHING, invoked=count(known))
    sides = bounding_box(own.project_out_all_params())
    return Amount(
        invoked=count(known),
        runs=count(own.params()),
        instances=count(own),
        box=prod(high - low + 1 for low, high in sides),
    )


def _at(elements: isl.Set, pe: PE) -> isl.Set:
    """Return a set for the PE, without its symbolic constants."""
    for name, value in zip(PE_NAMES, pe, strict=True):
        position = elements.find_dim_by_name(PARAM, name)
        if position >= 0:
            fixed = elements.fix_val(PARAM, position, isl.Val(value))
            elements = fixed.project_out(PARAM, position, 1)
    return elements


def find_widths(pes: isl.Set) -> tuple[int, int]:
    """Return how many columns and rows the box around { PE[x, y] } has; 0 if there is no PE."""
    if pes.is_empty():
        return 0, 0
    (left, right), (top, bottom) = bounding_box(pes)
    return right - left + 1, bottom - top + 1
