"""Ports for tensors that layer.yaml lets arrive or leave anywhere.

What arrives does so on the lanes that need it, and what leaves on those that compute it, so that
nothing needs adapters, but for sums of which no lane has all parts: these leave behind a border
that is free, where adapters collect them. Tensors come from both sides, or go to both, if each half
of a lane has elements of its own. Streams take the sides that have least to carry so far.

Paper    V Sec. 4.1.2; which sides and orders are good is not in the paper
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from math import prod

from lairmake.stages.layer.search.ending import First, Use, Way, find_order, find_used
from lairmake.stages.layer.search.question import AXES, Question
from lairmake.stages.layer.search.state import are_free
from lairmake.stages.layer.search.weight import count_elements
from lairmake.stages.mapping.candidates import Ports
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import list_sets
from lairmake.stages.poly.text import spell_object

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.search.state import State

BETWEEN = 16
"""From how many elements of a lane on a stream comes from both sides, or goes to both."""


def open_ports(state: State, question: Question, first: First) -> dict[str, Ports]:
    """Return the ports of all tensors of which layer.yaml does not say them, in an order."""
    loads = {(side, arrives): 0 for side in "NSWE" for arrives in (True, False)}
    for traffic in question.traffic.values():
        for side in traffic.at:
            loads[side, traffic.arrives] += traffic.wavelets
    found: dict[str, Ports] = {}
    for use in list_uses(question):
        ways = list(_list_ways(use, state, question))
        assert ways, f"a border is free to collect {use.tensor}"
        ahead = {side: loads[side, use.arrives] for side in "NSWE"}
        way = min(ways, key=lambda each: max(ahead[side] + each.load for side in each.sides))
        for side in way.sides:
            loads[side, use.arrives] += way.load
        text = spell_object(find_order(use, way, state, question, first))
        found[use.tensor] = Ports(arrives=text) if use.arrives else Ports(leaves=text)
    return found


def list_uses(question: Question) -> Iterator[Use]:
    """Yield the uses of the tensors that may arrive or leave anywhere."""
    elements = {each.get_tuple_name(): each for each in list_sets(question.lair.tensors)}
    for tensor in question.arriving:
        by = [(s, a) for s in question.statements for a in s.reads if a.tensor == tensor]
        yield Use(tensor=tensor, arrives=True, elements=elements[tensor], by=tuple(by))
    for tensor in question.leaving:
        by = [(s, s.target) for s in question.statements if s.target.tensor == tensor]
        yield Use(tensor=tensor, arrives=False, elements=elements[tensor], by=tuple(by))


def _list_ways(use: Use, state: State, question: Question) -> Iterator[Way]:
    """Yield the ways of a tensor: what leaves needs one lane, and may be a sum along it."""
    places = [state.places[statement.name] for statement, _ in use.by]
    summed = [
        not use.arrives and any(use.tensor in p.axes[axis].along.sums for p in places)
        for axis in (0, 1)
    ]
    for axis, sides in enumerate(AXES):
        if summed[axis] and not all(summed):
            continue
        load = max(
            (
                count_elements(access, statement, place.axes[axis].at.spans)
                for (statement, access), place in zip(use.by, places, strict=True)
            ),
            default=prod(find_shape(use.elements)),
        )
        if all(summed):
            free = [side for side in sides if _is_free(side, state, question)]
            yield from (Way(axis=axis, sides=(s,), load=load, collect=True) for s in free)
            continue
        yield from (Way(axis=axis, sides=(side,), load=load) for side in _favour(sides, use))
        across = find_used(use, 1 - axis, state, question)
        if load >= BETWEEN and across.is_single_valued() and not across.range().is_singleton():
            yield Way(axis=axis, sides=sides, load=-(-load // 2))


def _is_free(side: str, state: State, question: Question) -> bool:
    """Say whether adapters have room on the border of a side."""
    assert state.used is not None, "a state has statements"
    extents = question.target.right + 1, question.target.bottom + 1
    return are_free([side], state.used, extents)


def _favour(sides: tuple[str, str], use: Use) -> tuple[str, ...]:
    """Return the sides of an axis: what leaves does so behind what arrives, if all is equal."""
    return sides if use.arrives else sides[::-1]
