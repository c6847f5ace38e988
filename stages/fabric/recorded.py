"""What is recorded of a run: its critical path, and what happened on some PEs.

Each thing that happens has one for which it waited last: the task before it on its PE, the wavelet
that started it, the element before it in its stream. Followed from the last output back to what
began it, these are the critical path: without a gap, from cycle 0 to the last one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric import library as engine
from lairmake.stages.fabric.grid import Grid, coordinates, members
from lairmake.stages.fabric.library import STATES
from lairmake.stages.fabric.loaded import Loaded

Array = NDArray[Any]
DEEDS = ("port", "links", "routers", "task", "stream", "started", "datapath", *STATES)
"""What a part of the critical path is, by `enum deed` of recorder.h: of waits, by the state."""
KINDS = ("task", "vector", "stream", "wait", "sent", "queue")
"""What an event is, by `enum event_kind`."""
MOST_SEGMENTS, MOST_NAMES = 2**20, 2**14
TASK = DEEDS.index("task")
OF_TASKS = ("computing", "memory", "scalars", "datapath")
"""What cycles of a task on the critical path go into; the rest starts it, and instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of which PEs events are asked for, `{ PE[x, y] : ... }`, in cycles from `begin` to before
    `end`, and of how many there is space."""

    pes: isl.Set
    begin: int
    end: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of the critical path: until a cycle a PE, or a port beside it, did one thing.

    `deed` is one of DEEDS. Of a task `name` is what the program calls it, and `computing`,
    `memory`, `scalars` and `datapath`, which streams took, are those of its cycles; the others
    started it, and instructions. None where there is no colour, or no name.
    """

    pe: tuple[int, int]
    begin: int
    end: int
    deed: str
    colour: str | None
    name: str | None
    computing: int
    memory: int
    scalars: int
    datapath: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The critical path, from the last output back, and events [event] as `struct event` has them.

    There were `count` events, of which as many are kept as there is space for. `names` are what
    `name` of an event counts in. `tasks` [role][1 + name], those without a name first, `entered`
    and `left` [colour] are what of these happened on all PEs, as `struct phase` has it.
    """

    path: Array
    events: Array
    count: int
    names: tuple[str, ...]
    tasks: Array
    entered: Array
    left: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The arrays that a run records in."""

    structure: engine.Record
    segments: Array
    events: Array
    asked: Array
    tasks: Array
    entered: Array
    left: Array
    names: Any


def prepare(asked: Asked | None, loaded: Loaded) -> Recording:
    """Return where a run is recorded; only what it writes takes memory."""
    inside = members(asked.pes, loaded.grid) if asked else np.zeros(0, bool)
    pes = inside.astype(np.uint8).reshape(-1)
    segments = np.zeros(MOST_SEGMENTS, engine.SEGMENT)
    events = np.zeros(asked.most if asked else 0, engine.EVENT)
    tasks = np.zeros((len(loaded.roles), 1 + MOST_NAMES), engine.PHASE)
    entered, left = np.zeros((2, len(loaded.colours.names)), engine.PHASE)
    names = (ctypes.c_char_p * MOST_NAMES)()
    structure = engine.Record(
        asked=pes.ctypes.data if asked else None, segment=segments.ctypes.data,
        event=events.ctypes.data, name=ctypes.addressof(names), task=tasks.ctypes.data,
        entered=entered.ctypes.data, left=left.ctypes.data,
        segment_space=len(segments), event_space=len(events), name_space=MOST_NAMES,
    )
    structure.to = asked.end if asked else 0
    setattr(structure, "from", asked.begin if asked else 0)
    return Recording(
        structure=structure, segments=segments, events=events, asked=pes, tasks=tasks,
        entered=entered, left=left, names=names,
    )


def read_record(recording: Recording) -> Recorded:
    """Return what a run recorded, while its library is open."""
    said = recording.structure
    names = recording.names[: min(said.names, MOST_NAMES)]
    return Recorded(
        path=recording.segments[: min(said.segments, MOST_SEGMENTS)].copy(),
        events=recording.events[: min(said.events, len(recording.events))].copy(),
        count=said.events,
        names=tuple(name.decode().removeprefix("&my->") for name in names),
        tasks=recording.tasks[:, : 1 + len(names)].copy(),
        entered=recording.entered, left=recording.left,
    )


def list_path(recorded: Recorded, grid: Grid, colours: Sequence[str]) -> Iterator[Segment]:
    """Yield the parts of the critical path, from the last output back."""
    for each in recorded.path:
        x, y = coordinates(each["node"], grid)
        yield Segment(
            pe=(int(x), int(y)), begin=int(each["begin"]), end=int(each["end"]),
            deed=DEEDS[each["deed"]],
            colour=colours[each["colour"]] if each["colour"] >= 0 else None,
            name=recorded.names[each["name"]] if each["name"] >= 0 else None,
            **{name: int(each[name]) for name in OF_TASKS},
        )


def sum_path(recorded: Recorded) -> Mapping[str, int]:
    """Return the cycles of the critical path by what they went into, those of tasks taken apart.

    Kinds without cycles are left out.
    """
    path = recorded.path
    cycles = (path["end"] - path["begin"]).astype(np.int64)
    found = np.bincount(path["deed"], weights=cycles, minlength=len(DEEDS)).astype(np.int64)
    sums = {name: int(count) for name, count in zip(DEEDS, found, strict=True)}
    tasks = sums.pop("task")
    of_tasks = {
        name: int(path[name][path["deed"] == TASK].sum(dtype=np.int64)) for name in OF_TASKS
    }
    sums["starting"] = sums.pop("started") + tasks - sum(of_tasks.values())
    sums["datapath"] += of_tasks.pop("datapath")
    return {name: count for name, count in {**of_tasks, **sums}.items() if count}
