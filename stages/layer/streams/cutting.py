"""Cuts of dense arrivals into chunks, so that statements run while others still arrive.

Statements that go by one stream share its cut: of all cuts, and none, the one of the fewest cycles,
as stages/layer/estimate/guess.py has them.

Paper    V Sec. 5.1; design, The machine
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.layer.estimate.guess import (
    GuessedWork,
    Taken,
    guess_in_parts,
    guess_whole,
    guess_work,
)
from lairmake.stages.layer.routes.resources import count_free_threads
from lairmake.stages.layer.streams.chunks import (
    Flows,
    Triggers,
    count_elements,
    count_parts,
    find_mean,
    lengthen,
)
from lairmake.stages.layer.streams.rings import Cuts, Windows, find_obstacle, find_ring_lengths
from lairmake.stages.layer.texts.task_graph import Departure
from lairmake.stages.machine.scarcity import note_shortage
from lairmake.stages.machine.types import BYTES
from lairmake.stages.movement.flow import share
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.chunks import Cut, IndexBox, list_cuts
from lairmake.stages.poly.functions import PE_NAMES, bind_range

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# One chunk is received while the one before it is used: with 1 a stream would stand still while a
# step runs, and each more takes another thread. steps.free_instructions has the same number.
AHEAD = 2
"""Chunks for which receives are under way at a time."""

# Chosen: the log, `portions: a cut must save a fiftieth of the cycles`, names no run. It keeps
# whole what is guessed to save less than 2 %: a cut takes code and threads on each PE.
WORTH = 50
"""The part of the cycles that a cut must save, at least: one of so many."""

# Chosen: the log names no run in which another part was tried. A greater PART drops the largest
# chunks from the choice, so that there may be more steps. _has_room counts AHEAD chunks of each
# arrival, not the others that a ring keeps, of which the number depends on the cut.
PART = 8
"""The part of the memory of a PE that rings take at most, if chunks can be so small."""

# Chosen: a sixteenth and a third more cycles, as guessed; the log has no run that they were fitted
# to. It has one of what SHORT does not suit: 31 taps over 4126 elements took 1.72 times the cycles
# of a stream that is kept, and 1.25 with the longest chunks, which windows get in _rolling.
SMALLER, SHORT = 16, 3
"""The part of the cycles that smaller chunks of a ring may take more; where memory is short."""

WHOLE = "no statement can begin with a part of it"
NO_BOX = "its indices are not one box on all PEs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalGroup:
    """Arrivals, and the statements that go by them.

    Their boxes have their first `shared` outer indices in common. `together` is how many of the
    arrivals a PE takes, `others` how many elements of other streams, at most.
    """

    boxes: Mapping[str, IndexBox]
    shared: int
    together: int
    others: int
    statements: tuple[Statement, ...]

    @property
    def elements(self) -> int:
        """The number of elements of an arrival, in the mean."""
        return find_mean(map(count_elements, self.boxes.values()))

    @property
    def only_in_step(self) -> bool:
        """Whether an arrival has indices that no other one has."""
        return any(len(box.sizes) > self.shared for box in self.boxes.values())

    def cuts(self, *, fine: bool = False) -> Iterator[dict[str, Cut]]:
        """Yield the cuts of the arrivals, by name, into as many chunks each."""
        for found in list_cuts(list(self.boxes.values()), self.shared, fine=fine):
            yield dict(zip(self.boxes, found, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CutChunks:
    """The cut of an arrival, and what is expected: its cycles, and those of the whole.

    `ring` is the number of chunks for which there is memory; None if for all. Windows reach `halo`
    rows before their chunk: then chunks lie one after the other.
    """

    cut: Cut
    cycles: int
    whole: int
    ring: int | None = None
    halo: int | None = None

    @property
    def in_ring(self) -> int:
        """The number of elements of a ring, with its halo."""
        halo = (self.halo or 0) * self.cut.size // self.cut.rows
        return halo + self.cut.size * (self.ring or self.cut.number)

    @property
    def is_whole(self) -> bool:
        """Whether all is in memory, as it takes no more than a ring with its halo."""
        every = (self.cut.number - 1) * self.cut.size + self.cut.rest
        return self.ring is None or (self.halo is not None and self.in_ring >= every)


class Cutter:
    """Decides about the arrivals of a layer."""

    def __init__(
        self,
        layer: Layer,
        profile: Profile,
        flows: Flows,
        triggers: Triggers,
        departures: Mapping[str, Departure],
        waiting: int,
        *,
        rolling: bool,
        windows: Windows = "long",
    ) -> None:
        """Take what statements go by, and how many instructions are free to stream.

        `waiting` streams may wait for other PEs besides those that arrive. With `rolling` all
        arrivals get rings for which nothing stands against it, else those only that go in step by
        some of their indices, with what `windows` are. `whole` will say why arrivals are not cut,
        and `cycles` what is expected of all groups.
        """
        self.rolling, self.windows = rolling, windows
        self.layer, self.profile, self.flows, self.triggers = layer, profile, flows, triggers
        self.leaving = {d.tensor for d in departures.values() if d.sequences is None}
        threads = count_free_threads(profile, sum(a.sparse for a in flows.arrivals.values()))
        self.free = threads - 1 - self._together(triggers.boxes) - waiting
        self.cycles = 0
        self.whole = {name: WHOLE if box else NO_BOX for name, box in triggers.boxes.items()}

    def cut(self) -> dict[str, CutChunks]:
        """Return the chunks of the arrivals that are worth a cut, by their names."""
        found: dict[str, CutChunks] = {}
        for group in self._groups():
            taken = self._taken(group)
            rolls = (self.rolling or group.only_in_step) and self._may_roll(group)
            chosen = self._rolling(group, taken) if rolls else self._best(group, taken)
            reason = self._refusal(group, chosen, rolls=rolls)
            if reason:
                self.whole |= dict.fromkeys(group.boxes, reason)
                self.cycles += guess_whole(self.profile, taken)
            else:
                self.cycles += next(iter(chosen.values())).cycles
                self.free -= (AHEAD - 1) * group.together
                found |= chosen
        return found

    def _refusal(self, group: ArrivalGroup, chosen: Mapping[str, CutChunks], *, rolls: bool) -> str:
        """Return why arrivals stay whole; nothing if they are worth a cut."""
        if not chosen:
            return "there is one element"
        best = next(iter(chosen.values()))
        # With `rolling` memory is short: a ring is taken for its room, whatever it costs.
        if best.whole - best.cycles < best.whole / WORTH and not (rolls and self.rolling):
            return f"some {best.whole} cycles, {best.cycles} in chunks"
        if (AHEAD - 1) * group.together > self.free:
            note_shortage("threads")
            return f"a PE has {self.profile.threads} threads"
        return ""

    def _groups(self) -> Iterator[ArrivalGroup]:
        """Yield the groups: statements that go by one stream are in one."""
        left = {name: set(by) for name, by in self.triggers.arrivals.items() if by}
        while left:
            members = {next(iter(left))}
            arrivals = {a for s in members for a in left[s]}
            while more := {s for s in left if arrivals & left[s]} - members:
                members |= more
                arrivals |= {a for s in more for a in left[s]}
            yield self._group(members, [n for n in self.triggers.boxes if n in arrivals])
            left = {name: by for name, by in left.items() if name not in members}

    def _group(self, members: Set[str], arrivals: Sequence[str]) -> ArrivalGroup:
        boxes = {n: box for n in arrivals if (box := self.triggers.boxes[n]) is not None}
        statements = tuple(s for s in self.layer.statements if s.name in members)
        read = {access.tensor for s in statements for access in s.reads}
        others = [
            count_elements(other)
            for name, other in self.triggers.boxes.items()
            if name not in arrivals and self.flows.arrivals[name].tensor in read
        ]
        return ArrivalGroup(
            boxes=boxes,
            shared=min(self.triggers.shared[name] for name in members),
            together=self._together(arrivals),
            others=sum(others),
            statements=statements,
        )

    def _together(self, arrivals: Iterable[str]) -> int:
        """Return how many arrivals a PE takes, at most."""
        return count_most_together({name: self.flows.taken(name).range() for name in arrivals})

    def _best(self, group: ArrivalGroup, taken: Taken) -> dict[str, CutChunks]:
        """Return the cut of the fewest cycles, the largest chunks first; nothing if none is."""
        cuts = (
            (guess_in_parts(self.profile, taken, count_parts(taken, each)), each)
            for each in group.cuts()
        )
        cycles, best = min(cuts, key=lambda found: found[0], default=(0, {}))
        whole = guess_whole(self.profile, taken)
        return {n: CutChunks(cut=cut, cycles=cycles, whole=whole) for n, cut in best.items()}

    def _rolling(self, group: ArrivalGroup, taken: Taken) -> dict[str, CutChunks]:
        """Return the smallest chunks that take hardly more cycles than others, each with its ring.

        They do not depend on how long a stream is: it is taken to be much longer. Those of windows
        may be longer where memory is short: a step of several instructions costs more than guessed.
        """
        much = lengthen(taken)
        cuts = [
            (guess_in_parts(self.profile, much, count_parts(much, each, rolling=True)), each)
            for each in group.cuts(fine=True)
        ]
        # list_cuts yields the largest first: where none has room, the last is left, the smallest.
        cuts = [found for found in cuts if self._has_room(found[1])] or cuts[-1:]
        part = SHORT if self.rolling else SMALLER
        most = min((cycles for cycles, _ in cuts), default=0) * (part + 1) // part
        fit = (each for cycles, each in cuts if cycles <= most)
        best = min(fit, key=_count_in_chunk, default=None)
        if best is None:
            return {}
        found = self.roll(group, taken, best)
        if not (self.rolling and self.windows == "long" and _reaches(found)):
            return found
        # One of them reaches: `best` is among `cuts`, and its `found` does.
        longer = sorted((each for _, each in cuts), key=_count_in_chunk, reverse=True)
        return next(filter(_reaches, (self.roll(group, taken, each) for each in longer)))

    def roll(
        self, group: ArrivalGroup, taken: Taken, cuts: Mapping[str, Cut]
    ) -> dict[str, CutChunks]:
        """Return the chunks of each arrival, with memory for those that are needed at a time."""
        cycles = guess_in_parts(self.profile, taken, count_parts(taken, cuts, rolling=True))
        whole = guess_whole(self.profile, taken)
        given = Cuts(
            flows=self.flows, triggers=self.triggers, statements=group.statements, by_arrival=cuts
        )
        rings = find_ring_lengths(given, AHEAD, halos=self.windows != "none")
        return {
            name: CutChunks(cut=cut, cycles=cycles, whole=whole, ring=ring, halo=halo)
            for (name, cut), (ring, halo) in zip(cuts.items(), rings, strict=True)
        }

    def _has_room(self, cuts: Mapping[str, Cut]) -> bool:
        """Say whether two chunks of each arrival take a small part of the memory."""
        types = {n: self.layer.tensors[self.flows.arrivals[n].tensor].type for n in cuts}
        taken = sum(AHEAD * cut.size * BYTES[types[name]] for name, cut in cuts.items())
        return PART * taken <= self.profile.memory

    def _may_roll(self, group: ArrivalGroup) -> bool:
        return not find_obstacle(group.boxes, self.layer, self.triggers, self.flows.arrivals)

    def _taken(self, group: ArrivalGroup) -> Taken:
        return Taken(
            together=group.together,
            elements=group.elements,
            others=group.others,
            work=[self._work(group, statement) for statement in group.statements],
        )

    def _work(self, group: ArrivalGroup, statement: Statement) -> GuessedWork:
        """Return what a statement takes on a PE, at most."""
        type_ = self.layer.tensors[statement.target.tensor].type
        instances = self._spread(self.flows.adapted.placement, statement.name)
        results = self._results(group, statement)
        return guess_work(self.profile, statement, type_, instances, results)

    def _results(self, group: ArrivalGroup, statement: Statement) -> int:
        """Return how many elements leave a PE while others are still computed, at most."""
        target, placement = statement.target.tensor, self.flows.adapted.placement
        halves = next(group.cuts(), None)
        if target not in self.leaving or halves is None:
            return 0
        triggers = self.triggers.arrivals[statement.name]
        if not self.flows.is_gradual(statement.name, {n: halves[n].of for n in triggers}):
            return 0
        return self._spread(self.flows.lair.writes.reverse().apply_range(placement), target)

    def _spread(self, relation: isl.UnionMap, name: str) -> int:
        """Return a bound on how many of { name[...] -> PE } are on one PE."""
        placed = isl.Map.from_union_map(from_domain(relation, name))
        return bound_points(bind_range(placed, PE_NAMES))


def count_most_together(pes: Mapping[str, isl.Set]) -> int:
    """Return a bound on how many streams one PE takes part in, by the PEs of each."""
    return len(share({name: isl.UnionSet.from_set(each) for name, each in pes.items()}))


def _reaches(chunks: Mapping[str, CutChunks]) -> bool:
    return any(each.halo is not None for each in chunks.values())


def _count_in_chunk(cuts: Mapping[str, Cut]) -> int:
    return sum(cut.size for cut in cuts.values())
