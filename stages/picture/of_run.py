"""What a page shows of a run: cycles of each PE, the critical path, and what some PEs did."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from stages.fabric.grid import coordinates, read_grid, read_roles
from stages.fabric.layout_yaml import Layout
from stages.fabric.library import STATES
from stages.fabric.recorded import KINDS, Asked, Segment as Part, list_path
from stages.picture.figures import LINKS, QUANTITIES, Event, Recorded, Segment, Usage

if TYPE_CHECKING:
    from stages.fabric.driver import FabricRun

EVERY_PE = 64
"""Up to how many PEs are all shown; of more those that have most to do, by role, and the first."""
MOST_EVENTS, MOST_PARTS = 12_000, 2000
ALL_CYCLES = 2**30
SHOWN = {"task": "task", "vector": "vector", "stream": "stream", "wait": "stall"}
BUSY = ("computing", "memory", "starting", "scalars", "datapath")


def read_usage(content: bytes) -> Usage:
    """Return what a usage.npz says. Raises ValueError or KeyError where it is none."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Usage(
            until=int(arrays["until"]),
            quantities={name: arrays[name] for name in QUANTITIES},
            links={name: arrays[name] for name in LINKS},
            bin_width=int(arrays["bin_width"]),
            bins=dict(zip(STATES[1:], arrays["bins"], strict=True)),
        )


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
        x, y = coordinates(np.unique(nodes), grid)
        places = "; ".join(f"PE[{a}, {b}]" for a, b in zip(x, y, strict=True))
        whole = isl.Set(f"{{ {places} }}")
    return Asked(pes=whole, begin=0, end=ALL_CYCLES, most=MOST_EVENTS)


def describe_record(run: FabricRun) -> Recorded:
    """Return what a page shows of a recorded run."""
    return Recorded(path=tuple(_describe_path(run)), events=tuple(_describe_events(run)))


def _describe_path(run: FabricRun) -> Iterator[Segment]:
    """Yield the critical path, from the last output back; parts that are alike are one."""
    assert run.recorded is not None, "the run was recorded"
    parts = list_path(run.recorded, run.grid, run.colours)
    for count, (_, alike) in enumerate(groupby(parts, _kind)):
        if count == MOST_PARTS:
            return
        last, *others = alike
        yield Segment(
            x=last.pe[0], y=last.pe[1], begin=[last, *others][-1].begin, end=last.end,
            cause=last.deed, name=_name(last), colour=last.colour or "",
        )


def _kind(part: Part) -> tuple[object, ...]:
    """Return what parts that are shown as one have in common: a task is one by itself."""
    return part.pe, part.deed, part.colour, part.end if part.deed == "task" else None


def _name(part: Part) -> str:
    if part.deed != "task":
        return part.name or ""
    starting = part.end - part.begin - part.computing - part.memory - part.scalars
    found = {"starting": starting, "computing": part.computing, "memory": part.memory,
             "scalars": part.scalars}
    said = ", ".join(f"{count} {name}" for name, count in found.items() if count)
    return f"{part.name or 'a task'}: {said}" if said else part.name or ""


def _describe_events(run: FabricRun) -> Iterator[Event]:
    assert run.recorded is not None, "the run was recorded"
    events = run.recorded.events
    shown = np.isin(events["kind"], [KINDS.index(name) for name in SHOWN])
    names = (*run.recorded.names, "")
    for each in events[shown]:
        kind = KINDS[each["kind"]]
        x, y = coordinates(each["node"], run.grid)
        colour = run.colours[each["colour"]] if kind == "stream" else ""
        yield Event(
            x=int(x), y=int(y), cycle=int(each["begin"]), duration=int(each["duration"]),
            kind=SHOWN[kind], name=names[each["name"]] or colour,
            cause=STATES[each["colour"]] if kind == "wait" else "",
        )
