"""Instance sets of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.layer.routes.exchanges import find_order, is_computed
from lairmake.stages.layer.routes.feedback import apply_feedback
from lairmake.stages.layer.routes.lines import find_leaving, name_leaving
from lairmake.stages.layer.streams.chunks import Flows, find_followed, find_taken_chunks
from lairmake.stages.layer.streams.steps import SteppedDeparture, find_steps
from lairmake.stages.layer.texts.isl_files import Adapted, Routing, Said
from lairmake.stages.layer.texts.task_graph import (
    Clear,
    Collect,
    Departure,
    EarlySend,
    Hear,
    InTurn,
    Operate,
    Pack,
    ReceiveHalo,
    ReceiveTask,
    Relay,
    SendHalo,
    SendTask,
    Spread,
    TaskGraph,
)
from lairmake.stages.poly.box import at_this_pe, box
from lairmake.stages.poly.canonical import from_domain, list_maps, list_sets, to_range
from lairmake.stages.poly.chunks import bind_chunk
from lairmake.stages.poly.compression import fit
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    bind_range,
    bind_set,
    name_indices,
)
from lairmake.stages.poly.sides import (
    Rectangle,
    apply_filter,
    at_index,
    at_pe,
    at_places,
    fix_outer,
    on_side,
    relocate,
    taken_by,
)
from lairmake.stages.poly.text import Objects
from lairmake.stages.skewing.elements import Lair, find_running

# --- Sources of instance sets ---------------------------------------------------------------------
#
# Paper    V Sec. 5.1

@dataclass(frozen=True, slots=True, kw_only=True)
class InvokedSources:
    """The task graph, the files that say what flows, and the local memory.

    `core` are the PEs that compute, `grid` those with their adapters; `local` are the shapes of
    local tensors, `by_tensor` [PE_X, PE_Y] -> { T[e] -> T_local[l] }, `own` [PE_X, PE_Y] ->
    { T[e] } of what a PE keeps of a tensor.
    """

    graph: TaskGraph
    adapted: Adapted
    lair: Lair
    routes: Routing
    flows: Flows
    local: Mapping[str, isl.Set]
    by_tensor: Mapping[str, isl.Map]
    own: Mapping[str, isl.Set]
    core: Rectangle
    grid: Rectangle


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoked:
    """What one invocation of a task runs: its instances, and the symbolic constants for it.

    `access` is { instance -> element }, `steps` { instance -> [PE -> chunk] }, if it has any.
    """

    instances: isl.Set
    known: isl.Set
    access: isl.Map | isl.UnionMap | None = None
    steps: isl.Map | None = None


def sources_of(
    graph: TaskGraph, given: Lair, adapted: Adapted, routes: Routing, allocations: Objects
) -> InvokedSources:
    """Return what the files of a layer say; `given` is the LAIR before tensors return."""
    lair = apply_feedback(given, adapted)
    return InvokedSources(
        graph=graph,
        adapted=adapted,
        lair=lair,
        routes=routes,
        flows=flows_of(graph, given, adapted, routes),
        local={s.get_tuple_name(): s for s in list_sets(allocations["local"])},
        by_tensor=at_this_pe(allocations["to_local"]),
        own={
            m.get_tuple_name(isl.dim_type.out): bind_domain(m, PE_NAMES)
            for m in list_maps(allocations["accessed"])
        },
        core=adapted.target,
        grid=adapted.grid,
    )


def flows_of(graph: TaskGraph, given: Lair, adapted: Adapted, routes: Routing) -> Flows:
    """Return what flows with the arrivals of a layer; `given` is the LAIR before tensors return."""
    return Flows(
        arrivals=graph.arrivals,
        lair=apply_feedback(given, adapted),
        adapted=adapted,
        routes=routes,
        follows=find_followed(graph.tasks),
    )


def find_pes(sources: InvokedSources) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE computes }."""
    return bind_set(sources.core.as_set(), PE_NAMES)


