"""Sets of tasks: local memory, instances, compressions, box hulls, sizes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.routes.exchanges import find_members
from lairmake.stages.layer.routes.feedback import apply_feedback
from lairmake.stages.layer.routes.lines import find_arriving, find_summed_elements, name_leaving
from lairmake.stages.layer.streams import invocations
from lairmake.stages.layer.streams.invocations import (
    Invoked,
    InvokedSources,
    fill,
    find_accesses,
    find_arriving_at,
    find_pes,
    find_placed,
    flows_of,
    identity,
    sources_of,
)
from lairmake.stages.layer.streams.rings import TensorRing, find_rings, find_rows
from lairmake.stages.layer.streams.steps import find_cuts, find_steps
from lairmake.stages.layer.texts.isl_files import (
    Adapted,
    Compressions,
    Instances,
    Routing,
    compressed_objects,
    invoked_objects,
)
from lairmake.stages.layer.texts.task_graph import (
    Arrival,
    Carry,
    Compute,
    ForKind,
    Halo,
    Initialise,
    React,
    Runs,
    StoreTask,
    SumCollection,
    TaskGraph,
)
from lairmake.stages.poly.box import (
    BoxHull,
    accessed_by,
    as_set,
    at_this_pe,
    bound_set,
    box,
    box_hull,
    enumerate_sizes,
    exact_bounds,
    extra_instances,
    find_conflict,
    find_fixed_size,
    offset_set,
    size_set,
)
from lairmake.stages.poly.canonical import from_domain, list_maps, list_sets, to_range
from lairmake.stages.poly.chunks import chunks, repeat_rows, roll, roll_in_boxes, roll_rows
from lairmake.stages.poly.compression import compress, drop_hidden_equalities, drop_holes, fit
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    bind_range,
    bind_set,
    find_index_constants,
    project_names,
)
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import at_index
from lairmake.stages.poly.text import Objects, write_objects
from lairmake.stages.skewing.elements import (
    Lair,
    find_computed_elements,
    find_needed_elements,
    find_running,
)

# --- Instances of one invocation ------------------------------------------------------------------
#
# Paper    V Sec. 5.1

InstanceObject = isl.Set | isl.Map | isl.UnionMap
INSTANCES_HEADER = """What one invocation of each task runs (Sec. 5.1).
T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
T_known: the symbolic constants with which T is invoked, eq. (15).
T_access: { instance -> element }, where an instance of a stream is the index of its element."""
STEPS_HEADER = """
T_steps: { instance -> [PE[x, y] -> chunk[p]] }, the chunk after which it runs."""


def write_instances(
    graph: TaskGraph, lair: Lair, adapted: Adapted, routes: Routing, allocations: Objects
) -> str:
    """Return instances.isl."""
    sources = sources_of(graph, lair, adapted, routes, allocations)
    objects: dict[str, InstanceObject] = {}
    in_steps = False
    for name, task in sources.graph.tasks.items():
        with working_on(f"task {name}"):
            invoked = INVOKED(sources, task)
        objects |= invoked_objects(
            name, invoked.instances, invoked.known, invoked.access, invoked.steps
        )
        in_steps |= invoked.steps is not None
    header = INSTANCES_HEADER + STEPS_HEADER if in_steps else INSTANCES_HEADER
    return write_objects(header, objects)


def _initialise(sources: InvokedSources, task: Initialise) -> Invoked:
    """All of a local tensor; or { T[e] : a step writes it on PE }, or all of the slot of a step.

    Where a statement gives elements their first values, on PEs that have others.
    """
    if task.but is not None:
        return fill(task.tensor, _find_others(task.tensor, task.but, sources), sources)
    if task.before is None:
        return fill(task.tensor, find_pes(sources), sources)
    steps = find_steps(task.before, sources.graph)
    assert steps is not None, "what is initialised before steps is what they write"
    known = steps.known.intersect(find_pes(sources))
    if find_index_constants(sources.by_tensor[task.tensor]):
        return fill(task.tensor, known, sources)
    written = at_index(sources.flows.last_steps(steps.statement, steps.cuts))
    return Invoked(instances=written, known=known, access=identity(written))


def _find_others(tensor: str, statement: str, sources: InvokedSources) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE has elements that a statement does not compute }."""
    placement = sources.adapted.placement
    every = from_domain(find_computed_elements(sources.lair, placement), tensor)
    running = from_domain(find_running(sources.lair, placement), statement)
    made = sources.lair.writes.reverse().apply_range(running)
    others = isl.Map.from_union_map(every.subtract(made)).range()
    return bind_set(others, PE_NAMES).coalesce()


