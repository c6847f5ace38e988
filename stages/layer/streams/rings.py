"""The rings of tasks.yaml: with which chunk each element of a tensor that rolls comes, or leaves.

Where windows reach over the chunks of an arrival, in which row of its ring.

Paper    V Sec. 4.3
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.layer.streams.stepped import Steps, find_steps
from lairmake.stages.layer.texts.task_graph import Compute, Graph
from lairmake.stages.poly.chunks import Rows, cut_order, number_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """{ T[e] -> [PE -> [n]] }, the chunk of each element, and how many chunks are in memory.

    With `counts` these are the chunks in each dimension, and all of a slot may be used in a step.
    """

    numbers: isl.Map
    depth: int
    counts: tuple[int, ...] | None = None


def find_rings(graph: Graph, flows: Flows) -> dict[str, Ring]:
    """Return the rings, by tensor: chunks in which it arrives, or steps that compute it."""
    found: dict[str, Ring] = {}
    for name, arrival in graph.arrivals.items():
        if arrival.chunks is None or arrival.chunks.ring is None or arrival.chunks.window:
            continue
        cut = cut_order(flows.passing(name), isl.Map(arrival.chunks.of))
        numbers = number_order(cut, arrival.chunks.counts)
        if arrival.tensor in found:
            numbers = numbers.union(found[arrival.tensor].numbers)
        found[arrival.tensor] = Ring(numbers=numbers.coalesce(), depth=arrival.chunks.ring)
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


def find_rows(graph: Graph, flows: Flows) -> dict[str, Rows]:
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


def _by_steps(steps: Steps, depth: int, flows: Flows, graph: Graph) -> Ring:
    """Return the ring of what a statement computes in steps.

    Those of windows may be smaller at the beginning and the end: they use all of a slot.
    """
    numbers = number_order(flows.last_steps(steps.statement, steps.cuts), steps.counts)
    chunks = (graph.arrivals[name].chunks for name in steps.cuts)
    reaching = any(each is not None and each.window is not None for each in chunks)
    return Ring(numbers=numbers, depth=depth, counts=steps.counts if reaching else None)
