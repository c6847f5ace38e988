"""Run on a page: heat maps, critical path, phases and events."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.deadlock import WaitingPe, run_as_far
from lairmake.stages.fabric.engine import STATES
from lairmake.stages.fabric.grid import (
    OPPOSITE,
    SIDES,
    STEPS,
    Grid,
    coordinates,
    members,
    read_colours,
    read_grid,
    read_roles,
)
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.fabric.outcome import (
    DEEDS,
    KINDS as RECORDED,
    OF_TASKS,
    TASK,
    CriticalSegment as Part,
    RunRequest,
    list_path,
    sum_path,
)
from lairmake.stages.fabric.usage import CYCLES, LinkUsage, find_busiest
from lairmake.stages.picture.grid import (
    KINDS,
    LINKS,
    QUANTITIES,
    Bins,
    Events,
    GridLine,
    GridOnPage,
    GridRecording,
    GridUsage,
    PathSegment,
    Phase,
    Quantity,
    bins_of,
    count_colours,
    describe_grid,
    quantities_of_layout,
    quantities_of_run,
)
from lairmake.stages.picture.page import Ints, pack
from lairmake.stages.picture.tasks import ProgramOnPage

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun

# --- Critical path on the grid, as lines along links ----------------------------------------------
#
# It is not recorded which way a wavelet took. Where routers of a colour have switches, the routes
# of all positions count, and of several ways the shortest one.

Array = NDArray[Any]
MOST_LINES = 10_000
"""Number of journeys that are drawn, at most: the last ones."""
ROUTED_LINKS, ROUTERS, PORT = map(DEEDS.index, ("links", "routers", "port"))
RAMP = SIDES.index("ramp")
TURNED = np.array([SIDES.index(OPPOSITE.get(side, side)) for side in SIDES])
AHEAD = np.array([STEPS[side] for side in SIDES])


@dataclass(frozen=True, slots=True, kw_only=True)
class Journeys:
    """Journeys of wavelets, [journey]: from one PE to another, by number, on a colour, by number.

    A journey `enters` from a port beside the first PE, or `leaves` to one beside the last PE; it
    takes at most `most` hops. `before` is the colour of what came to the first PE before, -1 for
    none.
    """

    source: Array
    target: Array
    colour: Array
    before: Array
    enters: Array
    leaves: Array
    most: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatPlaces:
    """Places on journeys, [place]: a router, and the side from which it hears the journey.

    `onward` is the index of the next place. For the last place of a journey it is the side on which
    the journey leaves, or the ramp.
    """

    journey: Array
    node: Array
    side: Array
    onward: Array


def follow_path(run: FabricRun, layout: FabricLayout) -> GridLine:
    """Return the lines of the critical path of a recorded run, from the last output back."""
    assert run.recorded is not None, "the run was recorded"
    journeys, left_out = find_journeys(run.recorded.path, bool(layout.departures))
    numbers = set(journeys.colour.tolist())
    used = {name: each for name, each in layout.colours.items() if each.number in numbers}
    routes = np.bitwise_or.reduce(read_colours(used, run.grid).routes, axis=0)
    journey, x, y = find_corners(journeys, routes, run.grid)
    return GridLine(
        x=pack(x), y=pack(y), corners=pack(np.bincount(journey, minlength=len(journeys.colour))),
        colour=pack(journeys.colour), before=pack(journeys.before), left_out=left_out,
    )


def find_journeys(path: Array, has_outlets: bool) -> tuple[Journeys, int]:
    """Return the last journeys of a critical path, each once, and the number of those before them.

    The last journey comes first. From its end back, a journey has on the path its wait in routers,
    its time on links, and what its sender did, or the port.
    """
    deed, node, colour = path["deed"], path["node"], path["colour"]
    is_one = (deed[:-1] == ROUTERS) & (deed[1:] == ROUTED_LINKS)
    is_one &= (node[:-1] == node[1:]) & (colour[:-1] == colour[1:])
    under_way = (deed == ROUTED_LINKS) | (deed == ROUTERS)
    under_way[1:] &= ~is_one
    end = np.flatnonzero(under_way[:-1])
    sent = end + 1 + is_one[end]
    end, sent = end[sent < len(path)], sent[sent < len(path)]
    found = np.stack([
        node[sent], node[end], colour[end], np.append(colour[end[1:]], -1)[: len(end)],
        deed[sent] == PORT, (end == 0) & has_outlets, path["end"][end] - path["end"][sent],
    ])
    _, first = np.unique(found[:-1], axis=1, return_index=True)
    source, target, colours, before, enters, leaves, most = found[:, np.sort(first)[:MOST_LINES]]
    return Journeys(
        source=source, target=target, colour=colours, before=before, enters=enters > 0,
        leaves=leaves > 0, most=most,
    ), max(0, len(first) - MOST_LINES)


def find_corners(journeys: Journeys, routes: Array, grid: Grid) -> tuple[Array, Array, Array]:
    """Return the journey of each corner, and its x and y; the ends of journeys are corners, too.

    `routes` [colour][side from][PE] are the sides to go to, as bits.
    """
    journey, x, y = _list_places(journeys, routes, grid)
    dx, dy, same = np.diff(x), np.diff(y), np.diff(journey) == 0
    straight = (dx[1:] == dx[:-1]) & (dy[1:] == dy[:-1]) & same[1:] & same[:-1]
    corner = np.ones(len(journey), bool)
    corner[1:-1] = ~straight
    return journey[corner], x[corner], y[corner]


def _list_places(journeys: Journeys, routes: Array, grid: Grid) -> tuple[Array, Array, Array]:
    """Return of which journey each PE, or port, on its way is, from its source on, and x and y."""
    levels, begins = _search(journeys, routes, grid)
    onward, passed = np.zeros(0, np.int64), []
    for level, begin in zip(reversed(levels), reversed(begins), strict=True):
        enters = begin[journeys.enters[level.journey[begin]]]
        passed.append(_place(level, enters, level.side[enters], grid))
        at = np.concatenate([onward, begin])
        passed.append(_place(level, at, RAMP, grid))
        onward = level.onward[at]
    leaves = journeys.leaves[level.journey[at]]
    passed.append(_place(level, at[leaves], onward[leaves], grid))
    journey, x, y = (np.concatenate(each) for each in zip(*passed, strict=True))
    order = np.argsort(journey, kind="stable")
    return journey[order], x[order], y[order]


def _place(
    level: HeatPlaces, at: Array, side: Array | int, grid: Grid
) -> tuple[Array, Array, Array]:
    """Return the journeys of places, and x and y of what lies on a side of them."""
    x, y = coordinates(level.node[at], grid)
    dx, dy = AHEAD[side].T
    return level.journey[at], x + dx, y + dy


def _search(journeys: Journeys, routes: Array, grid: Grid) -> tuple[list[HeatPlaces], list[Array]]:
    """Return places from the targets back, by the hops to these, and which of them are the first
    of a journey."""
    levels: list[HeatPlaces] = []
    begins: list[Array] = []
    level = _find_last(journeys, routes, grid)
    searched = np.ones(len(journeys.target), bool)
    while len(level.journey) or not levels:
        inside, node = _beside(level.node, level.side, grid)
        is_first = np.where(journeys.enters[level.journey], ~inside, level.side == RAMP)
        is_first &= level.node == journeys.source[level.journey]
        begin = np.flatnonzero(is_first)
        begin = begin[np.unique(level.journey[begin], return_index=True)[1]]
        levels.append(level)
        begins.append(begin)
        searched[level.journey[begin]] = False
        searched &= journeys.most > len(levels)
        going = np.flatnonzero(searched[level.journey] & inside & (level.side != RAMP))
        level = _go_back(level, going, node[going], journeys, routes)
    return levels, begins


def _find_last(journeys: Journeys, routes: Array, grid: Grid) -> HeatPlaces:
    """Return where journeys are heard by the routers of their targets."""
    outward = sum(
        (~_beside(journeys.target, side, grid)[0]).astype(np.uint8) << side for side in range(RAMP)
    )
    wanted = np.where(journeys.leaves, outward, 1 << RAMP)
    goes = routes[journeys.colour, :, journeys.target] & wanted[:, None]
    journey, side = np.nonzero(goes)
    goes = goes[journey, side]
    onward = (goes[:, None] >> np.arange(len(SIDES)) & 1).argmax(axis=1)
    return HeatPlaces(journey=journey, node=journeys.target[journey], side=side, onward=onward)


def _go_back(
    level: HeatPlaces, going: Array, node: Array, journeys: Journeys, routes: Array
) -> HeatPlaces:
    """Return from which sides the routers before places hear what goes on to these, each once."""
    colour = journeys.colour[level.journey[going]]
    goes = routes[colour, :, node] >> TURNED[level.side[going], None] & 1
    at, side = np.nonzero(goes)
    journey, before = level.journey[going[at]], node[at]
    places = np.stack([journey, before, side])
    _, each = np.unique(places, axis=1, return_index=True)
    return HeatPlaces(
        journey=journey[each], node=before[each], side=side[each], onward=going[at][each]
    )


def _beside(node: Array, side: Array | int, grid: Grid) -> tuple[Array, Array]:
    """Return whether there is a PE beside each on a side, and its number; the ramp is that of one.
    """
    dx, dy = AHEAD[side].T
    column, row = node % grid.width + dx, node // grid.width + dy
    inside = (column >= 0) & (column < grid.width) & (row >= 0) & (row < grid.height)
    return inside, row * grid.width + column

# --- Fabric on a page: layout, programs, run ------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class FabricOnPage:
    """Data of a fabric, and of the run on it; the latter is missing where the run is not known.

    `cycles` has the cycles of the PEs of each role by what they went into, `bins` the states of all
    PEs over time. `busiest` is the link with most wavelets, None where nothing moved. `recorded` is
    None for a run that was not recorded.
    """

    grid: GridOnPage
    quantities: tuple[Quantity, ...]
    programs: tuple[ProgramOnPage, ...]
    cycles: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    bins: Bins | None = None
    busiest: LinkUsage | None = None
    recorded: GridRecording | None = None


def describe_fabric(
    layout: FabricLayout, programs: tuple[ProgramOnPage, ...], usage: GridUsage | None = None,
    recorded: GridRecording | None = None, to_local: isl.UnionMap | None = None,
) -> FabricOnPage:
    """Return the data of a fabric, of the usage of its run, and of the recording of that run.

    `to_local` is { [PE[x, y] -> T[e]] -> T_local[l] }, the part of a tensor that each PE holds.
    """
    shown, grid = describe_grid(layout, to_local), read_grid(layout.grid)
    roles = read_roles(layout.roles, grid).reshape(grid.height, grid.width)
    quantities = quantities_of_layout(shown, roles, count_colours(layout, grid))
    if usage is None:
        return FabricOnPage(grid=shown, programs=programs, quantities=quantities)
    return FabricOnPage(
        grid=shown, programs=programs, quantities=quantities + quantities_of_run(usage),
        cycles=add_up(usage, tuple(layout.roles), roles), bins=bins_of(usage),
        busiest=find_busiest(usage.links, grid), recorded=recorded,
    )


def add_up(usage: GridUsage, names: Sequence[str], roles: Ints) -> dict[str, dict[str, int]]:
    """Return the cycles of the PEs of each role, by what they went into.

    `roles` is the number of each PE's role, [height][width], -1 for none.
    """
    sums = {
        cause: np.bincount(roles.ravel() + 1, usage.quantities[cause].ravel(), len(names) + 1)
        for cause in CYCLES if cause in usage.quantities
    }
    return {
        name: {cause: int(each[at]) for cause, each in sums.items()}
        for at, name in enumerate(names, 1)
    }

# --- Phases of a run: tasks, and streams at ports -------------------------------------------------

MOST_PHASES = 48
"""Number of phases that are shown, at most: those that take longest."""
UNNAMED = "a task"


def find_phases(run: FabricRun, layout: FabricLayout) -> tuple[tuple[Phase, ...], int]:
    """Return the phases of a recorded run, in the order in which they begin, and a count of others.

    The others are shorter.
    """
    parts = [*_list_tasks(run, tuple(layout.roles)), *_list_streams(run, layout)]
    alike = groupby(sorted(parts, key=_called), key=_called)
    found = [_join(tuple(same)) for _, same in alike]
    longest = sorted(found, key=lambda phase: phase.begin - phase.end)[:MOST_PHASES]
    shown = sorted(longest, key=lambda phase: (phase.begin, phase.end, phase.name))
    return tuple(shown), len(found) - len(shown)


def _list_tasks(run: FabricRun, roles: tuple[str, ...]) -> Iterator[Phase]:
    """Yield a phase for each name of a task in each role: that of a part has its name before."""
    assert run.recorded is not None, "the run was recorded"
    tasks, names = run.recorded.tasks, (UNNAMED, *run.recorded.names)
    for role, name in np.argwhere(tasks["count"] > 0).tolist():
        part, dot, _ = roles[role].rpartition(".")
        each = tasks[role, name]
        yield Phase(
            name=f"{part}{dot}{names[name]}", kind="task", roles=(roles[role],),
            begin=int(each["begin"]), end=int(each["end"]), count=int(each["count"]),
            cycles=int(each["cycles"]),
        )


def _list_streams(run: FabricRun, layout: FabricLayout) -> Iterator[Phase]:
    """Yield a phase for each colour on which something entered or left."""
    assert run.recorded is not None, "the run was recorded"
    entries = [(each.tensor, (each.colour,)) for each in layout.arrivals.values()]
    exits = [(each.tensor, each.colours) for each in layout.departures.values()]
    for kind, phases, ports in (
        ("arrives", run.recorded.entered, entries), ("leaves", run.recorded.left, exits)
    ):
        for at in np.flatnonzero(phases["count"]).tolist():
            tensors = dict.fromkeys(name for name, on in ports if run.colours[at] in on)
            yield Phase(
                name=", ".join(tensors), kind=kind, roles=(),
                begin=int(phases["begin"][at]), end=int(phases["end"][at]),
                count=int(phases["count"][at]), cycles=0,
            )


def _called(phase: Phase) -> tuple[str, str]:
    return phase.kind, phase.name


def _join(same: tuple[Phase, ...]) -> Phase:
    """Return phases of one name as one."""
    return Phase(
        name=same[0].name, kind=same[0].kind,
        roles=tuple(role for each in same for role in each.roles),
        begin=min(each.begin for each in same), end=max(each.end for each in same),
        count=sum(each.count for each in same), cycles=sum(each.cycles for each in same),
    )

# --- Usage and recording of a run, for a page -----------------------------------------------------

EVERY_PE = 64
"""Number of PEs up to which all are shown; of more, the busiest and the first of each role."""
MOST_MOVES = 50_000_000
"""Number of hops, and wavelets that PEs take, up to which a run is recorded: about a minute."""
MOST_EVENTS, MOST_PARTS = 40_000, 2000
EVENTS_OF_MOVES = 3
"""Number of events, about, for each wavelet that a PE takes or sends, or fewer."""
ALL_CYCLES = 2**30
SHOWN = {"task": "task", "vector": "vector", "stream": "stream", "wait": "stall"}
BUSY = ("computing", "memory", "starting", "scalars", "datapath")


def read_usage(content: bytes) -> GridUsage:
    """Return the usage in a usage.npz. Raises ValueError or KeyError where it is none."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return GridUsage(
            until=int(arrays["until"]),
            hops=int(arrays["bin_hops"].sum()),
            quantities={name: arrays[name] for name in QUANTITIES},
            links={name: arrays[name] for name in LINKS},
            bin_width=int(arrays["bin_width"]),
            bins=dict(zip(STATES[1:], arrays["bins"], strict=True)),
        )


