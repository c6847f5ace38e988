"""The same layer on the same machine, but for routers that copy: what multicast is worth.

Nothing is forwarded, and routers drop what their PEs do not want.

Source   design, The machine
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from lairmake.stages.layer.codegen.model import Model
from lairmake.stages.layer.routes.arrivals import name_positions
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import Instances, Routing, named
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, find_index_constants


def copy_instead(model: Model) -> Model:
    """Return the model of a layer whose streams are forwarded, with routes that copy instead."""
    routes, arrivals = dict(model.routes.objects), model.graph.arrivals
    for stream in {end for a in arrivals.values() for end in (a.colour, a.source)}:
        routes[stream] = routes.pop(named(stream, "copied"))
        for position in name_positions(stream)[1:]:
            routes.pop(position, None)
        interval = routes.pop(named(stream, "copied_filter"), None)
        if interval is not None:
            routes[named(stream, "filter")] = interval
    graph = replace(
        model.graph,
        forwarding={},
        copied=(),
        colours=model.graph.copied,
        arrivals={n: replace(a, replicas=()) for n, a in arrivals.items()},
    )
    routing = Routing(routes)
    return replace(model, graph=graph, routes=routing, instances=_filtered(model, routing))


def _filtered(model: Model, routes: Routing) -> Instances:
    """Return instances.isl with T_known as routers hand on what tasks react to, V (15)."""
    instances = model.instances
    for name, task in model.tasks.items():
        if not isinstance(task, task_graph.Relay | task_graph.React | task_graph.Store):
            continue
        arrival = model.graph.arrivals[task.arrival]
        colour = arrival.source if isinstance(task, task_graph.Relay) else arrival.colour
        if routes.has(colour, "filter"):
            interval = routes.relation(colour, "filter")
            known = _between(model.known(name), interval)
            instances = instances.invoked_where(name, known)
    return instances


def _between(known: isl.Set, interval: isl.Map) -> isl.Set:
    """Return [PE_X, PE_Y, index...] -> { : least <= index <= greatest at PE }."""
    inner = find_index_constants(known)[-1]
    here = bind_domain(interval, PE_NAMES)
    passes = isl.Set(f"[{inner}] -> {{ [least, greatest] : least <= {inner} <= greatest }}")
    return known.intersect(here.intersect(passes).params())