def fill(tensor: str, known: isl.Set, sources: InvokedSources) -> Invoked:
    """Return all of a local tensor: { T[e] : 0 <= local index of e < size }.

    Of a buffer, whose margins other PEs fill, that is all in the box around what PE has of T.
    """
    to_local, described = sources.by_tensor[tensor], sources.graph.tensors.get(tensor)
    local = sources.local[to_local.get_tuple_name(isl.dim_type.out)]
    elements = local.apply(to_local.reverse())
    if described is not None and described.buffer is not None:
        shape, in_box = fit(sources.own[tensor], tensor)
        elements = elements.intersect(box(tensor, shape).apply(in_box.reverse()))
    return Invoked(instances=elements, known=known, access=identity(elements))


def move(order: isl.Map) -> Invoked:
    """Return { index[i] } per PE, the PEs that take part, and { index[i] -> T[e] }."""
    at, pes = at_pe(order), order.range_factor_domain().range()
    return Invoked(instances=at.domain(), known=bind_set(pes, PE_NAMES), access=at)


def find_arriving_at(name: str, sources: InvokedSources) -> tuple[isl.Set, isl.Set]:
    """Return [PE_X, PE_Y, index...] -> { t[e] } of what PEs take, and what arrives, V (15).

    What enters a row or column reaches all its PEs that take some of it, but for filters.
    """
    taken = sources.routes.relation(name, "taken")
    everywhere = sources.flows.flow(name).everywhere
    colour = sources.graph.arrivals[name].colour
    passing = find_handed_on(colour, at_places(everywhere, taken.range()), sources)
    return at_index(taken_by(everywhere, taken)), at_index(passing).params()


def find_handed_on(colour: str, order: isl.Map, sources: InvokedSources) -> isl.Map:
    """Return what the routers hand to their PEs of an order."""
    if not sources.routes.has(colour, "filter"):
        return order
    return apply_filter(order, sources.routes.relation(colour, "filter"))


def find_placed(statement: str, sources: InvokedSources) -> isl.Set:
    """Return [PE_X, PE_Y] -> { S[i] : placed on PE }."""
    running = find_running(sources.lair, sources.adapted.placement)
    placement = isl.Map.from_union_map(from_domain(running, statement))
    return bind_range(placement, PE_NAMES)


def find_accesses(statement: str, sources: InvokedSources) -> isl.UnionMap:
    """Return { S[i] -> T[e] } of all that a statement reads and writes, with views for tensors."""
    return from_domain(sources.lair.accesses.union(sources.lair.writes), statement)


def identity(elements: isl.Set) -> isl.Map:
    """Return { element -> element }."""
    return isl.Map.identity(elements.get_space().map_from_set())


def rename(order: isl.Map, name: str) -> isl.Map:
    """Return { name[e] -> [PE -> index] } of { T[e] -> [PE -> index] }."""
    return order.set_tuple_name(isl.dim_type.in_, name)

# --- Instances of tasks that move streams ---------------------------------------------------------
#
# They are the indices of elements.
#
# Paper    V Sec. 5.1

def receive(sources: InvokedSources, task: ReceiveTask) -> Invoked:
    """Return { index[i] : T[e] reaches the port of PE with i }, and which T[e]; or of a chunk."""
    order = sources.flows.passing(task.arrival)
    cut = sources.graph.arrivals[task.arrival].chunks
    if cut is None:
        return move(order)
    at = at_pe(order).intersect_domain(bind_chunk(isl.Map(cut.of)))
    pes = bind_set(order.range_factor_domain().range(), PE_NAMES)
    known = pes.intersect(find_taken_chunks(cut, rest=task.rest))
    return Invoked(instances=at.domain(), known=known, access=at)