def record_again(
    layout: FabricLayout, usage: GridUsage, record: Callable[[RunRequest], FabricRun],
    waiting: WaitingPe | None = None,
) -> GridRecording | None:
    """Record a run once more, until it ends or stops, and return that; None for a long run.

    `usage` is the usage of the run. Where it is known who is `waiting`, the events are theirs.
    """
    taken = int(usage.quantities["received"].sum(dtype=np.int64))
    if usage.hops + taken > MOST_MOVES:
        return None
    asked = choose_events(layout, usage) if waiting is None else choose_last(layout, usage, waiting)
    return describe_record(run_as_far(record, asked)[0], layout, asked.begin)


def choose_events(layout: FabricLayout, usage: GridUsage) -> RunRequest:
    """Return the request for the events that are shown: of all PEs, if these are few.

    Else they are of the first PE and the busiest one of each role.
    """
    grid = read_grid(layout.grid)
    whole = isl.Set(layout.grid)
    if grid.size > EVERY_PE:
        roles = read_roles(layout.roles, grid)
        busy = np.sum([usage.quantities[name] for name in BUSY], axis=0, dtype=np.int64).reshape(-1)
        nodes = [
            node for role in range(len(layout.roles)) if (pes := np.flatnonzero(roles == role)).size
            for node in (pes[0], pes[busy[pes].argmax()])
        ]
        whole = _join_places(zip(*coordinates(np.unique(nodes), grid), strict=True))
    return RunRequest(pes=whole, begin=0, end=ALL_CYCLES, most=MOST_EVENTS)


