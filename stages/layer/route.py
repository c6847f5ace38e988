"""Build the task graph: what moves, what reacts, what computes; and route the colours.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
Reads    layer.yaml, *.lair, lair.isl, placement.isl, schedule.isl, adapted.isl
Writes   tasks.yaml    tensors, arrivals, departures, tasks, colours
         routes.isl    { [PE[x, y] -> from[]] -> to[] } per colour, and the PEs that take part
Assumes  data flows along rows or columns, or is spread on a peeled border (adapt).
Ensures  every router has one input side per colour.
"""

from __future__ import annotations

import typing
from dataclasses import replace

from stages.layer.routes.colours import shared_colours
from stages.layer.routes.routing import as_copied, route_streams
from stages.layer.streams.leads import leads_of
from stages.layer.streams.listed import arrivals_with_portions, tasks_of, tensors_of
from stages.layer.streams.plan import Plan, plan_of
from stages.layer.texts.graph import Departure, Graph, Outgoing, graph_text
from stages.layer.texts.kinds import Lead
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("layer.yaml", "*.lair", "lair.isl", "placement.isl", "schedule.isl", "adapted.isl")
WRITES = ("tasks.yaml", "routes.isl")
HEADER = """Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
N_taken: which PE takes which element of arrival N; N_adapters: PEs that spread it;
N_ports: where it enters; N_filter: the index from and up to which a router hands it to its PE.
N_chain: PEs that sum departure N on its way out; N_first: those where it starts."""
SPARSE_HEADER = """
N_last: PEs that send the whole sums of a sparse departure N to their ports."""
COLLECT_HEADER = """
N_adapters: PEs that collect departure N. N_chain, N_first, N_last: those that sum collection N;
N_even, N_odd: from one to the next; N_out: from the last to the port; N_reach: { port -> PE }."""
PASSING_HEADER = """
N_line: PEs among which arrival N, or N_source along the border, is passed on; N_passing: those that
send it on; of these N_between take nothing; N_nearest: those that hear it on the colour N_in.
N_copied, N_copied_filter: its routes and its filter if routers copied. N_then, N_then2, N_then3:
where PEs get copies of their own, the further positions of its routers; N_reach: { port -> PE }."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return tasks.yaml and routes.isl."""
    plan = plan_of(route_streams(inputs))
    return {
        "tasks.yaml": graph_text(with_leads(task_graph(plan), plan)),
        "routes.isl": write_objects(_header(plan), dict(plan.streams.routed.objects)),
    }


def _header(plan: Plan) -> str:
    """Return the comment at the head of routes.isl."""
    streams = plan.streams
    leaving: list[Outgoing] = [*streams.departures.values(), *streams.collections.values()]
    header = HEADER
    if streams.collections:
        header += COLLECT_HEADER
    if any(stream.sequences for stream in leaving):
        header += SPARSE_HEADER
    if streams.routed.copied:
        header += PASSING_HEADER
    return header


def task_graph(plan: Plan) -> Graph:
    """Return the task graph of a layer, but for what leaves before the end of a statement."""
    streams, placed = plan.streams, plan.streams.placed
    given = placed.grid, placed.profile, placed.mapping
    copied = shared_colours(as_copied(streams), *given) if streams.routed.copied else ()
    return Graph(
        tensors=tensors_of(plan),
        arrivals=arrivals_with_portions(plan),
        departures=streams.departures,
        collections=streams.collections,
        passing=streams.routed.passing,
        copied=copied,
        tasks=dict(tasks_of(plan)),
        waits={name: tuple(before) for name, before in plan.waits.items()},
        colours=shared_colours(streams.routed.colours, *given),
    )


def with_leads(graph: Graph, plan: Plan) -> Graph:
    """Return a task graph with what leaves while its statement still runs.

    A task sends it, but rows, which their statement sends; what leaves early as a whole has no
    task for the end.
    """
    placed = plan.streams.placed
    writers = {s.target.tensor: s.name for s in placed.layer.statements}
    leads = leads_of(graph, plan.flows, writers, placed.profile)
    departures: dict[str, Departure] = dict(graph.departures)
    tasks = dict(graph.tasks)
    for name, lead in leads.items():
        departures[name] = replace(departures[name], lead=lead)
        if lead.rows is None:
            tasks[f"lead_{name}"] = Lead(departure=name)
            if lead.all:
                del tasks[f"send_{name}"]
    return replace(graph, departures=departures, tasks=tasks)
