"""The steps of a statement: which of its instances run once a chunk of what they read is here.

An instance runs in the step of the last chunk that it needs; or, where no step becomes larger by
that, in the last step of all instances of its element, so that steps of windows are boxes.

Paper    V Sec. 5.1, (11)-(16), the chunk as the index
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.layer.routes.lines import Arriving, find_arriving
from lairmake.stages.layer.texts.isl_files import Adapted, Routing
from lairmake.stages.layer.texts.task_graph import AnyTask, Arrival, Chunks, Compute
from lairmake.stages.poly.canonical import from_domain, list_maps, to_range
from lairmake.stages.poly.chunks import (
    chunks,
    count_most_in_step,
    cut_order,
    find_first,
    find_last_step,
)
from lairmake.stages.poly.functions import greatest
from lairmake.stages.poly.sides import at_places, taken_by
from lairmake.stages.skewing.elements import Lair, find_running


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """The arrivals of tasks.yaml, and the files that say what flows with them.

    `follows` are, by statement, those whose results it takes step by step. `known` are the steps
    that were asked for before, and the last ones that add to elements.
    """

    arrivals: Mapping[str, Arrival]
    lair: Lair
    adapted: Adapted
    routes: Routing
    follows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    known: dict[str, isl.Map] = field(default_factory=dict, repr=False, compare=False)

    def flow(self, name: str) -> Arriving:
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