def _react(sources: InvokedSources, task: React) -> Invoked:
    """{ S[i] : placed on PE, reads the element that arrives with index }, V (12)."""
    arriving, known = find_arriving_at(task.arrival, sources)
    accesses = find_accesses(task.statement, sources)
    reads = isl.Map.from_union_map(to_range(accesses, arriving.get_tuple_name()))
    reading = arriving.apply(reads.reverse())
    return Invoked(
        instances=reading.intersect(find_placed(task.statement, sources)),
        known=known,
        access=accesses,
    )


def _store(sources: InvokedSources, task: StoreTask) -> Invoked:
    """{ T[e] : arrives with index at a PE that needs it }."""
    arriving, known = find_arriving_at(task.arrival, sources)
    return Invoked(instances=arriving, known=known, access=identity(arriving))


def _compute(sources: InvokedSources, task: Compute) -> Invoked:
    """{ S[i] : placed on PE }, V (11); of a step, if it runs in steps, V (12)."""
    accesses, pes = find_accesses(task.statement, sources), find_pes(sources)
    if not task.chunks:
        placed = _choose_taps(task, find_placed(task.statement, sources), accesses)
        return Invoked(instances=placed, known=pes, access=accesses)
    cuts = find_cuts(task, sources.graph)
    by_arrival = {name: isl.Map(cut.of) for name, cut in cuts.items()}
    steps = sources.flows.steps(task.statement, by_arrival)
    known = chunks(next(iter(cuts.values())).counts).intersect(pes)
    return Invoked(instances=at_index(steps), known=known, access=accesses, steps=steps)


def _choose_taps(task: Compute, placed: isl.Set, accesses: isl.UnionMap) -> isl.Set:
    """Return the instances of a PE that a task runs: the first of each element, the others, or all.
    """
    if task.taps is None:
        return placed
    writes = isl.Map.from_union_map(to_range(accesses, task.target))
    first = writes.intersect_domain(placed).reverse().lexmin().range().coalesce()
    return first if task.taps == "first" else placed.subtract(first).coalesce()


def _carry(sources: InvokedSources, task: Carry) -> Invoked:
    """{ T[e] : needed on PE }, and which S[e] it is in the next invocation.

    Of what PEs exchange, those that PE computes: by then it is what neighbours are sent.
    """
    every = find_needed_elements(sources.lair, sources.adapted.placement)
    needed = isl.Map.from_union_map(from_domain(every, task.target))
    source = from_domain(sources.lair.carried, task.target)
    for name, move in sources.graph.moves.items():
        if move.tensor == task.target:
            computed = sources.lair.writes.reverse().apply_range(sources.adapted.placement)
            made = isl.Map.from_union_map(source.apply_range(computed))
            needed = needed.union(find_members(move, name, sources.routes)).intersect(made)
    elements = bind_range(needed, PE_NAMES)
    own = isl.UnionMap.from_map(identity(elements))
    return Invoked(instances=elements, known=find_pes(sources), access=own.union(source))


def _halo(sources: InvokedSources, task: Halo) -> Invoked:
    """{ T_halo[e] : lies at the front when the next chunk is taken }, and which T[e] it is."""
    elements = sources.by_tensor[task.target].domain()
    cut = sources.graph.arrivals[task.arrival].chunks
    assert cut is not None, "a ring is one of chunks"
    taking = bind_set(sources.flows.taken(task.arrival).range(), PE_NAMES)
    own = identity(elements)
    source = own.set_tuple_name(isl.dim_type.out, task.expression)
    access = isl.UnionMap.from_map(own).union(isl.UnionMap.from_map(source))
    known = chunks(cut.counts).intersect(taking)
    return Invoked(instances=elements, known=known, access=access)


INVOKED: ForKind[InvokedSources, Invoked] = ForKind(
    initialise=_initialise,
    react=_react,
    store=_store,
    receive=invocations.receive,
    operate=invocations.operate,
    compute=_compute,
    carry=_carry,
    halo=_halo,
    send=invocations.send,
    early_send=invocations.early_send,
    send_halo=invocations.send_halo,
    receive_halo=invocations.receive_halo,
    pack=invocations.pack,
    relay=invocations.relay,
    hear=invocations.hear,
    spread=invocations.spread,
    clear=invocations.clear,
    gather=invocations.collect,
)
"""The instances of one invocation, by the kind of the task."""

# --- Instance sets in fewer dimensions ------------------------------------------------------------
#
# Paper    V Sec. 5.2

