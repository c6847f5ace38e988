"""Cut dense arrivals into portions, so that statements run while others still arrive.

A statement goes by the longest streams that it reads, and waits for all of the others. What reads
one stream shares its cut. The cut is that of the fewest cycles:

    whole:        elements + work + results
    in portions:  max(elements, portions * overhead + work, results) + that of the last portion

where the overhead is what starts a task and its vector instructions, once a portion.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5.1; design, The machine
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from stages.lair.layer import Layer, Statement
from stages.lair.operation import NoOperationError, operations_of
from stages.lair.portions import Flows
from stages.poly.bind import PE_NAMES, bind_range
from stages.poly.count import most_points
from stages.poly.pieces import from_domain
from stages.poly.portions import Cut, IndexBox, cuts_of, index_box

if typing.TYPE_CHECKING:
    from stages.fabric.profile import Profile

Description = dict[str, typing.Any]
AHEAD = 2
"""Portions for which receives are under way at a time."""

SCALARS = 2
"""Scalar operations of the task that takes a portion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Arrivals of one box, and the statements that go by them."""

    box: IndexBox
    arrivals: tuple[str, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The cycles of statements on one PE: all of them, of each call, and of what they send."""

    whole: int
    call: int
    results: int


class Cutter:
    """Decides about the arrivals of a layer."""

    def __init__(
        self,
        layer: Layer,
        statements: Sequence[Statement],
        profile: Profile,
        flows: Flows,
        departures: Mapping[str, Description],
    ) -> None:
        """Take the statements that run on memory; find the boxes of dense streams."""
        self.layer, self.statements = layer, statements
        self.profile, self.flows = profile, flows
        self.leaving = {d["tensor"] for d in departures.values()}
        dense = [n for n, arrival in flows.arrivals.items() if not arrival["sparse"]]
        self.boxes = {name: index_box(flows.passing(name)) for name in dense}
        self.free = profile.instruction_queue - 1 - len(dense) - len(departures)

    def cut(self) -> dict[str, Cut]:
        """Return the cuts of the arrivals that are worth it, by their names."""
        found: dict[str, Cut] = {}
        for group in self._groups():
            needed = (AHEAD - 1) * len(group.arrivals)
            cut = self._best(group) if needed <= self.free else None
            if cut is not None:
                self.free -= needed
                found |= dict.fromkeys(group.arrivals, cut)
        return found

    def _groups(self) -> Iterator[Group]:
        """Yield the groups: statements that go by one stream are in one."""
        left = {s.name: self.leaders(s) for s in self.statements}
        while left:
            members = {next(iter(left))}
            arrivals = {a for s in members for a in left[s]}
            while more := {s for s in left if arrivals & set(left[s])} - members:
                members |= more
                arrivals |= {a for s in more for a in left[s]}
            chosen = tuple(s for s in self.statements if s.name in members)
            box = self.boxes[next(iter(arrivals))] if arrivals else None
            if box is not None:
                yield Group(box=box, arrivals=tuple(sorted(arrivals)), statements=chosen)
            left = {name: by for name, by in left.items() if name not in members}

    def leaders(self, statement: Statement) -> list[str]:
        """Return the arrivals that a statement goes by: those of its largest box."""
        read = {access.tensor for access in statement.reads}
        mine = [n for n, b in self.boxes.items() if self.flows.arrivals[n]["tensor"] in read and b]
        largest = max(mine, key=lambda n: _elements(self.boxes[n]), default=None)
        return [n for n in mine if largest and self.boxes[n] == self.boxes[largest]]

    def _best(self, group: Group) -> Cut | None:
        """Return the cut of the fewest cycles; None if these are of the whole."""
        work = [self._work(statement) for statement in group.statements]
        best, least = None, self._whole(group, work)
        for cut in cuts_of(group.box):
            cycles = self._in_portions(group, work, cut)
            if cycles < least:
                best, least = cut, cycles
        return best

    def _whole(self, group: Group, work: Sequence[Work]) -> int:
        once = self.profile.dispatch * len(group.arrivals) + sum(w.call + w.whole for w in work)
        return _elements(group.box) + once + sum(w.results for w in work)

    def _in_portions(self, group: Group, work: Sequence[Work], cut: Cut) -> int:
        """Return the cycles of a cut, up to the end of its last portion's results."""
        number = _elements(group.box) // cut.size
        scalars = SCALARS + 2 * (len(cut.counts) - 1)
        overhead = sum(w.call for w in work)
        overhead += len(group.arrivals) * (self.profile.dispatch + scalars * self.profile.scalar)
        busy = number * overhead + sum(w.whole for w in work)
        results = sum(w.results for w in work)
        longest = max(_elements(group.box), busy, results)
        return longest + -(-busy // number) + -(-results // number)

    def _work(self, statement: Statement) -> Work:
        """Return what a statement takes on a PE, at most."""
        profile, layer = self.profile, self.layer
        target = statement.target.tensor
        instances = self._spread(self.flows.adapted["placement"], statement.name)
        written = self._spread(
            self.flows.lair["writes"].reverse().apply_range(self.flows.adapted["placement"]), target
        )
        results = written if target in self.leaving and statement.op == "=" else 0
        try:
            number = len(operations_of(target, statement.op, statement.expr))
        except NoOperationError:
            each = profile.scalar * (1 + len(statement.reads)) + profile.loop
            return Work(whole=instances * each, call=profile.loop, results=results)
        lanes = profile.lanes[layer.tensors[target].type]
        call = number * (profile.vector_start_up + profile.address * (1 + len(statement.reads)))
        return Work(whole=number * -(-instances // lanes), call=call, results=results)

    def _spread(self, relation: isl.UnionMap, name: str) -> int:
        """Return a bound on how many of { name[...] -> PE } are on one PE."""
        placed = isl.Map.from_union_map(from_domain(relation, name))
        return most_points(bind_range(placed, PE_NAMES))


def _elements(box: IndexBox | None) -> int:
    """Return how many elements a box has."""
    found = 1
    for size in box.sizes if box else ():
        found *= size
    return found