def operate(sources: InvokedSources, task: Operate) -> Invoked:
    """Return { index[i] : S[j] reads what reaches PE's port with i }, and all S[j] accesses."""
    order = move(sources.flows.passing(task.arrival))
    accesses = find_accesses(task.statement, sources)
    assert isinstance(order.access, isl.Map), "a stream has one tensor"
    reads = isl.Map.from_union_map(
        to_range(accesses, sources.graph.arrivals[task.arrival].tensor)
    )
    reading = order.access.apply_range(reads.reverse())
    reading = reading.intersect_range(find_placed(task.statement, sources))
    return replace(order, access=isl.UnionMap.from_map(reading).apply_range(accesses))


def send(sources: InvokedSources, task: SendTask) -> Invoked:
    """Return { index[i] : T[e] leaves the port of PE with i }, and which T[e].

    Of a gather they are the elements that PE computes; with outer indices if it sends row by row.
    """
    stream = sources.graph.leaving[task.departure]
    order = _leaving(sources, task.departure, "chain")
    early = stream.early if isinstance(stream, Departure) else None
    if early is not None and early.sends is not None:
        rest = _stepped(sources, task.departure).completed.rest
        return replace(move(order), instances=rest)
    if stream.in_turn is None:
        return move(order)
    return _own_rows(sources, stream.tensor, order, stream.in_turn)


def send_halo(sources: InvokedSources, task: SendHalo) -> Invoked:
    """Return { index[e] : PE sends T[e] to its neighbour on a side }, and which T[e].

    In the first round PE has computed all that it sends: then it is the S[e] that T[e] becomes, by
    the name of the tensor that has taken the buffer of S, if one has.
    """
    order, moves = find_order(task.move, task.to, sources.routes, sent=True), sources.graph.moves
    if is_computed(task.move, task.to, moves):
        source = from_domain(sources.lair.carried, moves[task.move].tensor)
        order = order.apply_domain(isl.Map.from_union_map(source))
        name = order.get_tuple_name(isl.dim_type.in_)
        order = rename(order, sources.graph.swapped.get(name, name))
    return _exchange(order)


def receive_halo(sources: InvokedSources, task: ReceiveHalo) -> Invoked:
    """Return { index[e] : PE takes T[e], which moves to a side }, and which T[e]."""
    return _exchange(find_order(task.move, task.to, sources.routes, sent=False))


def _exchange(order: isl.Map) -> Invoked:
    """Return what `move` does of { T[e] -> [PE -> index[e]] }, and { index[e] -> T[e] } for all e.
    """
    found = move(order)
    index = found.instances.get_space().map_from_set()
    named = isl.Map.identity(index).set_tuple_name(
        isl.dim_type.out, order.get_tuple_name(isl.dim_type.in_))
    return replace(found, access=named) if at_pe(order).is_subset(named) else found


def _own_rows(sources: InvokedSources, tensor: str, order: isl.Map, rows: InTurn) -> Invoked:
    """Return what PEs send of a row, of all that leaves, that they compute themselves."""
    computed = sources.lair.writes.reverse().apply_range(sources.adapted.placement)
    own = isl.Map.from_union_map(from_domain(computed, tensor))
    at = at_pe(taken_by(order, own))
    names = name_indices(at.dim(isl.dim_type.in_))
    at = fix_outer(at, names[: len(rows.rows)])
    return Invoked(instances=at.domain(), known=at.domain().params(), access=at)


def early_send(sources: InvokedSources, task: EarlySend) -> Invoked:
    """Return { index[i] : T[e] leaves after a step of its statement, with i }, and which T[e]."""
    stepped = _stepped(sources, task.departure)
    found = stepped.completed
    return Invoked(
        instances=found.sent(stepped.steps.names),
        known=bind_set(stepped.pes, PE_NAMES).intersect(stepped.steps.known),
        access=found.at,
    )


def _stepped(sources: InvokedSources, name: str) -> SteppedDeparture:
    """Return what leaves early of a departure."""
    departure = sources.graph.departures[name]
    assert departure.early is not None, "something leaves early"
    steps = find_steps(departure.early.statement, sources.graph)
    assert steps is not None, "what leaves early does so after a step"
    return SteppedDeparture(
        flows=sources.flows,
        departure=departure,
        chain=sources.routes.pes(name, "chain"),
        steps=steps,
        type=sources.graph.tensors[departure.tensor].type,
    )


