"""Which tensors roll that one statement hands to others, step by step.

Where each element is computed and read in one step, and the statements that read it wait for
nothing but the chunks by which it is computed, their steps follow at once: what a step computed is
needed no more when the next one runs, and all use the same memory. So one that waits for room for
its results reads a tensor that is kept as a whole.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping

import islpy as isl

from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.layer.streams.stepped import find_steps
from lairmake.stages.layer.texts.task_graph import Compute, Graph
from lairmake.stages.poly.canonical import from_domain, to_range

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Layer, Statement


def find_passing_rings(
    graph: Graph,
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


def _goes_on(statement: Statement, graph: Graph, rolling: Collection[str]) -> bool:
    """Say whether a step of a statement waits for nothing but chunks, and the steps before it."""
    computing = (task for task in graph.tasks.values() if isinstance(task, Compute))
    task = next((each for each in computing if each.statement == statement.name), None)
    if task is None or not task.chunks or statement.name in rolling:
        return False
    read = {access.tensor for access in statement.reads}
    arriving = {name for name, arrival in graph.arrivals.items() if arrival.tensor in read}
    return arriving <= {*task.chunks} and {*graph.waits.get(task.statement, ())} <= {*task.follows}


def _is_passed_on(
    statement: Statement, graph: Graph, flows: Flows, layer: Layer, free: Collection[str]
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
