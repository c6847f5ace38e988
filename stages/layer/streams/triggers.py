"""By which dense arrivals statements run in steps, and which statements go along with others.

A statement goes by the longest streams that it reads, as far as each of its instances needs the
same index of them all, and waits for all of the others. One that reads what another defines goes
along with it, step by step, if nothing holds that one up; one that waits for something else that
ends with an arrival runs as a whole.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from stages.lair.layer import Layer, Statement
from stages.layer.streams.chunks import Flows
from stages.poly.cuts import IndexBox, find_index_box


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggers:
    """By statement, the arrivals that it goes by, and the statements that it goes along with.

    `boxes` are those of the dense arrivals; None where the indices of one are no box.
    """

    arrivals: Mapping[str, Sequence[str]]
    follows: Mapping[str, Sequence[str]]
    boxes: Mapping[str, IndexBox | None]


def find_triggers(
    layer: Layer,
    computing: Sequence[str],
    waits: Mapping[str, Sequence[str]],
    in_place: Collection[str],
    flows: Flows,
) -> Triggers:
    """Return the triggers of the statements that are `computing` on memory.

    `waits` are the statements for which one waits on its PE; they come before it. What writes a
    tensor `in_place` of another goes along with no statement, for these may still read it.
    """
    finder = _Finder(layer, computing, waits, in_place, flows)
    for statement in layer.statements:
        finder.find(statement)
    return Triggers(arrivals=finder.found, follows=finder.follows, boxes=finder.boxes)


def count_elements(box: IndexBox | None) -> int:
    """Return how many elements an index box has."""
    return prod(box.sizes) if box else 0


class _Finder:
    def __init__(
        self,
        layer: Layer,
        computing: Sequence[str],
        waits: Mapping[str, Sequence[str]],
        in_place: Collection[str],
        flows: Flows,
    ) -> None:
        self.computing, self.waits, self.in_place, self.flows = computing, waits, in_place, flows
        self.targets = {s.name: s.target.tensor for s in layer.statements}
        dense = [n for n, a in flows.arrivals.items() if not a.sparse and a.feedback is None]
        self.boxes = {name: find_index_box(flows.passing(name)) for name in dense}
        self.found: dict[str, list[str]] = {}
        self.follows: dict[str, list[str]] = {}
        self.late: set[str] = set()
        self.stalled: set[str] = set()

    def find(self, statement: Statement) -> None:
        """Find the triggers of a statement; those of all that it waits for are found."""
        name, read = statement.name, {access.tensor for access in statement.reads}
        arriving = [n for n, a in self.flows.arrivals.items() if a.tensor in read]
        before = [other for other in self.waits.get(name, ()) if other in self.late]
        followed = [b for b in before if self.targets[b] in read and b not in self.stalled]
        followed = [] if self.targets[name] in self.in_place else followed
        if name not in self.computing or len(followed) < len(before):
            triggers: list[str] = []
        elif followed:
            triggers = self._common(followed)
        else:
            triggers = self._own(name, arriving)
        self.found[name] = triggers
        if triggers and followed:
            self.follows[name] = followed
        if arriving or before:
            self.late.add(name)
        alone = set(arriving) <= set(triggers) and before == list(self.waits.get(name, ()))
        if not triggers or not alone:
            self.stalled.add(name)

    def _common(self, followed: Sequence[str]) -> list[str]:
        """Return the triggers of statements that have the same ones."""
        first, *others = (self.found[name] for name in followed)
        return first if all(other == first for other in others) else []

    def _own(self, statement: str, arriving: Sequence[str]) -> list[str]:
        """Return the longest streams that a statement reads, those with one index only."""
        boxes = {n: box for n in arriving if (box := self.boxes.get(n)) is not None}
        first = max(boxes, key=lambda n: count_elements(boxes[n]), default=None)
        if first is None:
            return []
        same = [n for n in boxes if n != first and boxes[n] == boxes[first]]
        indices = self.flows.indices(statement, first)
        chosen = [first]
        for name in same:
            other = self.flows.indices(statement, name)
            if other.intersect_domain(indices.domain()).is_equal(
                indices.intersect_domain(other.domain())
            ):
                chosen.append(name)
                indices = indices.union(other)
        return chosen
