"""Steps of a statement, and early sends."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.estimate.guess import guess_send, guess_slack
from lairmake.stages.layer.routes.lines import find_forwarded, find_leaving
from lairmake.stages.layer.routes.resources import count_free_threads
from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.layer.texts.task_graph import (
    Arrival,
    Chunks,
    Compute,
    Departure,
    Early,
    React,
    TaskGraph,
)
from lairmake.stages.machine.scarcity import note_shortage
from lairmake.stages.poly.box import ExactBounds, exact_bounds, find_constant_size, find_fixed_size
from lairmake.stages.poly.canonical import from_domain, list_maps
from lairmake.stages.poly.cardinality import bound_points, count
from lairmake.stages.poly.chunks import Completed, find_completed, is_in_order, list_stops
from lairmake.stages.poly.compression import compress, keeps_order
from lairmake.stages.poly.expression import count_operations, express_condition
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_range,
    bind_set,
    greatest,
    name_indices,
    project_names,
    unbind_set,
)
from lairmake.stages.poly.sides import taken_by
from lairmake.stages.poly.text import spell_object

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Steps of a statement -------------------------------------------------------------------------
#
# They are the sequences of a sparse tensor, or the chunks of dense ones. Positions of what leaves
# are complete after some of them.
#
# Paper    V Sec. 4.2

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
class StepRoom:
    """How many sends may wait in the queue of a PE, and why there may be more.

    `alone`: every PE is alone on its lane. `in_step`: all tasks that take elements are those of
    the steps.
    """

    sends: int
    alone: bool
    in_step: bool


def find_steps(statement: str, graph: TaskGraph) -> Steps | None:
    """Return the steps of a statement, given what tasks.yaml says; None if it is one step."""
    tasks = graph.tasks.values()
    for task in tasks:
        if isinstance(task, Compute) and task.statement == statement and task.chunks:
            return _chunk_steps(statement, find_cuts(task, graph))
    reacting = [t.arrival for t in tasks if isinstance(t, React) and t.statement == statement]
    return _sequence_steps(statement, {name: graph.arrivals[name] for name in reacting})


def find_cuts(task: Compute, graph: TaskGraph) -> dict[str, Chunks]:
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
        # The end of a sequence sends what its number completes (EarlySends.end_sequence), whichever
        # stream it is of: with two of them the first end would send before all is there, and the
        # second one would send it again.
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
        # `lane` pairs each PE of `pes` with all of its lane, itself too: the subset says that
        # whatever one of these sends after a step, each of `pes` sends after the same. It is the
        # premise of the second case of why nothing comes to a stop, below at choose_early_sends.
        sent = unbind_set(completed.after.wrap(), "PE", PE_NAMES)
        lane = isl.Map(LANES[self.departure.side])
        return lane.intersect_domain(self.pes).apply_range(sent).is_subset(sent)

# --- Rows that leave early ------------------------------------------------------------------------
#
# They are rows of a gathered departure, and leave while its statement still runs. All PEs of a lane
# send the same rows after a step, so that nothing comes to a stop: see below.
#
# Paper    V Sec. 4.2

def choose_rows(stepped: SteppedDeparture, room: StepRoom) -> Early | None:
    """Return the steps after which rows leave, and how many; None if they all leave at the end.

    The last rows leave after the last step.
    """
    outer = len(stepped.departure.in_turn.rows) if stepped.departure.in_turn else 0
    if outer == 0 or not room.in_step or not stepped.chain.is_subset(stepped.pes):
        return None
    best = None
    for stops in list_stops(stepped.last, stepped.steps.box):
        completed = find_rows_after(stepped, stops, outer)
        count = _rows_each(completed, stepped, stops)
        if count is not None:
            best = Early(
                statement=stepped.steps.statement,
                after=spell_object(stops),
                all=True,
                rows=count,
                why="a row is sent once it is there",
            )
    return best


def find_rows_after(stepped: SteppedDeparture, stops: isl.Set, outer: int) -> Completed:
    """Return { row[o] -> the first stop after which all elements of a row are there }."""
    computed = stepped.flows.lair.writes.reverse()
    computed = computed.apply_range(stepped.flows.adapted.placement)
    own = isl.Map.from_union_map(from_domain(computed, stepped.departure.tensor))
    completed = find_completed(taken_by(stepped.order, own), stepped.last, stops, stepped.pes)
    late = _rows(completed.rest, outer)
    after = greatest(_rows_of(completed.after, outer)).subtract_domain(late)
    return Completed(at=_rows_of(completed.at, outer), after=after)


def _rows_each(completed: Completed, stepped: SteppedDeparture, stops: isl.Set) -> int | None:
    """Return how many rows leave after each stop; None if that varies, or some do not leave."""
    if completed.after.is_empty() or not is_in_order(completed) or not completed.rest.is_empty():
        return None
    if not stepped.is_alike(completed):
        return None
    elements = completed.sent(stepped.steps.names)
    known = bind_set(stepped.chain, PE_NAMES).intersect(bind_set(stops, stepped.steps.names))
    bounds = exact_bounds(compress(elements).set, known)
    sizes = find_constant_size(bounds) if bounds.is_box else None
    if sizes is None or not known.is_subset(elements.params()):
        return None
    found = 1
    for size in sizes:
        found *= size
    return found


def _rows(indices: isl.Set, outer: int) -> isl.Set:
    """Return { row[o] } of { index[o, i] }."""
    inner = indices.dim(isl.dim_type.set) - outer
    return indices.project_out(isl.dim_type.set, outer, inner).set_tuple_name("row")


def _rows_of(relation: isl.Map, outer: int) -> isl.Map:
    """Return { row[o] -> x } of { index[o, i] -> x }."""
    inner = relation.dim(isl.dim_type.in_) - outer
    projected = relation.project_out(isl.dim_type.in_, outer, inner)
    return projected.set_tuple_name(isl.dim_type.in_, "row")

# --- Early sends of departures --------------------------------------------------------------------
#
# A part of a departure leaves while its statement still runs, after some of its steps. What leaves
# early costs a guard in each step, and an instruction for each send; all that is sent before the
# last step is saved at the end.
#
# Nothing comes to a stop by that. An instruction that sends may wait for a PE farther in; as long
# as there is room in the queue of instructions, tasks run all the same, and take all that arrives.
# It may be full without harm
#
# - where each PE is alone on its lane, for then its sends wait for the port only;
# - where all that arrives by tasks is what the steps go by, and all PEs of a lane send the same
#   after a step. Of the PEs that have run the fewest steps, m, one could not go on only if its
#   queue were full, or if the next chunk did not reach it, but waits at another PE with m steps and
#   a full queue. What that queue sends first belongs to a step up to m, and all PEs of the lane
#   have run these: it is on its way from the deepest one to the port, and there nothing waits for a
#   task. So it is where PEs forward chunks, but not where replicas come for one PE after another.
#
# Else all sends of a PE together leave room in its queue, and where adapters let lanes pass in
# turn. What is fed back does not leave early, nor what waits for other departures; and where
# something is fed back, only what waits for the port does, or for adapters that wait for no other.
#
# Paper    V Sec. 4.2

@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The gain of early sends after some chunks: of `all` that leaves or a part, in `sends` sends.

    `spent` are cycles of a PE, `saved` those of the whole. It is `crowded` where a PE has too few
    threads for so many sends.
    """

    after: str
    all: bool
    sends: int
    spent: int
    saved: int
    crowded: bool = False


