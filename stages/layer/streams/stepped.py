"""The steps in which a statement runs, and which positions of what leaves are complete after them.

A statement runs in steps: the sequences of a sparse tensor, or the chunks of dense ones.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import functools
import itertools
import typing
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.estimate.guess import guess_slack
from lairmake.stages.layer.routes.lines import find_leaving
from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.layer.texts.task_graph import Arrival, Chunks, Compute, Departure, Graph, React
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.cardinality import bound_points, count
from lairmake.stages.poly.chunks import Completed, find_completed
from lairmake.stages.poly.functions import PE_NAMES, bind_range, name_indices, unbind_set

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

LANES = {
    "N": "{ PE[x, y] -> PE[x, v] }",
    "S": "{ PE[x, y] -> PE[x, v] }",
    "W": "{ PE[x, y] -> PE[u, y] }",
    "E": "{ PE[x, y] -> PE[u, y] }",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of a statement: its cuts by arrival, and from where to where chunks go.

    `names` are the symbolic constants of a chunk, `in_sequences` says whether they are the
    sequences of sparse tensors.
    """

    statement: str
    cuts: Mapping[str, isl.Map]
    box: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    in_sequences: bool = False

    @property
    def known(self) -> isl.Set:
        """Return [names] -> { : there is such a chunk }."""
        found = isl.Set(f"[{', '.join(self.names)}] -> {{ : }}")
        for name, (low, high) in zip(self.names, self.box, strict=True):
            found = found.intersect(isl.Set(f"[{name}] -> {{ : {low} <= {name} <= {high} }}"))
        return found

    @property
    def counts(self) -> tuple[int, ...]:
        """Return how many chunks there are."""
        return tuple(high - low + 1 for low, high in self.box)

    @property
    def every(self) -> isl.Set:
        """Return { chunk[p] : there is such a chunk }."""
        inside = ", ".join(f"{low}:{high}" for low, high in self.box)
        return isl.Set(f"{{ chunk[{inside}] }}")

    @property
    def ends(self) -> list[isl.Set]:
        """Return the [names] of which code that ends a step knows that it is one of them.

        All chunks; of sequences those before whose last dimension goes on, then those before
        whose last but one does, ..., and the last one.
        """
        if not self.in_sequences:
            return [self.known]
        found, left = [], self.known
        for name, (_, high) in reversed(list(zip(self.names, self.box, strict=True))):
            last = isl.Set(f"[{name}] -> {{ : {name} = {high} }}")
            found.append(left.subtract(last))
            left = left.intersect(last)
        return [*found, left]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many sends may wait in the queue of a PE, and why there may be more.

    `alone`: every PE is alone on its lane. `in_step`: all tasks that take elements are those of
    the steps.
    """

    sends: int
    alone: bool
    in_step: bool


def find_steps(statement: str, graph: Graph) -> Steps | None:
    """Return the steps of a statement, given what tasks.yaml says; None if it is one step."""
    tasks = graph.tasks.values()
    for task in tasks:
        if isinstance(task, Compute) and task.statement == statement and task.chunks:
            return _chunk_steps(statement, find_cuts(task, graph))
    reacting = [t.arrival for t in tasks if isinstance(t, React) and t.statement == statement]
    return _sequence_steps(statement, {name: graph.arrivals[name] for name in reacting})


def find_cuts(task: Compute, graph: Graph) -> dict[str, Chunks]:
    """Return, by arrival, the chunks in whose steps a task runs."""
    cuts = ((name, graph.arrivals[name].chunks) for name in task.chunks)
    return {name: cut for name, cut in cuts if cut is not None}


def _chunk_steps(statement: str, cuts: Mapping[str, Chunks]) -> Steps:
    counts = next(iter(cuts.values())).counts
    return Steps(
        statement=statement,
        cuts={name: isl.Map(cut.of) for name, cut in cuts.items()},
        box=tuple((0, count - 1) for count in counts),
        names=tuple(name_indices(len(counts))),
    )


def _sequence_steps(statement: str, arrivals: Mapping[str, Arrival]) -> Steps | None:
    """Return steps that are sequences; None if there is one, or if streams have other ones."""
    boxes = {arrival.outer for arrival in arrivals.values()}
    box = boxes.pop() if boxes else ()
    if boxes or all(low == high for low, high in box):
        return None
    listed = [f"i{k}" for k in range(len(box) + 1)]
    cut = isl.Map(f"{{ index[{', '.join(listed)}] -> chunk[{', '.join(listed[:-1])}] }}")
    return Steps(
        statement=statement,
        cuts=dict.fromkeys(arrivals, cut),
        box=box,
        names=tuple(name_indices(len(listed))[:-1]),
        in_sequences=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedDeparture:
    """What leaves of one departure, and the steps of the statement that writes it."""

    flows: Flows
    departure: Departure
    chain: isl.Set
    steps: Steps
    type: str

    @property
    def last(self) -> isl.Map:
        """Return { t[e] -> [PE -> chunk[p]] }, the last step that adds to an element on a PE."""
        return self.flows.last_steps(self.steps.statement, self.steps.cuts)

    @property
    def order(self) -> isl.Map:
        """Return { t[e] -> [PE -> index] } of what leaves at the PEs of the chain."""
        return find_leaving(self.flows.adapted, self.departure, self.chain)

    @property
    def pes(self) -> isl.Set:
        """Return { PE[x, y] }, those of the chain that take what the steps go by."""
        taking = [self.flows.taken(name).range() for name in self.steps.cuts]
        return self.chain.intersect(functools.reduce(isl.Set.union, taking)).coalesce()

    @property
    def is_mixed(self) -> bool:
        """Say whether a PE gets sequences of several streams, which come in no common order."""
        taking = [self.flows.taken(name).range() for name in self.steps.cuts]
        pairs = itertools.combinations(taking, 2)
        return self.steps.in_sequences and not all(a.is_disjoint(b) for a, b in pairs)

    @property
    def completed(self) -> Completed:
        """Return what leaves after which steps, as tasks.yaml says."""
        assert self.departure.early is not None, "something leaves early"
        return find_completed(self.order, self.last, isl.Set(self.departure.early.after), self.pes)

    def slack(self, profile: Profile) -> int:
        """Return the cycles in which a PE waits for chunks, roughly; none for sequences."""
        if self.steps.in_sequences:
            return 0
        placed = list_maps(self.flows.adapted.placement)
        instances = sum(bound_points(bind_range(each, PE_NAMES)) for each in placed)
        arriving = sum(
            bound_points(bind_range(self.flows.taken(name), PE_NAMES)) for name in self.steps.cuts
        )
        return guess_slack(
            profile, self.type,
            arriving=arriving, instances=instances, steps=count(self.steps.known),
        )

    def is_alike(self, completed: Completed) -> bool:
        """Say whether all PEs of a lane send the same after the same steps."""
        sent = unbind_set(completed.after.wrap(), "PE", PE_NAMES)
        lane = isl.Map(LANES[self.departure.side])
        return lane.intersect_domain(self.pes).apply_range(sent).is_subset(sent)