MOST_OPERATIONS = 3_000_000
"""Operations that isl may spend on one task: some seconds. A task that takes more here, as a stream
of which each PE takes elements of several residues, takes minutes in the next stages."""
COMPRESSIONS_HEADER = """Variable compression of the instance set of each task T (Sec. 5.2).
T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
T_access: { [i] -> element }, eq. (26)."""


def write_compressions(graph: TaskGraph, instances: Instances) -> str:
    """Return compressions.isl. Raises TooManyOperations."""
    found: dict[str, isl.Set | isl.Map | isl.UnionMap] = {}
    for name in graph.tasks:
        with working_on(f"task {name}"):
            found |= _within_bounds(instances, name)
    return write_objects(COMPRESSIONS_HEADER, found)


def _within_bounds(
    instances: Instances, name: str
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return what there is of one task: with its holes where isl needs long without them."""
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        return compressed_task(instances, name)
    with limit_operations(MOST_OPERATIONS):
        return compressed_task(instances, name, keep_holes=True)


def compressed_task(
    instances: Instances, name: str, *, keep_holes: bool = False
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return the compression of one instance set, the compressed set, and its accesses."""
    whole, known = instances.of(name), instances.known(name)
    if not whole.params().is_subset(known):
        whole = whole.intersect_params(known)
    compressed = drop_hidden_equalities(compress(whole))
    compressed = compressed if keep_holes else drop_holes(compressed)
    access = instances.access(name)
    if access is not None:
        access = isl.UnionMap.from_map(compressed.map).apply_range(access)
    return compressed_objects(name, compressed.map, compressed.set, access)

# --- Boxes of fixed size around instances ---------------------------------------------------------
#
# Paper    V Sec. 5.3

HullObject = isl.Set | isl.UnionSet
HULLS_HEADER = """Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
T_extra: extra instances, eq. (36).
T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
T_minimum, T_maximum: exact bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximation:
    """One task's fixed-size box hull, and what its extra instances touch in local memory."""

    hull: BoxHull
    extra: isl.Set
    reads: isl.UnionSet
    writes: isl.Set
    outside: isl.UnionSet
    conflict: isl.Set


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMemory:
    """The shapes of local tensors, [PE_X, PE_Y] -> { T[e] -> T_local[l] }, and what a PE keeps."""

    local: Mapping[str, isl.Set]
    by_tensor: Mapping[str, isl.Map]
    accessed: Mapping[str, isl.Set]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTasks:
    """A task that writes a target, of what is `arriving` by the element, if anything is.

    `known` are its symbolic constants, `elements` its compressed instance set, and `accesses`
    { element -> T[e] }.
    """

    target: str
    arriving: str
    known: isl.Set
    elements: isl.Set
    accesses: tuple[isl.Map, ...]


def write_hulls(
    graph: TaskGraph, instances: Instances, compressed: Compressions, allocations: Objects
) -> str:
    """Return hulls.isl."""
    memory = memory_of(allocations)
    found: dict[str, HullObject] = {}
    for name, task in graph.tasks.items():
        if isinstance(task, Runs):
            with working_on(f"task {name}"):
                known = instances.known(name)
                running = RunningTasks(
                    target=task.target,
                    arriving=graph.arrivals[task.arrival].tensor if isinstance(task, React) else "",
                    known=known,
                    elements=compressed.of(name),
                    accesses=tuple(compressed.accesses(name)),
                )
                described = _described(running, memory)
            found |= {f"{name}_{key}": obj for key, obj in described.items()}
    return write_objects(HULLS_HEADER, found)


def memory_of(allocations: Objects) -> TaskMemory:
    """Return the local memory of a layer."""
    return TaskMemory(
        local={s.get_tuple_name(): s for s in list_sets(allocations["local"])},
        by_tensor=at_this_pe(allocations["to_local"]),
        accessed={
            m.get_tuple_name(isl.dim_type.out): bind_domain(m, PE_NAMES)
            for m in list_maps(allocations["accessed"])
        },
    )


def _described(running: RunningTasks, memory: TaskMemory) -> dict[str, HullObject]:
    """Return what hulls.isl says of a task."""
    exact = exact_bounds(running.elements, running.known)
    found: dict[str, HullObject] = {
        "minimum": bound_set(running.elements, exact.minimum),
        "maximum": bound_set(running.elements, exact.maximum),
    }
    approximation = _approximation(running, memory)
    if approximation is None:
        return found
    return found | {
        "offset": offset_set(approximation.hull),
        "size": size_set(approximation.hull),
        "hull": as_set(approximation.hull, running.elements.params()),
        "extra": approximation.extra,
        "reads": approximation.reads,
        "writes": approximation.writes,
        "outside": approximation.outside,
        "conflict": approximation.conflict,
    }


def _approximation(running: RunningTasks, memory: TaskMemory) -> Approximation | None:
    """Return the hull of a task and what its extra instances touch; None without hull.

    There is none either where extra instances have no place in local memory, as between strips.
    """
    hull = box_hull(running.elements, running.known)
    if hull is None:
        return None
    extra = extra_instances(as_set(hull, running.elements.params()), running.elements)
    reads, outside, writes = isl.UnionSet("{ }"), isl.UnionSet("{ }"), None
    conflict = None
    for access in running.accesses:
        tensor = access.get_tuple_name(isl.dim_type.out)
        if tensor == running.arriving:
            continue
        local = access.apply_range(memory.by_tensor[tensor])
        if not extra.is_subset(local.domain()):
            return None
        touched = accessed_by(local, extra, find_index_constants(extra))
        if tensor == running.target:
            writes = touched
            conflict = find_conflict(local, extra, _used(tensor, memory))
        else:
            reads = reads.union(isl.UnionSet.from_set(touched))
            beyond = touched.subtract(memory.local[touched.get_tuple_name()])
            outside = outside.union(isl.UnionSet.from_set(beyond))
    assert writes is not None and conflict is not None, "a statement writes its target"
    return Approximation(
        hull=hull,
        extra=extra,
        reads=reads,
        writes=writes,
        outside=outside,
        conflict=conflict,
    )


def _used(tensor: str, memory: TaskMemory) -> isl.Set:
    """Return [PE_X, PE_Y] -> { T_local[l] } of the elements that a PE keeps, V (40)."""
    return memory.accessed[tensor].apply(memory.by_tensor[tensor])

# --- Sizes of boxes -------------------------------------------------------------------------------
#
# They are those of instance sets that are boxes, but not of one fixed size.
#
# Paper    V Sec. 5.4

SIZES_HEADER = """Size enumeration (Sec. 5.4), per task T that is a box, but not of fixed size.
T_sizes: [PE_X, PE_Y] -> { [size] }, index projected out, eq. (42); T_offset: their offset.
T_identifiers: { [size - offset] }, eq. (43), one SIMD configuration each; T_hull: their box."""


def write_sizes(
    graph: TaskGraph, instances: Instances, compressed: Compressions, prefer: str | None
) -> str:
    """Return sizes.isl; instructions that users `prefer` may need none, or fixed ones."""
    found: dict[str, isl.Set] = {}
    for name, task in graph.tasks.items():
        if isinstance(task, Runs) and prefer != "loops":
            known = instances.known(name)
            whole = compressed.of(name)
            with working_on(f"task {name}"):
                sizes = find_sizes(whole, known, prefer == "enumerate")
            found |= {f"{name}_{key}": obj for key, obj in sizes.items()}
    return write_objects(SIZES_HEADER, found)


def find_sizes(compressed: isl.Set, known: isl.Set, fixed: bool = True) -> dict[str, isl.Set]:
    """Return sizes, offset, identifiers and their box; empty if the set is no box.

    Also empty if the box has a fixed size, unless sizes that are `fixed` are asked for.
    """
    bounds = exact_bounds(compressed, known)
    if not fixed and bounds.is_box and find_fixed_size(bounds, find_index_constants(compressed)):
        return {}
    enumeration = enumerate_sizes(bounds, find_index_constants(compressed))
    if enumeration is None:
        return {}
    return {
        "sizes": enumeration.sizes,
        "offset": offset_set(enumeration.hull),
        "identifiers": enumeration.identifiers,
        "hull": box("", enumeration.hull.size),
    }

# --- Local memory of a PE's tensors ---------------------------------------------------------------
#
# Paper    V Sec. 4.3

ALLOCATIONS_HEADER = """Local memory (Sec. 4.3).
accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8)."""
ROWS_HEADER = """
Where windows reach over chunks: [index...] -> { ... }, where elements lie when a chunk is taken."""


def write_allocations(graph: TaskGraph, lair: Lair, adapted: Adapted, routes: Routing) -> str:
    """Return allocations.isl; `lair` is that before tensors return."""
    accessed = accessed_elements(graph, lair, adapted, routes)
    flows = flows_of(graph, lair, adapted, routes)
    rings, rows = find_rings(graph, flows), find_rows(graph, flows)
    local, to_local = isl.UnionSet("{ }"), isl.UnionMap("{ }")
    relations = {m.get_tuple_name(isl.dim_type.out): m for m in list_maps(accessed)}
    swaps = graph.swaps
    for tensor, relation in relations.items():
        host = _host(tensor, graph)
        if graph.find_local(tensor) in swaps:
            names = swaps[graph.find_local(tensor)]
            every = [relations[n].set_tuple_name(isl.dim_type.out, tensor) for n in names]
            relation = functools.reduce(isl.Map.union, every).coalesce()
        elif host is not None:
            relation = relations[host].set_tuple_name(isl.dim_type.out, tensor)
        with working_on(f"tensor {tensor}"):
            if tensor in rows:
                size, allocation = roll_rows(rows[tensor], f"{tensor}_local")
            elif tensor in rings:
                size, allocation = _roll(tensor, rings[tensor])
            else:
                size, allocation = allocate(relation, host)
            if (buffer := _find_buffer(tensor, graph)) is not None:
                count = len(swaps[graph.find_local(tensor)])
                size, allocation = _in_buffer(size, allocation, buffer, count)
        local = local.union(isl.UnionSet.from_set(size))
        to_local = to_local.union(isl.UnionMap.from_map(allocation))
    for halo in (task for task in graph.tasks.values() if isinstance(task, Halo)):
        tensor = halo.expression
        repeated = repeat_rows(rows[tensor], halo.target, f"{tensor}_local")
        to_local = to_local.union(isl.UnionMap.from_map(repeated))
        copied = project_names(repeated.domain(), find_index_constants(repeated))
        accessed = accessed.union(isl.UnionMap.from_map(copied.unwrap()))
    to_local = to_local.union(_view(to_local, apply_feedback(lair, adapted).views))
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


def _view(to_local: isl.UnionMap, views: isl.UnionMap) -> isl.UnionMap:
    """Return { [PE -> T_2[e]] -> T_local[l] }, where { T_2[e] -> T[e] } lie: where T lies."""
    here = isl.UnionMap("{ PE[x, y] -> PE[x, y] }")
    return here.product(views).apply_range(to_local)


def _roll(tensor: str, ring: TensorRing) -> tuple[isl.Set, isl.Map]:
    """Return the memory of a ring of slots, and where elements lie in it."""
    name = f"{tensor}_local"
    if ring.counts is None:
        return roll(ring.numbers, ring.depth, name)
    return roll_in_boxes(ring.numbers, ring.depth, ring.counts, name)


def _find_buffer(tensor: str, graph: TaskGraph) -> int | None:
    """Return the number of the buffer that a tensor has at first, if it takes turns."""
    return graph.tensors[tensor].buffer if tensor in graph.tensors else None


def _in_buffer(
    size: isl.Set, allocation: isl.Map, buffer: int, count: int
) -> tuple[isl.Set, isl.Map]:
    """Return the memory of as many buffers, and where elements lie in one of them."""
    name, first = size.get_tuple_name(), isl.dim_type.out
    every = size.insert_dims(isl.dim_type.set, 0, 1).set_tuple_name(name)
    every = every.lower_bound_val(isl.dim_type.set, 0, 0)
    every = every.upper_bound_val(isl.dim_type.set, 0, count - 1)
    within = allocation.insert_dims(first, 0, 1).set_tuple_name(first, name)
    return every, within.fix_val(first, 0, buffer)


def _host(tensor: str, graph: TaskGraph) -> str | None:
    """Return the tensor whose memory holds another one, if there is one."""
    return graph.tensors[tensor].stored_in if tensor in graph.tensors else None


def accessed_elements(
    graph: TaskGraph, given: Lair, adapted: Adapted, routes: Routing
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
    for name, move in graph.moves.items():
        result = result.union(isl.UnionMap.from_map(find_members(move, name, routes)))
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

    Also { tensor_source[e] -> PE } of all that a port sends to an adapter.
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

# --- Sets of a task graph -------------------------------------------------------------------------
#
# Each is made of those before, as the stages from `allocate` on write them.

def write_sets(
    graph: TaskGraph, lair: Lair, adapted: Adapted, routes: Routing, prefer: str | None
) -> dict[str, str]:
    """Return the texts, up to sizes.isl, by their names. Raises UserError and TooManyOperations."""
    given = graph, lair, adapted, routes
    allocations_text = write_allocations(*given)
    allocations = Objects(allocations_text)
    instances_text = write_instances(*given, allocations)
    instances = Instances(Objects(instances_text))
    compressions_text = write_compressions(graph, instances)
    compressed = Compressions(Objects(compressions_text))
    return {
        "allocations.isl": allocations_text,
        "instances.isl": instances_text,
        "compressions.isl": compressions_text,
        "hulls.isl": write_hulls(graph, instances, compressed, allocations),
        "sizes.isl": write_sizes(graph, instances, compressed, prefer),
    }
