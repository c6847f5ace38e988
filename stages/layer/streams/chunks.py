"""Dense arrivals in chunks, and the steps of statements that take them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.layer.estimate.guess import GuessedWork, Parts, Taken
from lairmake.stages.layer.routes.lines import ArrivingLine, find_arriving
from lairmake.stages.layer.texts.isl_files import Adapted, Routing
from lairmake.stages.layer.texts.task_graph import AnyTask, Arrival, Chunks, Compute
from lairmake.stages.poly.canonical import from_domain, letters, list_maps, to_range
from lairmake.stages.poly.chunks import (
    IndexBox,
    chunks,
    count_most_in_step,
    cut_order,
    find_first,
    find_index_box,
    find_last_step,
)
from lairmake.stages.poly.functions import greatest
from lairmake.stages.poly.sides import at_places, taken_by
from lairmake.stages.skewing.elements import Lair, find_running

if TYPE_CHECKING:
    from lairmake.stages.poly.chunks import Cut

# --- Steps of a statement -------------------------------------------------------------------------
#
# A step runs the instances that may run once a chunk of what they read is here. An instance runs in
# the step of the last chunk that it needs; or, where no step becomes larger by that, in the last
# step of all instances of its element, so that steps of windows are boxes.
#
# Paper    V Sec. 5.1, (11)-(16), the chunk as the index

@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """The arrivals of tasks.yaml, and the files that say what flows with them.

    `follows` has, by statement, the statements whose results it takes step by step. `known` are the
    steps that were asked for before, and the last ones that add to elements.
    """

    arrivals: Mapping[str, Arrival]
    lair: Lair
    adapted: Adapted
    routes: Routing
    follows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    known: dict[str, isl.Map] = field(default_factory=dict, repr=False, compare=False)

    def flow(self, name: str) -> ArrivingLine:
        """Return the orders of an arrival."""
        stream = self.arrivals[name]
        return find_arriving(self.adapted, stream.tensor, stream.side, stream.part)

    def taken(self, name: str) -> isl.Map:
        """Return { t[e] -> PE } of what PEs take from an arrival."""
        return self.routes.relation(name, "taken")

    def passing(self, name: str) -> isl.Map:
        """Return { t[e] -> [PE -> index] } of all that reaches the PEs that take some of it."""
        return at_places(self.flow(name).everywhere, self.taken(name).range())

    def steps(self, statement: str, cuts: Mapping[str, isl.Map]) -> isl.Map:
        """Return { S[i] -> [PE -> chunk[p]] }, the step in which each instance runs on its PE.

        `cuts` are { index[i] -> chunk[p] } by arrival, all with the same chunks. What needs
        none of these runs in the first step. Ensures that every instance has one step.
        """
        return self._found("steps", self._steps, statement, cuts)

    def last_steps(self, statement: str, cuts: Mapping[str, isl.Map]) -> isl.Map:
        """Return { t[e] -> [PE -> chunk[p]] }, the last step on a PE that adds to an element."""
        return self._found("last", self._last, statement, cuts)

    def _found(
        self, what: str, find: Callable[[str, Mapping[str, isl.Map]], isl.Map],
        statement: str, cuts: Mapping[str, isl.Map],
    ) -> isl.Map:
        asked = " ".join([what, statement, *(f"{name} {cut}" for name, cut in cuts.items())])
        if asked not in self.known:
            self.known[asked] = find(statement, cuts)
        return self.known[asked]

    def _last(self, statement: str, cuts: Mapping[str, isl.Map]) -> isl.Map:
        return find_last_step(self.steps(statement, cuts), self._writes(statement))

    def _writes(self, statement: str) -> isl.Map:
        return _map(from_domain(self.lair.writes, statement))

    def _steps(self, statement: str, cuts: Mapping[str, isl.Map]) -> isl.Map:
        early = self._early(statement, cuts)
        writes = self._writes(statement)
        late = writes.apply_range(find_last_step(early, writes))
        late = taken_by(late, self._placement(statement))
        return (late if count_most_in_step(late) <= count_most_in_step(early) else early).coalesce()

    def is_gradual(self, statement: str, cuts: Mapping[str, isl.Map]) -> bool:
        """Say whether a step before the last one completes an element on its PE."""
        last = self.last_steps(statement, cuts).range().unwrap().range()
        return not last.is_singleton()

    def _early(self, statement: str, cuts: Mapping[str, isl.Map]) -> isl.Map:
        """Return the steps of the last chunks that instances need, at first or second hand."""
        placed, reads = self._placement(statement), from_domain(self.lair.reads, statement)
        first = find_first(next(iter(cuts.values())))
        found = placed.range_product(isl.Map.from_domain_and_range(placed.domain(), first))
        read = {m.get_tuple_name(isl.dim_type.out) for m in list_maps(reads)}
        for name, cut in cuts.items():
            if self.arrivals[name].tensor not in read:
                continue
            found = found.union(cut_order(self.indices(statement, name), cut))
        for other in self.follows.get(statement, ()):
            defined = self.last_steps(other, cuts)
            needs = _map(to_range(reads, defined.get_tuple_name(isl.dim_type.in_)))
            found = found.union(taken_by(needs.apply_range(defined), placed))
        return greatest(found)

    def indices(self, statement: str, name: str) -> isl.Map:
        """Return { S[i] -> [PE -> index] } of the elements of an arrival that instances read."""
        reads = from_domain(self.lair.reads, statement)
        needs = to_range(reads, self.arrivals[name].tensor)
        order = taken_by(self.flow(name).everywhere, self.taken(name))
        return taken_by(_map(needs).apply_range(order), self._placement(statement))

    def _placement(self, statement: str) -> isl.Map:
        return _map(from_domain(find_running(self.lair, self.adapted.placement), statement))


def find_followed(tasks: Mapping[str, AnyTask]) -> dict[str, tuple[str, ...]]:
    """Return, by statement, those whose results it takes step by step, as tasks.yaml has them."""
    computing = (task for task in tasks.values() if isinstance(task, Compute))
    return {task.statement: task.follows for task in computing if task.follows}


def find_taken_chunks(cut: Chunks, *, rest: bool) -> isl.Set:
    """Return [index...] -> { : a chunk of full size }, or the one that is the `rest`."""
    every = chunks(cut.counts)
    if cut.rest is None:
        return every
    last = isl.Set(f"[index] -> {{ : index = {cut.counts[0] - 1} }}")
    return every.intersect(last) if rest else every.subtract(last)


def _map(obj: isl.Map | isl.UnionMap) -> isl.Map:
    return obj if isinstance(obj, isl.Map) else isl.Map.from_union_map(obj)

# --- Triggers of statements -----------------------------------------------------------------------
#
# Triggers are the dense arrivals by which a statement runs in steps. A statement goes by the
# longest streams that it reads, as far as each of its instances needs the same index of them all,
# and waits for all of the others. Or streams go in step: each of its instances needs the same outer
# indices of them, which they have in common. A statement that reads what another defines goes along
# with it, step by step, if nothing holds that one up. One that waits for something else that ends
# with an arrival runs as a whole.
#
# Paper    V Sec. 4.2

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

# --- Parts of streams, for guesses of costs -------------------------------------------------------
#
# Streams are cut into so many parts of a size.
#
# Paper    V Sec. 5.1

LONG = 64
"""The factor by which a stream is lengthened for the chunks of a ring, to suit long streams too."""


def count_parts(taken: Taken, cuts: Mapping[str, Cut], *, rolling: bool = False) -> Parts:
    """Return the parts into which streams are cut, of the mean size of their chunks."""
    cut, size = next(iter(cuts.values())), find_mean(cut.size for cut in cuts.values())
    return Parts(
        number=-(-taken.elements // size),
        size=size,
        dimensions=len(cut.counts),
        uneven=cut.rest < cut.size,
        rolling=rolling,
    )


def find_mean(sizes: Iterable[int]) -> int:
    """Return the mean of whole numbers, rounded up."""
    every = list(sizes)
    return -(-sum(every) // len(every))


def lengthen(taken: Taken) -> Taken:
    """Return the same for streams that are LONG times as long."""
    work = [_lengthen(each) for each in taken.work]
    return replace(taken, elements=LONG * taken.elements, work=work)


def _lengthen(work: GuessedWork) -> GuessedWork:
    return replace(work, whole=LONG * work.whole, results=LONG * work.results)