def choose_early_sends(
    graph: TaskGraph,
    flows: Flows,
    writers: Mapping[str, str],
    profile: Profile,
    prefer: str | None,
) -> dict[str, Early]:
    """Return, by departure, what tasks.yaml says of what leaves early.

    `graph` is what tasks.yaml says otherwise; `writers` gives the statement of a tensor. Where
    layer.yaml prefers the paper's choices, cycles have no part in it.
    """
    best = choose_most if prefer == "paper" else choose_best
    found: dict[str, Early] = {}
    dense = {name: each for name, each in graph.departures.items() if each.sequences is None}
    feedback = any(departure.feedback is not None for departure in graph.departures.values())
    in_turn = find_forwarded(graph.collections)
    replicas = any(arrival.replicas for arrival in graph.arrivals.values())
    for name, departure in dense.items():
        steps = find_steps(writers[departure.tensor], graph)
        if steps is None:
            continue
        chain, first = flows.routes.pes(name, "chain"), flows.routes.pes(name, "first")
        type_ = graph.tensors[departure.tensor].type
        stepped = SteppedDeparture(
            flows=flows, departure=departure, chain=chain, steps=steps, type=type_
        )
        in_step = set(steps.cuts) == set(_taking_tasks(graph)) and not replicas
        room = StepRoom(
            sends=free_instructions(graph, profile) // len(dense),
            alone=chain.is_equal(first) and name not in in_turn,
            in_step=in_step and name not in in_turn,
        )
        chosen = None
        takes_turns = departure.feedback is not None or bool(departure.waits)
        waits = takes_turns or (feedback and not room.alone)
        if not stepped.is_mixed and not waits:
            summed = departure.in_turn is None
            chosen = _choose(stepped, room, profile, best) if summed else choose_rows(stepped, room)
        if chosen is not None:
            found[name] = chosen
    return found


