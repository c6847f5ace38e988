"""How far statements reach back in streams that roll: what must be in memory for their windows.

Paper    V Sec. 4.3
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.poly.chunks import Cut, cut_order, find_reach, find_reuse

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.layer.streams.triggers import Triggers


Windows = Literal["long", "short", "none"]
"""How long the chunks of windows are where memory is short; without halos, if `none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Statements that go by arrivals which are cut, and what flows."""

    flows: Flows
    triggers: Triggers
    statements: tuple[Statement, ...]
    by_arrival: Mapping[str, Cut]


def find_ring_lengths(
    cuts: Cuts, ahead: int, *, halos: bool
) -> list[tuple[int | None, int | None]]:
    """Return for how many chunks of each arrival there must be memory, and the rows of its halo.

    Those of the steps for which an element is used, and those that are received `ahead`; None for
    all of them. Windows that reach over several have a halo, if there are to be `halos`.
    """
    depth = find_distance(cuts) + ahead
    found: list[tuple[int | None, int | None]] = []
    for name, cut in cuts.by_arrival.items():
        if depth < cut.number:
            found.append((depth, find_halo(cuts, name) if halos and depth > ahead else None))
        else:
            found.append((None, None))
    return found


def find_distance(cuts: Cuts) -> int:
    """Return how many steps after that of its chunk an element of some arrival is used, at most."""
    found = 0
    for name, cut in cuts.by_arrival.items():
        for statement, steps in _list_steps(cuts, name):
            needed = cut_order(cuts.flows.indices(statement, name), cut.of)
            found = max(found, find_reuse(steps, needed, cut.counts))
    return found


def find_halo(cuts: Cuts, name: str) -> int | None:
    """Return how many rows before those of its chunk a step needs of an arrival; None for none.

    Nor has one a halo of which a PE may get other elements by another arrival.
    """
    tensor, cut = cuts.flows.arrivals[name].tensor, cuts.by_arrival[name]
    if sum(arrival.tensor == tensor for arrival in cuts.flows.arrivals.values()) > 1:
        return None
    reaches = (
        find_reach(steps, cut_order(cuts.flows.indices(s, name), cut.places), cut.counts, cut.rows)
        for s, steps in _list_steps(cuts, name)
    )
    return max(reaches, default=0) or None


def _list_steps(cuts: Cuts, name: str) -> Iterator[tuple[str, isl.Map]]:
    """Yield the statements that read an arrival by which they go, and { S[i] -> [PE -> chunk] }."""
    tensor = cuts.flows.arrivals[name].tensor
    for statement in cuts.statements:
        own = cuts.triggers.arrivals[statement.name]
        if name in own and tensor in _list_read(statement):
            of = {each: cuts.by_arrival[each].of for each in own}
            yield statement.name, cuts.flows.steps(statement.name, of)


def _list_read(statement: Statement) -> Iterable[str]:
    return {access.tensor for access in statement.reads}