def choose_last(layout: FabricLayout, usage: GridUsage, waiting: WaitingPe) -> RunRequest:
    """Return the request for the events before a stop: of waiting PEs, or of all, if these are few.

    Events of the last cycles fit, if PEs take and send wavelets at an even rate.
    """
    grid, pes = read_grid(layout.grid), isl.Set(layout.grid)
    if grid.size > EVERY_PE:
        pes &= _join_places(each for step in waiting.steps for each in (step.waits, step.on))
    here = members(pes, grid)
    moved = sum(int(usage.quantities[name][here].sum()) for name in ("received", "sent"))
    cycles = usage.until * MOST_EVENTS // max(1, moved * EVENTS_OF_MOVES)
    return RunRequest(
        pes=pes, begin=max(0, usage.until - cycles), end=ALL_CYCLES, most=MOST_EVENTS
    )


def _join_places(places: Iterable[tuple[int, int]]) -> isl.Set:
    """Return { PE[x, y] } of places."""
    return isl.Set("{ " + "; ".join(f"PE[{x}, {y}]" for x, y in places) + " }")


def describe_record(run: FabricRun, layout: FabricLayout, since: int = 0) -> GridRecording:
    """Return the data of a recorded run, with its events since a cycle."""
    assert run.recorded is not None, "the run was recorded"
    parts = _join_alike(run.recorded.path)
    shown = replace(run.recorded, path=parts[:MOST_PARTS])
    phases, shorter = find_phases(run, layout)
    return GridRecording(
        path=tuple(_describe(part) for part in list_path(shown, run.grid, run.colours)),
        left_out=int(parts["end"][MOST_PARTS]) if len(parts) > MOST_PARTS else 0,
        sums=sum_path(run.recorded), line=follow_path(run, layout), phases=phases, shorter=shorter,
        events=describe_events(run, since),
    )


