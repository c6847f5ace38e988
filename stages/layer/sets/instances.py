"""What one invocation of each task runs.

Paper    V Sec. 5.1
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.streams import invocations
from lairmake.stages.layer.streams.invocations import (
    Invoked,
    Sources,
    fill,
    find_accesses,
    find_arriving_at,
    find_pes,
    find_placed,
    identity,
    sources_of,
)
from lairmake.stages.layer.streams.steps import find_cuts, find_steps
from lairmake.stages.layer.texts.isl_files import Adapted, Routing, invoked_objects
from lairmake.stages.layer.texts.task_graph import (
    Carry,
    Compute,
    ForKind,
    Graph,
    Halo,
    Initialise,
    React,
    Store,
)
from lairmake.stages.poly.canonical import from_domain, to_range
from lairmake.stages.poly.chunks import chunks
from lairmake.stages.poly.functions import PE_NAMES, bind_range, bind_set, find_index_constants
from lairmake.stages.poly.sides import at_index
from lairmake.stages.poly.text import Objects, write_objects
from lairmake.stages.skewing.elements import Lair, find_needed_elements

InstanceObject = isl.Set | isl.Map | isl.UnionMap
INSTANCES_HEADER = """What one invocation of each task runs (Sec. 5.1).
T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
T_known: the symbolic constants with which T is invoked, eq. (15).
T_access: { instance -> element }, where an instance of a stream is the index of its element."""
STEPS_HEADER = """
T_steps: { instance -> [PE[x, y] -> chunk[p]] }, the chunk after which it runs."""


def write_instances(
    graph: Graph, lair: Lair, adapted: Adapted, routes: Routing, allocations: Objects
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


def _initialise(sources: Sources, task: Initialise) -> Invoked:
    """All of a local tensor; or { T[e] : a step writes it on PE }, or all of the slot of a step."""
    if task.before is None:
        return fill(task.tensor, find_pes(sources), sources)
    steps = find_steps(task.before, sources.graph)
    assert steps is not None, "what is initialised before steps is what they write"
    known = steps.known.intersect(find_pes(sources))
    if find_index_constants(sources.by_tensor[task.tensor]):
        return fill(task.tensor, known, sources)
    written = at_index(sources.flows.last_steps(steps.statement, steps.cuts))
    return Invoked(instances=written, known=known, access=identity(written))


def _react(sources: Sources, task: React) -> Invoked:
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


def _store(sources: Sources, task: Store) -> Invoked:
    """{ T[e] : arrives with index at a PE that needs it }."""
    arriving, known = find_arriving_at(task.arrival, sources)
    return Invoked(instances=arriving, known=known, access=identity(arriving))


def _compute(sources: Sources, task: Compute) -> Invoked:
    """{ S[i] : placed on PE }, V (11); of a step, if it runs in steps, V (12)."""
    accesses, pes = find_accesses(task.statement, sources), find_pes(sources)
    if not task.chunks:
        placed = find_placed(task.statement, sources)
        return Invoked(instances=placed, known=pes, access=accesses)
    cuts = find_cuts(task, sources.graph)
    by_arrival = {name: isl.Map(cut.of) for name, cut in cuts.items()}
    steps = sources.flows.steps(task.statement, by_arrival)
    known = chunks(next(iter(cuts.values())).counts).intersect(pes)
    return Invoked(instances=at_index(steps), known=known, access=accesses, steps=steps)


def _carry(sources: Sources, task: Carry) -> Invoked:
    """{ T[e] : needed on PE }, and which S[e] it is in the next invocation."""
    every = find_needed_elements(sources.lair, sources.adapted.placement)
    needed = isl.Map.from_union_map(from_domain(every, task.target))
    elements = bind_range(needed, PE_NAMES)
    own = isl.UnionMap.from_map(identity(elements))
    source = from_domain(sources.lair.carried, task.target)
    return Invoked(instances=elements, known=find_pes(sources), access=own.union(source))


def _halo(sources: Sources, task: Halo) -> Invoked:
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


INVOKED: ForKind[Sources, Invoked] = ForKind(
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
    pack=invocations.pack,
    relay=invocations.relay,
    hear=invocations.hear,
    spread=invocations.spread,
    clear=invocations.clear,
    gather=invocations.collect,
)
"""What one invocation runs, by the kind of its task."""
