"""What a page shows of a run: cycles of each PE, the critical path, phases, and what PEs did."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.deadlock import Waiting, run_as_far
from lairmake.stages.fabric.engine import STATES
from lairmake.stages.fabric.grid import coordinates, members, read_grid, read_roles
from lairmake.stages.fabric.layout import Layout
from lairmake.stages.fabric.outcome import (
    KINDS as RECORDED,
    OF_TASKS,
    TASK,
    Asked,
    Segment as Part,
    list_path,
    sum_path,
)
from lairmake.stages.picture.figures import (
    KINDS,
    LINKS,
    QUANTITIES,
    Events,
    Recorded,
    Segment,
    Usage,
)
from lairmake.stages.picture.packing import pack
from lairmake.stages.picture.phased import find_phases
from lairmake.stages.picture.routed import follow_path

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun

Array = NDArray[Any]
EVERY_PE = 64
"""Up to how many PEs are all shown; of more those that have most to do, by role, and the first."""
MOST_MOVES = 50_000_000
"""Up to how many hops, and wavelets that PEs take, a run is recorded: that takes about a minute."""
MOST_EVENTS, MOST_PARTS = 40_000, 2000
EVENTS_OF_MOVES = 3
"""About how many events there are for each wavelet that a PE takes or sends, or fewer."""
ALL_CYCLES = 2**30
SHOWN = {"task": "task", "vector": "vector", "stream": "stream", "wait": "stall"}
BUSY = ("computing", "memory", "starting", "scalars", "datapath")


def read_usage(content: bytes) -> Usage:
    """Return what a usage.npz says. Raises ValueError or KeyError where it is none."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Usage(
            until=int(arrays["until"]),
            hops=int(arrays["bin_hops"].sum()),
            quantities={name: arrays[name] for name in QUANTITIES},
            links={name: arrays[name] for name in LINKS},
            bin_width=int(arrays["bin_width"]),
            bins=dict(zip(STATES[1:], arrays["bins"], strict=True)),
        )


def record_again(
    layout: Layout, usage: Usage, record: Callable[[Asked], FabricRun],
    waiting: Waiting | None = None,
) -> Recorded | None:
    """Run once more what used that, until it ends or stops; return what a page shows of it.

    Of who is `waiting` there are events, where that is known. None of a long run.
    """
    taken = int(usage.quantities["received"].sum(dtype=np.int64))
    if usage.hops + taken > MOST_MOVES:
        return None
    asked = choose_events(layout, usage) if waiting is None else choose_last(layout, usage, waiting)
    return describe_record(run_as_far(record, asked)[0], layout, asked.begin)


def choose_events(layout: Layout, usage: Usage) -> Asked:
    """Return of which PEs events are shown: of all, if these are few.

    Else of each role the first PE and the busiest one.
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
    return Asked(pes=whole, begin=0, end=ALL_CYCLES, most=MOST_EVENTS)


def choose_last(layout: Layout, usage: Usage, waiting: Waiting) -> Asked:
    """Return of which PEs events are shown until a stop: of who waits, or of all, if these are few.

    There is space for those of the last cycles, if it takes and sends wavelets at an even rate.
    """
    grid, pes = read_grid(layout.grid), isl.Set(layout.grid)
    if grid.size > EVERY_PE:
        pes &= _join_places(each for step in waiting.steps for each in (step.waits, step.on))
    here = members(pes, grid)
    moved = sum(int(usage.quantities[name][here].sum()) for name in ("received", "sent"))
    cycles = usage.until * MOST_EVENTS // max(1, moved * EVENTS_OF_MOVES)
    return Asked(
        pes=pes, begin=max(0, usage.until - cycles), end=ALL_CYCLES, most=MOST_EVENTS
    )


def _join_places(places: Iterable[tuple[int, int]]) -> isl.Set:
    """Return { PE[x, y] } of places."""
    return isl.Set("{ " + "; ".join(f"PE[{x}, {y}]" for x, y in places) + " }")


def describe_record(run: FabricRun, layout: Layout, since: int = 0) -> Recorded:
    """Return what a page shows of a run that was recorded, its events since a cycle."""
    assert run.recorded is not None, "the run was recorded"
    parts = _join_alike(run.recorded.path)
    shown = replace(run.recorded, path=parts[:MOST_PARTS])
    phases, shorter = find_phases(run, layout)
    return Recorded(
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


def _describe(part: Part) -> Segment:
    return Segment(
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
    """Return what some PEs did since a cycle, as a page shows it."""
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