def _join_alike(path: Array) -> Array:
    """Return the critical path with parts that are alike as one; a task is one by itself."""
    alike = path["deed"][1:] != TASK
    for name in ("node", "deed", "colour"):
        alike &= path[name][1:] == path[name][:-1]
    begins = np.flatnonzero(np.concatenate([[True], ~alike])[: len(path)])
    parts = path[begins].copy()
    parts["begin"] = path["begin"][np.concatenate([begins[1:], [len(path)]])[: len(begins)] - 1]
    return parts


def _describe(part: Part) -> PathSegment:
    return PathSegment(
        x=part.pe[0], y=part.pe[1], begin=part.begin, end=part.end, cause=part.deed,
        name=_name(part), colour=part.colour or "",
    )


def _name(part: Part) -> str:
    if part.deed != "task":
        return part.name or ""
    found = {name: getattr(part, name) for name in OF_TASKS}
    starting = part.end - part.begin - sum(found.values())
    found = {"starting": starting, **found, "taken by streams": found.pop("datapath")}
    said = ", ".join(f"{count} {name}" for name, count in found.items() if count)
    return f"{part.name or 'a task'}: {said}" if said else part.name or ""


def describe_events(run: FabricRun, since: int) -> Events:
    """Return the data of the events of some PEs since a cycle."""
    record = run.recorded
    assert record is not None, "the run was recorded"
    kinds = np.array([KINDS.index(SHOWN[name]) if name in SHOWN else -1 for name in RECORDED])
    events = record.events[kinds[record.events["kind"]] >= 0]
    events = events[np.lexsort((events["begin"], events["node"]))]
    kind = kinds[events["kind"]]
    streams, stalls = kind == KINDS.index("stream"), kind == KINDS.index("stall")
    first = len(record.names)
    unnamed = np.where(streams, first + events["colour"], -1)
    is_whole = record.count == len(record.events)
    return Events(
        names=(*record.names, *run.colours, *STATES), pe=pack(events["node"]),
        begin=pack(events["begin"]), duration=pack(events["duration"]), kind=pack(kind),
        name=pack(np.where(events["name"] >= 0, events["name"], unnamed)),
        cause=pack(np.where(stalls, first + len(run.colours) + events["colour"], -1)),
        since=since, until=None if is_whole else int(record.events["begin"][-1]),
    )
