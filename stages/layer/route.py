"""Build the task graph: what moves, what reacts, what computes; and route the colours.

Paper    V Sec. 4.2
Reads    layer.yaml, chosen.yaml, *.lair, lair.isl, placement.isl, schedule.isl, adapted.isl
Writes   tasks.yaml    tensors, arrivals, departures, tasks, colours
         routes.isl    { [PE[x, y] -> from[]] -> to[] } per colour, and the PEs that take part
         build/limits/graph/*.yaml, build/limits/graph/*.isl    both, and what the stages up to
                       enumerate make of them, for a machine that has enough of what it has too
                       little of, where nobody has published how much that is
Assumes  data flows along rows or columns, or is spread on a peeled border (adapt).
Ensures  every router has one input side per colour.
"""

from __future__ import annotations

import contextlib
import textwrap
import typing
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import get_args

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.lair.layer import Layer, find_writer
from lairmake.stages.layer.routes.placement import Streams
from lairmake.stages.layer.routes.routing import route_if_copied, route_streams, share_colours
from lairmake.stages.layer.streams.listing import (
    add_chunks,
    add_results,
    describe_tensors,
    list_tasks,
)
from lairmake.stages.layer.streams.plan import (
    StreamPlan,
    count_needed,
    find_unkept,
    fits_only_whole,
    has_room,
    leave_whole,
    plan_streams,
)
from lairmake.stages.layer.streams.rings import Windows, choose_leaving_rings, find_passing_rings
from lairmake.stages.layer.streams.steps import choose_early_sends, find_steps
from lairmake.stages.layer.texts.isl_files import SAID, Adapted, RoutesObject, Routing, read_adapted
from lairmake.stages.layer.texts.machine_yaml import GRAPH, MACHINE, write_limits
from lairmake.stages.layer.texts.task_graph import (
    Departure,
    EarlySend,
    Initialise,
    TaskGraph,
    write_graph,
)
from lairmake.stages.machine.scarcity import find_enough, noted_shortages, with_figures
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.records import WIDTH
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.text import Objects, write_objects
from lairmake.stages.skewing.elements import read_lair
from lairmake.stages.skewing.statements import Scheduled

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors, target, schedule, machine, skew, simd.prefer",
    "chosen.yaml",
    "*.lair",
    "lair.isl",
    "placement.isl",
    "schedule.isl",
    "adapted.isl",
)
WRITES = ("tasks.yaml", "routes.isl", "build/limits/graph/*.yaml", "build/limits/graph/*.isl")
Routed = tuple[TaskGraph, dict[str, RoutesObject]]
LIMITS = ("threads", "filters")
"""The figures of the machine by which streams wait, are cut, or reach PEs that do not need them."""
MOST_OPERATIONS = 10_000_000
"""Operations that isl may spend on a machine that has enough of these."""
HEADER = "Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }."


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return tasks.yaml and routes.isl."""
    mapping = inputs.mapping()
    scheduled = Scheduled(
        mapping=mapping,
        profile=read_machine(mapping, inputs),
        layer=inputs.lair(),
        lair=read_lair(inputs.objects("lair.isl")),
        places=inputs.objects("placement.isl"),
        schedule=inputs.objects("schedule.isl")["schedule"],
    )
    adapted = read_adapted(inputs.objects("adapted.isl"))
    with noted_shortages() as noted:
        routed = _routed_as_it_pays(scheduled, adapted)
    texts = _texts(*routed)
    if noted:
        with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
            texts |= _texts_with_enough(scheduled, adapted, routed, noted)
    return texts


def _texts(graph: TaskGraph, objects: dict[str, RoutesObject]) -> dict[str, str]:
    """Return tasks.yaml and routes.isl."""
    return {
        "tasks.yaml": write_graph(graph), "routes.isl": write_objects(_header(objects), objects),
    }


def _texts_with_enough(
    scheduled: Scheduled, adapted: Adapted, here: Routed, noted: Set[str]
) -> dict[str, str]:
    """Return the texts, and those of their sets, for a machine with enough of what was `noted`.

    There are none where nothing is limited by what nobody has published, or where such a machine
    has too little of something else.
    """
    from lairmake.stages.layer.task_sets import write_sets

    def routed_on(profile: Profile) -> Routed | None:
        try:
            return _routed_as_it_pays(replace(scheduled, profile=profile), adapted)
        except (UserError, UserErrors):
            return None

    limits = [figure for figure in LIMITS if figure in noted]
    found: Routed | None = here
    enough = find_enough(scheduled.profile, limits, found, routed_on, _is_same)
    routed = routed_on(with_figures(scheduled.profile, enough)) if enough else None
    if routed is None:
        return {}
    texts = _texts(*routed)
    routes, prefer = Routing(Objects(texts["routes.isl"])), scheduled.mapping.simd.prefer
    try:
        texts |= write_sets(routed[0], scheduled.lair, adapted, routes, prefer)
    except (UserError, UserErrors):
        return {}
    texts[MACHINE] = write_limits(enough)
    return {f"{GRAPH}{name}": text for name, text in texts.items()}


def _is_same(one: Routed | None, other: Routed | None) -> bool:
    """Say whether two graphs, and what routes.isl says with them, are equal."""
    if one is None or other is None:
        return one is other
    others: Mapping[str, typing.Any] = other[1]
    return one[0] == other[0] and one[1].keys() == others.keys() and all(
        bool(each.is_equal(others[name])) for name, each in one[1].items()
    )


def _routed_as_it_pays(scheduled: Scheduled, adapted: Adapted) -> Routed:
    """Return the task graph, and what routes.isl says.

    Where the machine has too little for what pays, as for routers that turn, PEs forward all.
    """
    if scheduled.profile.multicast or scheduled.mapping.skew is not None:
        return _routed(scheduled, adapted)
    with contextlib.suppress(UserError):
        return _routed(scheduled, adapted)
    forwarding = scheduled.mapping.model_copy(update={"skew": True})
    return _routed(replace(scheduled, mapping=forwarding), adapted)


def _routed(scheduled: Scheduled, adapted: Adapted) -> Routed:
    """Return the same; arrivals are whole where what is computed by their chunks has no room.

    What statements take step by step is needed at one time, what they take as a whole is not.
    """
    plan, graph = _plan_windows(route_streams(scheduled, adapted))
    parts = dict.fromkeys(plan.in_place, Fraction()) | dict(_list_parts(graph, scheduled.layer))
    if plan.cuts and fits_only_whole(plan.streams, plan.cuts, parts, find_unkept(plan)):
        plan = leave_whole(plan)
        graph = add_early_sends(task_graph(plan), plan)
    return graph, dict(plan.streams.routed.objects)


def _plan_windows(streams: Streams) -> tuple[StreamPlan, TaskGraph]:
    """Return the plan and the task graph, with rings that have halos for windows if there is room.
    """
    for windows in get_args(Windows):
        plan = plan_streams(streams, windows)
        graph = add_early_sends(task_graph(plan), plan)
        reaching = any(cut.halo is not None for cut in plan.cuts.values())
        if not reaching or has_room(graph, streams, plan.flows):
            break
    return plan, graph


def _list_parts(graph: TaskGraph, layer: Layer) -> Iterator[tuple[str, Fraction]]:
    """Yield which part of each tensor that rolls is in memory, roughly: that of the last steps."""
    rings = {name: tensor.ring for name, tensor in graph.tensors.items()}
    rings |= {d.tensor: d.early.ring for d in graph.departures.values() if d.early is not None}
    for name, ring in rings.items():
        if ring is not None:
            steps = find_steps(find_writer(layer, name).name, graph)
            assert steps is not None, f"{name} rolls"
            yield name, Fraction(ring, max(ring, prod(steps.counts)))


def _header(names: Iterable[str]) -> str:
    """Return the comment at the head of routes.isl: what the objects are of which it has some."""
    ends = {name[at + 1 :] for name in names for at, c in enumerate(name) if c == "_"}
    said = "; ".join(f"N_{end}: {said}" for end, said in SAID.items() if end in ends)
    return "\n".join([HEADER, *textwrap.wrap(f"{said}.", WIDTH)])


def task_graph(plan: StreamPlan) -> TaskGraph:
    """Return the task graph of a layer, but for what leaves before the end of a statement."""
    streams, placed = plan.streams, plan.streams.placed
    given = placed.grid, placed.profile, placed.mapping
    routed = streams.routed
    copied = share_colours(route_if_copied(streams), {}, *given) if routed.copied else ()
    return TaskGraph(
        tensors=describe_tensors(plan),
        arrivals=add_chunks(plan),
        departures=add_results(plan),
        collections=streams.collections,
        moves=streams.moves,
        forwarding=routed.forwarding,
        copied=copied,
        tasks=dict(list_tasks(plan)),
        waits={name: tuple(before) for name, before in plan.waits.items()},
        colours=share_colours(routed.colours, routed.objects, *given),
    )


def add_early_sends(graph: TaskGraph, plan: StreamPlan) -> TaskGraph:
    """Return a task graph with what leaves while its statement still runs.

    A task sends it, but rows, which their statement sends; what leaves early as a whole has no
    task for the end.
    """
    placed = plan.streams.placed
    writers = {s.target.tensor: s.name for s in placed.layer.statements}
    tensors = dict(graph.tensors)
    early_sends = choose_early_sends(
        graph, plan.flows, writers, placed.profile, placed.mapping.simd.prefer
    )
    if count_needed(plan) > placed.profile.memory:
        early_sends |= choose_leaving_rings(graph, plan.flows, placed.layer, plan.in_place)
        rolling = [early.statement for early in early_sends.values() if early.ring is not None]
        given = graph, plan.flows, placed.layer, plan.in_place
        for name in find_passing_rings(*given, rolling):
            tensors[name] = replace(tensors[name], ring=1)
    departures: dict[str, Departure] = dict(graph.departures)
    tasks = dict(graph.tasks)
    for name, early in early_sends.items():
        departures[name] = replace(departures[name], early=early)
        start = tasks.get(f"init_{departures[name].tensor}")
        if early.ring is not None and isinstance(start, Initialise):
            tasks[f"init_{start.tensor}"] = replace(start, before=early.statement)
        if early.rows is None:
            tasks[f"early_send_{name}"] = EarlySend(departure=name)
            if early.all:
                del tasks[f"send_{name}"]
    return replace(graph, tensors=tensors, departures=departures, tasks=tasks)