def pack(sources: InvokedSources, task: Pack) -> Invoked:
    """Return { index[i] : T[e] leaves the port of PE with outer indices and i }, and which T[e]."""
    order = _leaving(sources, task.departure, "last")
    at = at_pe(order)
    outer = name_indices(at.dim(isl.dim_type.in_))[:-1]
    at = fix_outer(at, outer)
    known = bind_set(order.range_factor_domain().range(), PE_NAMES)
    sequences = sources.graph.leaving[task.departure].sequences
    assert sequences is not None, "what is packed is sparse"
    for name, (low, high) in zip(outer, sequences.outer, strict=True):
        known = known.intersect(isl.Set(f"[{name}] -> {{ : {low} <= {name} <= {high} }}"))
    return Invoked(instances=at.domain(), known=known, access=at)


def clear(sources: InvokedSources, task: Clear) -> Invoked:
    """Return all of the memory in which adapters collect: { T[e] : 0 <= local index of e < size }.
    """
    members = isl.UnionSet("{ }")
    for name, collection in sources.graph.collections.items():
        if collection.departure == task.departure:
            members = members.union(sources.routes.pes(name, "chain"))
    known = bind_set(isl.Set.from_union_set(members), PE_NAMES)
    return fill(task.tensor, known, sources)


def collect(sources: InvokedSources, task: Collect) -> Invoked:
    """Return { index[i] : T[e] reaches an adapter with i }, and which T[e]."""
    stream = sources.graph.departures[task.departure]
    name = name_leaving(stream)
    order = on_side(_relation(sources.adapted.departures, name), stream.side, sources.core)
    return move(rename(order, f"{name}_collected"))


def relay(sources: InvokedSources, task: Relay) -> Invoked:
    """Return { index[new] : the element that reaches an adapter with index is sent on with new }.
    """
    stream, flow = sources.graph.arrivals[task.arrival], sources.flows.flow(task.arrival)
    wanted = taken_by(flow.heard, flow.sent.range_factor_domain())
    renumbered = at_pe(flow.sent).apply_range(at_pe(wanted).reverse())
    names = name_indices(renumbered.dim(isl.dim_type.out))
    known = at_index(find_handed_on(stream.source, flow.heard, sources)).params()
    return Invoked(instances=bind_range(renumbered, names), known=known)


def hear(sources: InvokedSources, task: Hear) -> Invoked:
    """Return { index[i] : T[e] reaches an adapter with i }, and which T[e]."""
    return _source(sources, task.arrival, sources.flows.flow(task.arrival).heard)


def spread(sources: InvokedSources, task: Spread) -> Invoked:
    """Return { index[i] : an adapter sends T[e] on with i }, and which T[e]."""
    return _source(sources, task.arrival, sources.flows.flow(task.arrival).sent)


def _source(sources: InvokedSources, arrival: str, order: isl.Map) -> Invoked:
    """Return { index[i] } per adapter, the adapters, and { index[i] -> T_source[e] }."""
    return move(rename(order, f"{sources.graph.arrivals[arrival].tensor}_source"))


def _leaving(sources: InvokedSources, name: str, part: Said) -> isl.Map:
    """Return { T[e] -> [PE -> index] } of what leaves, at the PEs of its chain, or the last."""
    stream = sources.graph.leaving[name]
    pes = sources.routes.pes(name, part)
    if name in sources.graph.departures:
        return find_leaving(sources.adapted, stream, pes)
    reach = sources.routes.relation(name, "reach")
    relation = _relation(sources.adapted.collected, name_leaving(stream))
    order = relocate(on_side(relation, stream.side, sources.grid), reach)
    return rename(at_places(order, pes), f"{name_leaving(stream)}_collected")


def _relation(orders: isl.UnionMap, tensor: str) -> isl.Map:
    return isl.Map.from_union_map(from_domain(orders, tensor))