def free_instructions(graph: TaskGraph, profile: Profile) -> int:
    """Return how many more instructions may wait on a PE: with too many, no task starts.

    There is one for each departure besides, and those that take arrivals.
    """
    dense = [arrival for arrival in graph.arrivals.values() if not arrival.sparse]
    # 2 is cutting.AHEAD, which cannot be imported: cutting imports rings, and rings this module.
    receives = sum(1 if arrival.chunks is None else 2 for arrival in dense)
    threads = count_free_threads(profile, len(graph.arrivals) - len(dense))
    return max(0, threads - 1 - receives - len(graph.departures))


def _taking_tasks(graph: TaskGraph) -> list[str]:
    """Return the arrivals that a PE takes only as long as its tasks run."""
    arrivals = graph.arrivals.items()
    return [name for name, each in arrivals if each.sparse or each.chunks is not None]


def _choose(
    stepped: SteppedDeparture,
    room: StepRoom,
    profile: Profile,
    best_of: Callable[[Sequence[Gain]], Gain | None],
) -> Early | None:
    """Return the steps after which a departure is sent, and why; None if all leaves at the end."""
    last, order, pes = stepped.last, stepped.order, stepped.pes
    found = [
        gain
        for stops in list_stops(last, stepped.steps.box)
        if (gain := _gain(stops, find_completed(order, last, stops, pes), stepped, room, profile))
    ]
    best = best_of(found)
    if best is not None and best.crowded:
        note_shortage("threads")
        best = best_of([gain for gain in found if not gain.crowded])
    if best is None:
        return None
    return Early(
        statement=stepped.steps.statement,
        after=best.after,
        all=best.all,
        sends=best.sends,
        why=f"some {best.saved} cycles saved, {best.spent} of a PE more",
    )


def choose_best(found: Sequence[Gain]) -> Gain | None:
    """Return what saves most, and costs least; None if nothing saves anything."""
    best = max(found, key=lambda gain: (gain.saved, -gain.spent), default=None)
    return best if best is not None and best.saved > 0 else None


def choose_most(found: Sequence[Gain]) -> Gain | None:
    """Return the most sends of those that leave a part to the end, whatever they cost."""
    return max((gain for gain in found if not gain.all), key=lambda gain: gain.sends, default=None)


def _gain(
    stops: isl.Set,
    completed: Completed,
    stepped: SteppedDeparture,
    room: StepRoom,
    profile: Profile,
) -> Gain | None:
    """Return whether all leaves early, in how many sends, and the cycles that are saved.

    None if it is out of order, or no boxes; too many sends are crowded, and save at most so much.
    """
    if completed.after.is_empty() or not is_in_order(completed):
        return None
    names, elements = stepped.steps.names, completed.sent(stepped.steps.names)
    whole = completed.rest.is_empty()
    members = bind_set(stepped.chain, PE_NAMES)
    if not (whole or members.is_subset(completed.rest.params())):
        return None
    early, rest = _bounds(elements), _bounds(completed.rest)
    if early is None or rest is None or find_fixed_size(rest, ()) is None:
        return None
    sent_after = project_names(elements.params(), PE_NAMES)
    sends = _count(sent_after, names)
    alone = room.alone or (room.in_step and stepped.is_alike(completed))
    crowded = sends > room.sends and not alone
    varies = find_fixed_size(early, names) is None
    each = guess_send(profile, alone=room.alone, varies=varies)
    tests = 0 if crowded else _tests(sent_after, stepped.steps)  # at least
    spent = sends * each + profile.scalar * tests
    hidden = stepped.slack(profile) * (sends - 1) // sends
    elements_sent = count(elements) // count(elements.params()) * (sends - whole)
    saved = elements_sent - max(each, spent - hidden)
    after = spell_object(stops)
    return Gain(
        after=after, all=whole, sends=sends, spent=spent, saved=saved, crowded=crowded
    )


def _tests(stops: isl.Set, steps: Steps) -> int:
    """Return the operations that find out after which steps something leaves."""
    found = 0
    for known in steps.ends:
        guard = None if known.is_disjoint(stops) else express_condition(stops, known)
        found += count_operations(guard) * _count(known, steps.names) if guard else 0
    return found


def _count(known: isl.Set, names: tuple[str, ...]) -> int:
    listed = ", ".join(names)
    return count(known.unbind_params(isl.MultiId(f"[{listed}] -> {{ [{listed}] }}")))


def _bounds(elements: isl.Set) -> ExactBounds | None:
    """Return the bounds of a set that is a box, compressed, in order; None if it is none."""
    compressed = compress(elements)
    if not keeps_order(compressed.map, compressed.set):
        return None
    bounds = exact_bounds(compressed.set, elements.params())
    return bounds if bounds.is_box else None
