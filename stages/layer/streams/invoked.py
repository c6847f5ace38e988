"""What the instance sets of tasks are made of, and what all of them have.

Paper    V Sec. 5.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.routes.feedback import apply_feedback
from lairmake.stages.layer.streams.chunks import Flows, find_followed
from lairmake.stages.layer.texts.isl_files import Adapted, Routing
from lairmake.stages.layer.texts.task_graph import Graph
from lairmake.stages.poly.box import at_this_pe
from lairmake.stages.poly.canonical import from_domain, list_sets
from lairmake.stages.poly.functions import PE_NAMES, bind_range, bind_set
from lairmake.stages.poly.sides import Rectangle, apply_filter, at_index, at_pe, at_places, taken_by
from lairmake.stages.poly.text import Objects
from lairmake.stages.skewing.elements import Lair, find_running


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The task graph, the files that say what flows, and the local memory.

    `core` are the PEs that compute, `grid` those with their adapters; `local` are the shapes of
    local tensors, `by_tensor` [PE_X, PE_Y] -> { T[e] -> T_local[l] }.
    """

    graph: Graph
    adapted: Adapted
    lair: Lair
    routes: Routing
    flows: Flows
    local: Mapping[str, isl.Set]
    by_tensor: Mapping[str, isl.Map]
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
    graph: Graph, given: Lair, adapted: Adapted, routes: Routing, allocations: Objects
) -> Sources:
    """Return what the files of a layer say; `given` is the LAIR before tensors return."""
    lair = apply_feedback(given, adapted)
    return Sources(
        graph=graph,
        adapted=adapted,
        lair=lair,
        routes=routes,
        flows=flows_of(graph, given, adapted, routes),
        local={s.get_tuple_name(): s for s in list_sets(allocations["local"])},
        by_tensor=at_this_pe(allocations["to_local"]),
        core=adapted.target,
        grid=adapted.grid,
    )


def flows_of(graph: Graph, given: Lair, adapted: Adapted, routes: Routing) -> Flows:
    """Return what flows with the arrivals of a layer; `given` is the LAIR before tensors return."""
    return Flows(
        arrivals=graph.arrivals,
        lair=apply_feedback(given, adapted),
        adapted=adapted,
        routes=routes,
        follows=find_followed(graph.tasks),
    )


def find_pes(sources: Sources) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE computes }."""
    return bind_set(sources.core.as_set(), PE_NAMES)


def fill(tensor: str, known: isl.Set, sources: Sources) -> Invoked:
    """Return all of a local tensor: { T[e] : 0 <= local index of e < size }."""
    elements = sources.local[f"{tensor}_local"].apply(sources.by_tensor[tensor].reverse())
    return Invoked(instances=elements, known=known, access=identity(elements))


def move(order: isl.Map) -> Invoked:
    """Return { index[i] } per PE, the PEs that take part, and { index[i] -> T[e] }."""
    at, pes = at_pe(order), order.range_factor_domain().range()
    return Invoked(instances=at.domain(), known=bind_set(pes, PE_NAMES), access=at)


def find_arriving_at(name: str, sources: Sources) -> tuple[isl.Set, isl.Set]:
    """Return [PE_X, PE_Y, index...] -> { t[e] } of what PEs take, and what arrives, V (15).

    What enters a row or column reaches all its PEs that take some of it, but for filters.
    """
    taken = sources.routes.relation(name, "taken")
    everywhere = sources.flows.flow(name).everywhere
    colour = sources.graph.arrivals[name].colour
    passing = find_handed_on(colour, at_places(everywhere, taken.range()), sources)
    return at_index(taken_by(everywhere, taken)), at_index(passing).params()


def find_handed_on(colour: str, order: isl.Map, sources: Sources) -> isl.Map:
    """Return what the routers hand to their PEs of an order."""
    if not sources.routes.has(colour, "filter"):
        return order
    return apply_filter(order, sources.routes.relation(colour, "filter"))


def find_placed(statement: str, sources: Sources) -> isl.Set:
    """Return [PE_X, PE_Y] -> { S[i] : placed on PE }."""
    running = find_running(sources.lair, sources.adapted.placement)
    placement = isl.Map.from_union_map(from_domain(running, statement))
    return bind_range(placement, PE_NAMES)


def find_accesses(statement: str, sources: Sources) -> isl.UnionMap:
    """Return { S[i] -> T[e] } of all that a statement reads and writes."""
    return from_domain(sources.lair.reads.union(sources.lair.writes), statement)


def identity(elements: isl.Set) -> isl.Map:
    """Return { element -> element }."""
    return isl.Map.identity(elements.get_space().map_from_set())


def rename(order: isl.Map, name: str) -> isl.Map:
    """Return { name[e] -> [PE -> index] } of { T[e] -> [PE -> index] }."""
    return order.set_tuple_name(isl.dim_type.in_, name)
