"""Rings: local memory of tensors that roll."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import islpy as isl

from lairmake.stages.layer.routes.lines import find_forwarded
from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.layer.streams.steps import SteppedDeparture, Steps, find_steps
from lairmake.stages.layer.texts.task_graph import Compute, Departure, Early, Held, TaskGraph
from lairmake.stages.poly.canonical import from_domain, to_range
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.chunks import (
    Cut,
    Rows,
    cut_order,
    find_completed,
    find_reach,
    find_reuse,
    is_in_order,
    number_order,
)
from lairmake.stages.poly.functions import PE_NAMES, bind_set
from lairmake.stages.poly.text import spell_object

if TYPE_CHECKING:
    from lairmake.stages.lair.layer import Layer, Statement
    from lairmake.stages.layer.streams.chunks import Triggers
    from lairmake.stages.layer.texts.task_graph import Arrival

# --- Rings of tasks.yaml --------------------------------------------------------------------------
#
# A ring says with which chunk each element of a tensor that rolls comes, or leaves; and, where
# windows reach over the chunks of an arrival, in which row of its ring it lies.
#
# Paper    V Sec. 4.3

@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRing:
    """{ T[e] -> [PE -> [n]] }, the chunk of each element, and how many chunks are in memory.

    With `counts` these are the chunks in each dimension, and all of a slot may be used in a step.
    """

    numbers: isl.Map
    depth: int
    counts: tuple[int, ...] | None = None


def find_rings(graph: TaskGraph, flows: Flows) -> dict[str, TensorRing]:
    """Return the rings, by tensor: chunks in which it arrives, or steps that compute it."""
    found: dict[str, TensorRing] = {}
    for name, arrival in graph.arrivals.items():
        if arrival.chunks is None or arrival.chunks.ring is None or arrival.chunks.window:
            continue
        cut = cut_order(flows.passing(name), isl.Map(arrival.chunks.of))
        numbers = number_order(cut, arrival.chunks.counts)
        if arrival.tensor in found:
            numbers = numbers.union(found[arrival.tensor].numbers)
        found[arrival.tensor] = TensorRing(numbers=numbers.coalesce(), depth=arrival.chunks.ring)
    for departure in graph.departures.values():
        if departure.early is None or departure.early.ring is None:
            continue
        steps = find_steps(departure.early.statement, graph)
        assert steps is not None, "what rolls leaves after steps"
        found[departure.tensor] = _by_steps(steps, departure.early.ring, flows, graph)
    computing = [task for task in graph.tasks.values() if isinstance(task, Compute)]
    for name, tensor in graph.tensors.items():
        if tensor.ring is not None:
            steps = find_steps(next(t.statement for t in computing if t.target == name), graph)
            assert steps is not None, "what rolls is computed in steps"
            found[name] = _by_steps(steps, tensor.ring, flows, graph)
    return found


def find_rows(graph: TaskGraph, flows: Flows) -> dict[str, Rows]:
    """Return the rows of the rings that have some, by tensor."""
    found: dict[str, Rows] = {}
    for name, arrival in graph.arrivals.items():
        chunks = arrival.chunks
        if chunks is not None and chunks.ring is not None and chunks.window is not None:
            found[arrival.tensor] = Rows(
                places=cut_order(flows.passing(name), isl.Map(chunks.window.places)),
                rows=chunks.window.rows,
                counts=chunks.counts,
                depth=chunks.ring,
                halo=chunks.window.halo,
            )
    return found


def _by_steps(steps: Steps, depth: int, flows: Flows, graph: TaskGraph) -> TensorRing:
    """Return the ring of what a statement computes in steps.

    Those of windows may be smaller at the beginning and the end: they use all of a slot.
    """
    numbers = number_order(flows.last_steps(steps.statement, steps.cuts), steps.counts)
    chunks = (graph.arrivals[name].chunks for name in steps.cuts)
    reaching = any(each is not None and each.window is not None for each in chunks)
    return TensorRing(numbers=numbers, depth=depth, counts=steps.counts if reaching else None)

# --- Arrivals that may roll -----------------------------------------------------------------------
#
# Their elements lie in memory only as long as they are used. A statement that goes by chunks of
# streams runs a step once a chunk of each is there. Elements that were used last in this step make
# room for a chunk that is received only then. Until then nothing takes that chunk, and its sender
# waits.
#
# That holds nobody up for ever. Let some PEs have run fewer steps than all others, m of them, and
# let one of these miss a chunk of step m. On the way of that stream are only PEs that have run m
# steps or more, and so have room for this chunk, and for all before it, as the chunks of a stream
# have one order everywhere. Nor do their other streams keep them from taking it: each has
# instructions of its own. Whatever else a step needs is kept as a whole, whenever it comes, and
# waits for no step. So there are no rings
#
# - where a statement needs all of a stream before its first step with others, or as a whole;
# - where what a statement waits for comes back from other PEs, which may wait for its steps;
# - where some elements never arrive, and are `otherwise` what layer.yaml says: no chunk has these;
# - where a stream reaches PEs one after another, and the others that it goes with do not.
#
# Paper    V Sec. 4.2

def find_obstacle(
    names: Collection[str], layer: Layer, triggers: Triggers, arrivals: Mapping[str, Arrival]
) -> Held | None:
    """Return why arrivals that go together cannot roll; None if they can."""
    return next(_list_obstacles(names, layer, triggers, arrivals), None)


def _list_obstacles(
    names: Collection[str], layer: Layer, triggers: Triggers, arrivals: Mapping[str, Arrival]
) -> Iterator[Held]:
    tensors = {arrivals[name].tensor for name in names}
    for carry in layer.carries:
        if carry.source in tensors:
            yield Held(why=f"a later invocation needs {carry.source}")
    for name, arrival in arrivals.items():
        if name in names and arrival.otherwise is not None:
            yield Held(why=f"some of {arrival.tensor} never arrives, and is there from the start")
        if arrival.tensor in tensors and name not in names:
            yield Held(why=f"{name} brings some of {arrival.tensor} at times of its own")
        if name in names and arrival.replicas and len(names) > 1:
            others = tuple(other for other in names if other != name)
            why = f"{name} reaches one PE after another, and {', '.join(others)} all at a time"
            yield Held(why=why, others=others)
    for statement in layer.statements:
        yield from _list_waits(statement, names, triggers, arrivals)


def _list_waits(
    statement: Statement, names: Collection[str], triggers: Triggers,
    arrivals: Mapping[str, Arrival],
) -> Iterator[Held]:
    """Yield for which arrivals a statement waits that reads some of these."""
    read = {access.tensor for access in statement.reads}
    reading = [name for name, arrival in arrivals.items() if arrival.tensor in read]
    own = triggers.arrivals.get(statement.name, ())
    if not (set(reading) | set(own)) & set(names):
        return
    for name in names:
        if name in reading and name not in own:
            first = f" before it takes {own[0]}" if own else ""
            yield Held(why=f"{statement.name} waits for all of {name}{first}", others=tuple(own))
    for name in reading:
        if name not in own and arrivals[name].feedback is not None:
            why = f"{statement.name} waits for {name}, which comes back from other PEs"
            yield Held(why=why)

# --- Results that roll ----------------------------------------------------------------------------
#
# They lie in memory only until they have left. A statement that runs in steps sends after each step
# what that has completed. A step has the memory of the one which ran so many steps before, and runs
# only once what was sent from there has left. Here nothing but the port takes that, for each PE is
# alone on its lane: so it leaves whatever other PEs do, and what is said above of arrivals still
# holds.
#
# Paper    V Sec. 4.2

DEPTH = 2
"""Steps whose results are in memory: of one they are computed while those of another leave."""


def choose_leaving_rings(
    graph: TaskGraph, flows: Flows, layer: Layer, in_place: Mapping[str, str]
) -> dict[str, Early]:
    """Return, by departure, what leaves after each step, and makes room by that.

    `graph` is what tasks.yaml says otherwise; tensors `in_place` share memory.
    """
    read = {access.tensor for statement in layer.statements for access in statement.reads}
    read |= {carry.source for carry in layer.carries} | {carry.tensor for carry in layer.carries}
    shared = {*read, *in_place, *in_place.values()}
    found: dict[str, Early] = {}
    for name, departure in graph.departures.items():
        if _leaves_alone(name, graph, flows, shared):
            writer = next(s for s in layer.statements if s.target.tensor == departure.tensor)
            steps = find_steps(writer.name, graph)
            early = None if steps is None else _after_each(departure, name, steps, graph, flows)
            found |= {} if early is None else {name: early}
    return found


def _leaves_alone(name: str, graph: TaskGraph, flows: Flows, shared: Collection[str]) -> bool:
    """Say whether nothing but a departure needs its tensor, and nothing but the port takes it."""
    departure, departures = graph.departures[name], graph.departures.values()
    if departure.tensor in shared or sum(d.tensor == departure.tensor for d in departures) > 1:
        return False
    simple = departure.sequences is None and departure.in_turn is None and not departure.waits
    simple = simple and departure.feedback is None and not departure.collected
    chain, first = flows.routes.pes(name, "chain"), flows.routes.pes(name, "first")
    alone = chain.is_equal(first) and name not in find_forwarded(graph.collections)
    return simple and departure.out is None and alone


def _after_each(
    departure: Departure, name: str, steps: Steps, graph: TaskGraph, flows: Flows
) -> Early | None:
    """Return that something leaves after each step; None if it does not, or not in order.

    Each element is computed in a single step, and each PE runs all steps.
    """
    if steps.in_sequences:
        return None
    chain = flows.routes.pes(name, "chain")
    if not all(flows.taken(arrival).range().is_equal(chain) for arrival in steps.cuts):
        return None
    writes = isl.Map.from_union_map(from_domain(flows.lair.writes, steps.statement))
    found = writes.reverse().apply_range(flows.steps(steps.statement, steps.cuts))
    if not found.is_single_valued():
        return None
    type_ = graph.tensors[departure.tensor].type
    stepped = SteppedDeparture(
        flows=flows, departure=departure, chain=chain, steps=steps, type=type_
    )
    stops = steps.every
    completed = find_completed(stepped.order, stepped.last, stops, stepped.pes)
    sending = completed.sent(steps.names).params()
    known = bind_set(stepped.pes, PE_NAMES).intersect(steps.known)
    if not (completed.rest.is_empty() and is_in_order(completed) and known.is_subset(sending)):
        return None
    return Early(
        statement=steps.statement, after=spell_object(stops), all=True, sends=count(stops),
        ring=DEPTH, why="what has left makes room",
    )

# --- Tensors that roll from step to step ----------------------------------------------------------
#
# One statement hands such a tensor to others, step by step. Each element is computed and read in
# one step, and the statements that read it wait for nothing but the chunks by which it is computed.
# So their steps follow at once: what a step computed is needed no more when the next one runs, and
# all use the same memory. A statement that waits for room for its results reads a tensor that is
# kept as a whole.
#
# Paper    V Sec. 4.2

def find_passing_rings(
    graph: TaskGraph,
    flows: Flows,
    layer: Layer,
    in_place: Mapping[str, str],
    rolling: Collection[str],
) -> list[str]:
    """Return the internal tensors of which only what one step computes is needed at a time.

    `graph` is what tasks.yaml says otherwise; tensors `in_place` share memory. Steps of the
    statements that are `rolling` wait for room.
    """
    kept = {carry.source for carry in layer.carries} | {carry.tensor for carry in layer.carries}
    kept |= {*in_place, *in_place.values()}
    kept |= {departure.tensor for departure in graph.departures.values()}
    free = {s.name for s in layer.statements if _goes_on(s, graph, rolling)}
    return [
        statement.target.tensor
        for statement in layer.statements
        if graph.tensors[statement.target.tensor].kept == "internal"
        and statement.target.tensor not in kept
        and f"init_{statement.target.tensor}" not in graph.tasks
        and _is_passed_on(statement, graph, flows, layer, free)
    ]


def _goes_on(statement: Statement, graph: TaskGraph, rolling: Collection[str]) -> bool:
    """Say whether a step of a statement waits for nothing but chunks, and the steps before it."""
    computing = (task for task in graph.tasks.values() if isinstance(task, Compute))
    task = next((each for each in computing if each.statement == statement.name), None)
    if task is None or not task.chunks or statement.name in rolling:
        return False
    read = {access.tensor for access in statement.reads}
    arriving = {name for name, arrival in graph.arrivals.items() if arrival.tensor in read}
    return arriving <= {*task.chunks} and {*graph.waits.get(task.statement, ())} <= {*task.follows}


def _is_passed_on(
    statement: Statement, graph: TaskGraph, flows: Flows, layer: Layer, free: Collection[str]
) -> bool:
    """Say whether all that read an element do so in the step that computes it, on its PE.

    Steps of statements that are `free` follow at once.
    """
    steps, tensor = find_steps(statement.name, graph), statement.target.tensor
    if steps is None or steps.in_sequences or statement.name not in free:
        return False
    last = flows.last_steps(statement.name, steps.cuts)
    readers = [s for s in layer.statements if any(a.tensor == tensor for a in s.reads)]
    for reader in readers:
        own = find_steps(reader.name, graph)
        if reader.name not in free or own is None or own.counts != steps.counts:
            return False
        if own.cuts.keys() != steps.cuts.keys():
            return False
        reads = to_range(from_domain(flows.lair.reads, reader.name), tensor)
        used = isl.Map.from_union_map(reads).reverse()
        if not used.apply_range(flows.steps(reader.name, own.cuts)).is_subset(last):
            return False
    return flows.steps(statement.name, steps.cuts).range().is_equal(last.range())

# --- Reach of statements back in streams ----------------------------------------------------------
#
# It says what must be in memory for the windows of statements, where streams roll.
#
# Paper    V Sec. 4.3

Windows = Literal["long", "short", "none"]
"""Lengths of the chunks of windows where memory is short; without halos, if `none`."""


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
    """Return, for each arrival, the number of chunks in memory, and the rows of its halo.

    Chunks are those of the steps in which an element is used, and those that are received `ahead`;
    None for all of them. Windows that reach over several chunks have a halo, if there are to be
    `halos`.
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
    """Return the most steps after that of its chunk at which an element of some arrival is used."""
    found = 0
    for name, cut in cuts.by_arrival.items():
        for statement, steps in _list_steps(cuts, name):
            needed = cut_order(cuts.flows.indices(statement, name), cut.of)
            found = max(found, find_reuse(steps, needed, cut.counts))
    return found


def find_halo(cuts: Cuts, name: str) -> int | None:
    """Return how many rows of an arrival before those of its chunk a step needs; None for no halo.

    An arrival has no halo, either, if a PE may get other elements of the tensor by another arrival.
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
