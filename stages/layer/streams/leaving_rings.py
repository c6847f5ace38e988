"""Which results roll: they lie in memory only until they have left.

A statement that runs in steps sends after each step what that has completed; the memory of a step
is that of the one which ran so many before. A step runs only once what was sent from there has
left. Here nothing but the port takes that, for each PE is alone on its lane; so it leaves whatever
other PEs do, and what streams/rolling.py says still holds.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping

import islpy as isl

from lairmake.stages.layer.routes.lines import find_forwarded
from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.layer.streams.stepped import SteppedDeparture, Steps, find_steps
from lairmake.stages.layer.texts.task_graph import Departure, Early, Graph
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.chunks import find_completed, is_in_order
from lairmake.stages.poly.functions import PE_NAMES, bind_set
from lairmake.stages.poly.text import spell_object

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Layer

DEPTH = 2
"""Steps whose results are in memory: of one they are computed while those of another leave."""


def choose_leaving_rings(
    graph: Graph, flows: Flows, layer: Layer, in_place: Mapping[str, str]
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


def _leaves_alone(name: str, graph: Graph, flows: Flows, shared: Collection[str]) -> bool:
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
    departure: Departure, name: str, steps: Steps, graph: Graph, flows: Flows
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
