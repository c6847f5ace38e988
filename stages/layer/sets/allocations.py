"""Local memory for the tensors that a PE keeps.

Paper    V Sec. 4.3
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.routes.feedback import apply_feedback
from lairmake.stages.layer.routes.lines import find_arriving, find_summed_elements, name_leaving
from lairmake.stages.layer.streams.invocations import flows_of
from lairmake.stages.layer.streams.rings import Ring, find_rings, find_rows
from lairmake.stages.layer.texts.isl_files import Adapted, Routing
from lairmake.stages.layer.texts.task_graph import Arrival, Graph, Halo, SumCollection
from lairmake.stages.poly.box import box
from lairmake.stages.poly.canonical import from_domain, list_maps
from lairmake.stages.poly.chunks import repeat_rows, roll, roll_in_boxes, roll_rows
from lairmake.stages.poly.compression import fit
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    find_index_constants,
    project_names,
)
from lairmake.stages.poly.text import write_objects
from lairmake.stages.skewing.elements import Lair, find_computed_elements, find_needed_elements

ALLOCATIONS_HEADER = """Local memory (Sec. 4.3).
accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8)."""
ROWS_HEADER = """
Where windows reach over chunks: [index...] -> { ... }, where elements lie when a chunk is taken."""


def write_allocations(graph: Graph, lair: Lair, adapted: Adapted, routes: Routing) -> str:
    """Return allocations.isl; `lair` is that before tensors return."""
    accessed = accessed_elements(graph, lair, adapted, routes)
    flows = flows_of(graph, lair, adapted, routes)
    rings, rows = find_rings(graph, flows), find_rows(graph, flows)
    local, to_local = isl.UnionSet("{ }"), isl.UnionMap("{ }")
    relations = {m.get_tuple_name(isl.dim_type.out): m for m in list_maps(accessed)}
    for tensor, relation in relations.items():
        host = _host(tensor, graph)
        if host is not None:
            relation = relations[host].set_tuple_name(isl.dim_type.out, tensor)
        with working_on(f"tensor {tensor}"):
            if tensor in rows:
                size, allocation = roll_rows(rows[tensor], f"{tensor}_local")
            elif tensor in rings:
                size, allocation = _roll(tensor, rings[tensor])
            else:
                size, allocation = allocate(relation, host)
        local = local.union(isl.UnionSet.from_set(size))
        to_local = to_local.union(isl.UnionMap.from_map(allocation))
    for halo in (task for task in graph.tasks.values() if isinstance(task, Halo)):
        tensor = halo.expression
        repeated = repeat_rows(rows[tensor], halo.target, f"{tensor}_local")
        to_local = to_local.union(isl.UnionMap.from_map(repeated))
        copied = project_names(repeated.domain(), find_index_constants(repeated))
        accessed = accessed.union(isl.UnionMap.from_map(copied.unwrap()))
    objects: dict[str, isl.UnionSet | isl.UnionMap]
    objects = {"accessed": accessed, "local": local, "to_local": to_local}
    return write_objects(ALLOCATIONS_HEADER + (ROWS_HEADER if rows else ""), objects)


def allocate(accessed: isl.Map, host: str | None = None) -> tuple[isl.Set, isl.Map]:
    """Return { T_local[l] : 0 <= l < size } and { [PE -> T[e]] -> T_local[e - offset(PE)] }.

    Size and offset are those of the fixed-size box hull of what a PE accesses, V (8). Where that
    is smaller in coordinates k(e) along strips or a lattice, it is T_local[k(e) - offset(PE)].
    T_local is that of `host`, if another tensor, of which a PE accesses the same elements, is to
    hold it.
    """
    name = f"{host or accessed.get_tuple_name(isl.dim_type.out)}_local"
    size, local = fit(bind_domain(accessed, PE_NAMES), name)
    pe = isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }")
    to_local = local.wrap().unbind_params_insert_domain(pe).uncurry()
    return box(name, size), to_local


def _roll(tensor: str, ring: Ring) -> tuple[isl.Set, isl.Map]:
    """Return the memory of a ring of slots, and where elements lie in it."""
    name = f"{tensor}_local"
    if ring.counts is None:
        return roll(ring.numbers, ring.depth, name)
    return roll_in_boxes(ring.numbers, ring.depth, ring.counts, name)


def _host(tensor: str, graph: Graph) -> str | None:
    """Return the tensor whose memory holds another one, if there is one."""
    return graph.tensors[tensor].stored_in if tensor in graph.tensors else None


def accessed_elements(
    graph: Graph, given: Lair, adapted: Adapted, routes: Routing
) -> isl.UnionMap:
    """Return { PE[x, y] -> tensor[e] } of all elements that a PE keeps, V (7).

    `given` is the LAIR before tensors return.
    """
    lair = apply_feedback(given, adapted)
    placement = adapted.placement
    needed = find_needed_elements(lair, placement)
    computed = find_computed_elements(lair, placement)
    kept = {
        "resident": needed, "stored": needed, "delayed": needed,
        "result": computed, "internal": computed,
    }
    result = isl.UnionMap("{ }")
    for name, tensor in graph.tensors.items():
        if tensor.kept in kept:
            result = result.union(from_domain(kept[tensor.kept], name))
    for name, arrival in graph.arrivals.items():
        if not arrival.sparse:
            result = result.union(received(arrival, name, adapted, routes))
    for name in {d.tensor for d in graph.departures.values() if d.result_of is None}:
        result = result.union(find_summed_elements(name, graph.departures, adapted, routes))
    for name, collection in graph.collections.items():
        if collection.in_turn is None:
            result = result.union(collected(collection, name, adapted, routes))
    return result.reverse().coalesce()


def received(
    arrival: Arrival,
    name: str,
    adapted: Adapted,
    routes: Routing,
) -> isl.UnionMap:
    """Return { tensor[e] -> PE } of the elements of a stream that a PE receives.

    And { tensor_source[e] -> PE } of all that a port sends to an adapter.
    """
    flow = find_arriving(adapted, arrival.tensor, arrival.side, arrival.part)
    members = routes.pes(name, "taken")
    found = isl.UnionMap("{ }")
    if arrival.operand_of is None:
        kept = flow.everywhere.range_factor_domain().intersect_range(members)
        found = isl.UnionMap.from_map(kept)
    if not arrival.spread:
        return found
    adapters = routes.pes(name, "adapters")
    heard = flow.heard.range_factor_domain().intersect_range(adapters)
    heard = heard.set_tuple_name(isl.dim_type.in_, f"{arrival.tensor}_source")
    return found.union(isl.UnionMap.from_map(heard))


def collected(
    collection: SumCollection,
    name: str,
    adapted: Adapted,
    routes: Routing,
) -> isl.UnionMap:
    """Return { tensor_collected[e] -> PE } of all elements that an adapter sums for a port."""
    ports = isl.Map.from_union_map(from_domain(adapted.collected, name_leaving(collection)))
    reach = routes.relation(name, "reach")
    summed = ports.range_factor_domain().apply_range(reach)
    name = f"{name_leaving(collection)}_collected"
    return isl.UnionMap.from_map(summed.set_tuple_name(isl.dim_type.in_, name))
