"""By which dense arrivals statements run in steps, and which statements go along with others.

A statement goes by the longest streams that it reads, as far as each of its instances needs the
same index of them all, and waits for all of the others. Or streams go in step: each of its
instances needs the same outer indices of them, which they have in common. One that reads what
another defines goes along with it, step by step, if nothing holds that one up; one that waits for
something else that ends with an arrival runs as a whole.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

import islpy as isl

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.chunks import IndexBox, cut_order, find_index_box


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggers:
    """By statement, the arrivals that it goes by, and the statements that it goes along with.

    `boxes` are those of the dense arrivals; None where the indices of one are no box. `shared` are
    how many outer indices the arrivals of a statement have in common.
    """

    arrivals: Mapping[str, Sequence[str]]
    shared: Mapping[str, int]
    follows: Mapping[str, Sequence[str]]
    boxes: Mapping[str, IndexBox | None]


def find_triggers(
    layer: Layer,
    computing: Sequence[str],
    waits: Mapping[str, Sequence[str]],
    in_place: Collection[str],
    flows: Flows,
    *,
    in_step: bool,
) -> Triggers:
    """Return the triggers of the statements that are `computing` on memory.

    `waits` are the statements for which one waits on its PE; they come before it. What writes a
    tensor `in_place` of another goes along with no statement, for these may still read it. Streams
    of other lengths may go `in_step`.
    """
    finder = _Finder(layer, computing, waits, in_place, flows, in_step=in_step)
    for statement in layer.statements:
        finder.find(statement)
    return Triggers(
        arrivals=finder.found, shared=finder.shared, follows=finder.follows, boxes=finder.boxes
    )


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
        *,
        in_step: bool,
    ) -> None:
        self.in_step = in_step
        self.computing, self.waits, self.in_place, self.flows = computing, waits, in_place, flows
        self.targets = {s.name: s.target.tensor for s in layer.statements}
        dense = [n for n, a in flows.arrivals.items() if not a.sparse and a.feedback is None]
        self.boxes = {name: find_index_box(flows.passing(name)) for name in dense}
        self.found: dict[str, list[str]] = {}
        self.shared: dict[str, int] = {}
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
            triggers = self._common(name, followed)
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

    def _common(self, statement: str, followed: Sequence[str]) -> list[str]:
        """Return the triggers of statements that have the same ones."""
        first, *others = (self.found[name] for name in followed)
        if any(other != first for other in others):
            return []
        self.shared[statement] = min(self.shared[name] for name in followed)
        return first

    def _own(self, statement: str, arriving: Sequence[str]) -> list[str]:
        """Return the longest stream that a statement reads, and those that go along with it."""
        boxes = {n: box for n in arriving if (box := self.boxes.get(n)) is not None}
        first = max(boxes, key=lambda n: count_elements(boxes[n]), default=None)
        if first is None:
            return []
        shared, chosen = len(boxes[first].sizes), {first: self.flows.indices(statement, first)}
        for name in boxes:
            common = _count_common(boxes[name], boxes[first])
            same = boxes[name] == boxes[first]
            if name == first or common == 0 or not (same or self.in_step):
                continue
            other = self.flows.indices(statement, name)
            least = 1 if self.in_step else common
            agreed = _count_agreed(other, chosen.values(), least, min(common, shared))
            if agreed:
                chosen[name], shared = other, agreed
        self.shared[statement] = shared
        return list(chosen)


def _count_common(box: IndexBox, other: IndexBox) -> int:
    """Return how many outer indices two boxes have in common, from the first one on."""
    pairs = zip(_sides(box), _sides(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _sides(box: IndexBox) -> list[tuple[int, int]]:
    return list(zip(box.least, box.sizes, strict=True))


def _count_agreed(
    indices: isl.Map, others: Collection[isl.Map], least: int, most: int
) -> int:
    """Return how many outer indices instances need in common, from `least` to `most`, or 0."""
    counts = range(most, least - 1, -1)
    return next((k for k in counts if all(_agree(indices, o, k) for o in others)), 0)


def _agree(indices: isl.Map, other: isl.Map, outer: int) -> bool:
    """Say whether instances need the same outer indices of two { S[i] -> [PE -> index] }."""
    one, two = _outer(indices, outer), _outer(other, outer)
    return one.intersect_domain(two.domain()).is_equal(two.intersect_domain(one.domain()))


def _outer(indices: isl.Map, outer: int) -> isl.Map:
    """Return { S[i] -> [PE -> index[o]] } of { S[i] -> [PE -> index[o, i]] }."""
    names = letters(indices.range().unwrap().dim(isl.dim_type.out))
    kept = isl.Map(f"{{ index[{', '.join(names)}] -> index[{', '.join(names[:outer])}] }}")
    return cut_order(indices, kept)
