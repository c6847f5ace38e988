"""The outcome of a run: tensors, cycles, the critical path, events, counters."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric import engine as engine
from lairmake.stages.fabric.elements import DTYPES, Bools
from lairmake.stages.fabric.engine import PROBE, STATES
from lairmake.stages.fabric.grid import Grid, coordinates, members
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.fabric.load import LoadedLayout, find_residents, find_shape, gather
from lairmake.stages.fabric.ports import (
    PortDeparture,
    PortState,
    Received,
    find_sequence_fault,
    read_received,
    take_departed,
)

# --- Tensors that a run gives ---------------------------------------------------------------------

Array = NDArray[Any]


class FabricFailure(Exception):  # noqa: N818
    """A program or the layout asked for what the machine does not have; the text says what.

    `place` has the keys of the layout's text under which that stands, if it does.
    """

    def __init__(self, said: str, place: tuple[str | int, ...] = ()) -> None:
        super().__init__(said)
        self.place = place


def read_outputs(
    loaded: LoadedLayout,
    layout: FabricLayout,
    invocations: int,
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, list[Array]]:
    """Return the arrays of each output: see FabricRun. Raises FabricFailure, ValueError."""
    leaving = {departure.tensor: departure.dtype for departure in loaded.departures}
    departed = _departures(loaded, invocations)
    outputs = {
        name: [
            _departed(departed, name, dtype, find_shape(layout, name, shapes), i)
            for i in range(invocations)
        ]
        for name, dtype in leaving.items()
    }
    return outputs | {
        name: [array]
        for name, array in read_residents(loaded, layout, invocations, shapes).items()
    }


def read_residents(
    loaded: LoadedLayout,
    layout: FabricLayout,
    invocations: int,
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, Array]:
    """Return what PEs hold of tensors that are read from memory. Raises ValueError."""
    types = {name: DTYPES[tensor.type] for name, tensor in find_residents(layout, "out")}
    return {
        name: _gathered(
            loaded, layout, name, dtype, find_shape(layout, name, shapes), invocations
        )
        for name, dtype in types.items()
    }


def _departures(
    loaded: LoadedLayout, invocations: int
) -> list[tuple[PortDeparture, Array | Received]]:
    """Return every departure and what it received. Raises FabricFailure where that is wrong."""
    found, outlet = [], 0
    for departure in loaded.departures:
        outlets = loaded.outlets[outlet : outlet + len(departure.outlets)]
        outlet += len(departure.outlets)
        first = int(outlets["first"].min()) if len(outlets) else 0
        here = slice(first, first + int(outlets["count"].sum()))
        found.append((departure, _received(loaded, departure, outlets, here, invocations)))
    return found


def _received(
    loaded: LoadedLayout, departure: PortDeparture, outlets: Array, here: slice, invocations: int
) -> Array | Received:
    received, sequences = loaded.received[here], departure.sequences
    if sequences is None:
        return received
    kinds = loaded.received_kind[here]
    got = read_received(sequences, outlets, received, kinds, invocations)
    wrong = find_sequence_fault(sequences, got, outlets["node"], loaded.grid)
    if wrong:
        raise FabricFailure(wrong)
    return got


def _departed(
    departures: Sequence[tuple[PortDeparture, Array | Received]],
    name: str,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    invocation: int,
) -> Array:
    array, found = np.zeros(shape, dtype), np.zeros(shape, dtype=np.bool_)
    for departure, received in departures:
        if departure.tensor == name:
            take_departed(departure, received, invocation, array, found)
    return _whole(name, array, found)


def _gathered(
    loaded: LoadedLayout,
    layout: FabricLayout,
    name: str,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    invocations: int,
) -> Array:
    array, found = np.zeros(shape, dtype), np.zeros(shape, dtype=np.bool_)
    for number, role in enumerate(loaded.roles):
        pes = np.flatnonzero(loaded.role == number)
        for tensor in layout.roles[role].tensors.values():
            if tensor.transfer == "out" and tensor.tensor == name:
                gather(loaded.memory[number], tensor, array, found, pes, loaded.grid, invocations)
    return _whole(name, array, found)


def _whole(name: str, array: Array, found: Bools) -> Array:
    if not found.all():
        missing = int(found.size - found.sum())
        raise ValueError(f"the layout leaves out {missing} of {found.size} elements of {name}")
    return array

# --- Record of a run ------------------------------------------------------------------------------
#
# Each thing that happens has one for which it waited last: the task before it on its PE, the
# wavelet that started it, the element before it in its stream. Followed from the last output back
# to what began it, these are the critical path: without a gap, from cycle 0 to the last one.

DEEDS = ("port", "links", "routers", "task", "stream", "started", "datapath", *STATES)
"""Kinds of parts of the critical path, by `enum deed` of recorder.h; of waits, by the state."""
KINDS = ("task", "vector", "stream", "wait", "sent", "queue")
"""Kinds of events, by `enum event_kind`."""
MOST_SEGMENTS, MOST_NAMES = 2**20, 2**14
TASK = DEEDS.index("task")
OF_TASKS = ("computing", "memory", "scalars", "datapath")
"""Kinds of cycles of a task on the critical path; the others start it, and instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The events that are asked for: those of `pes`, `{ PE[x, y] : ... }`, in cycles from `begin`
    to before `end`, `most` of them."""

    pes: isl.Set
    begin: int
    end: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalSegment:
    """A part of the critical path: from `begin` to `end` a PE, or a port beside it, did one thing.

    `deed` is one of DEEDS. Of a task, `name` is what the program calls it, and `computing`,
    `memory`, `scalars` and `datapath`, which streams took, are parts of its cycles; the others
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
class RecordedRun:
    """The critical path, from the last output back, and events [event] as `struct event` has them.

    There were `count` events, of which as many are kept as there is space for; `name` of an event
    is a place in `names`. `tasks` [role][1 + name], those without a name first, and `entered` and
    `left` [colour] have what happened on all PEs, as `struct phase` has it.
    """

    path: Array
    events: Array
    count: int
    names: tuple[str, ...]
    tasks: Array
    entered: Array
    left: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecording:
    """The arrays that a run records in."""

    structure: engine.EngineRecord
    segments: Array
    events: Array
    asked: Array
    tasks: Array
    entered: Array
    left: Array
    names: Any


def prepare(asked: RunRequest | None, loaded: LoadedLayout) -> RunRecording:
    """Return the arrays that a run is recorded in; only what the run writes takes memory."""
    inside = members(asked.pes, loaded.grid) if asked else np.zeros(0, bool)
    pes = inside.astype(np.uint8).reshape(-1)
    segments = np.zeros(MOST_SEGMENTS, engine.SEGMENT)
    events = np.zeros(asked.most if asked else 0, engine.EVENT)
    tasks = np.zeros((len(loaded.roles), 1 + MOST_NAMES), engine.PHASE)
    entered, left = np.zeros((2, len(loaded.colours.names)), engine.PHASE)
    names = (ctypes.c_char_p * MOST_NAMES)()
    structure = engine.EngineRecord(
        asked=pes.ctypes.data if asked else None, segment=segments.ctypes.data,
        event=events.ctypes.data, name=ctypes.addressof(names), task=tasks.ctypes.data,
        entered=entered.ctypes.data, left=left.ctypes.data,
        segment_space=len(segments), event_space=len(events), name_space=MOST_NAMES,
    )
    structure.to = asked.end if asked else 0
    setattr(structure, "from", asked.begin if asked else 0)
    return RunRecording(
        structure=structure, segments=segments, events=events, asked=pes, tasks=tasks,
        entered=entered, left=left, names=names,
    )


def read_record(recording: RunRecording) -> RecordedRun:
    """Return what a run recorded, while its library is open."""
    said = recording.structure
    names = recording.names[: min(said.names, MOST_NAMES)]
    return RecordedRun(
        path=recording.segments[: min(said.segments, MOST_SEGMENTS)].copy(),
        events=recording.events[: min(said.events, len(recording.events))].copy(),
        count=said.events,
        names=tuple(name.decode().removeprefix("&my->") for name in names),
        tasks=recording.tasks[:, : 1 + len(names)].copy(),
        entered=recording.entered, left=recording.left,
    )


def list_path(
    recorded: RecordedRun, grid: Grid, colours: Sequence[str]
) -> Iterator[CriticalSegment]:
    """Yield the parts of the critical path, from the last output back."""
    for each in recorded.path:
        x, y = coordinates(each["node"], grid)
        yield CriticalSegment(
            pe=(int(x), int(y)), begin=int(each["begin"]), end=int(each["end"]),
            deed=DEEDS[each["deed"]],
            colour=colours[each["colour"]] if each["colour"] >= 0 else None,
            name=recorded.names[each["name"]] if each["name"] >= 0 else None,
            **{name: int(each[name]) for name in OF_TASKS},
        )


def sum_path(recorded: RecordedRun) -> Mapping[str, int]:
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

# --- Wavelets that a probe counts -----------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The cycles in which a PE's router sent on the first and the last wavelet, and how many.

    Control wavelets count, too; without any, `first` and `last` are None.
    """

    pe: tuple[int, int]
    first: int | None
    last: int | None
    wavelets: int

# --- Probes of colours ----------------------------------------------------------------------------
#
# A probe notes when the first and the last wavelet of a colour passed the router of a PE.

@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """The PEs that are probed for a colour: `of` [colour][PE] numbers their records, -1 for none.

    Without probes both arrays are empty.
    """

    of: NDArray[np.int32]
    records: NDArray[Any]
    names: tuple[str, ...]


def place_probes(asked: Mapping[str, isl.Set], names: Sequence[str], grid: Grid) -> Probes:
    """Return the probes that are asked for, `{ PE[x, y] : ... }` by the name of a colour.

    Raises ValueError if there is no such colour.
    """
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise ValueError(f"a probe is of the colour {unknown[0]}; known are {', '.join(names)}")
    of = np.full((len(names) if asked else 0, grid.size), -1, dtype=np.int32)
    count = 0
    for name, pes in asked.items():
        here = np.flatnonzero(members(pes, grid).reshape(-1))
        of[names.index(name), here] = np.arange(count, count + here.size)
        count += here.size
    records = np.zeros(count, PROBE)
    records["first"] = records["last"] = -1
    return Probes(of=of, records=records, names=tuple(names))


def read_probes(probes: Probes, grid: Grid) -> dict[str, tuple[Probed, ...]]:
    """Return what was noted, by colour and in the order of the PEs."""
    return {
        name: tuple(_read(probes, row, int(node), grid) for node in np.flatnonzero(row >= 0))
        for name, row in zip(probes.names, probes.of, strict=False) if (row >= 0).any()
    }


def _read(probes: Probes, row: NDArray[np.int32], node: int, grid: Grid) -> Probed:
    first, last, count = (int(probes.records[row[node]][name]) for name in PROBE.names or ())
    x, y = coordinates(np.array(node), grid)
    return Probed(
        pe=(int(x), int(y)), wavelets=count,
        first=first if count else None, last=last if count else None,
    )

# --- Counters of programs -------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """One counter of a role: calls and points of all its PEs."""

    calls: int
    points: int


def add_up(counts: NDArray[np.int64]) -> list[Count]:
    """Return the counters of a role from those of its PEs, [PE][counter][calls, points]."""
    return [Count(calls=int(calls), points=int(points)) for calls, points in counts.sum(axis=0)]

# --- Outcome of a run -----------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class FabricRun:
    """What a run gave.

    `outputs` has an array per invocation of each tensor that leaves, and one array, from after the
    last invocation, of each resident tensor. `cycles` is the cycle of the last output wavelet, or
    of the last invocation's end where nothing leaves; `completed` has that of each invocation's
    last output wavelet; `main_cycles` the longest `main` before cycle 0; `usage` [PE] what the
    cycles of each went into: `struct usage` of engine.h, `activity` [PE], `links` [PE][side] and
    `bins` [1] what `struct activity`, `link` and `bins` say there; `until` is the cycle in which
    the last PE came to rest. `role` [PE] is the number of each PE's, -1 for none. `injected` and
    `delivered` count wavelets, `hops` links that they took, `stalls` cycles in which the head of a
    router's queue waited. `counters` lists the counters of each role by number, `points` [PE of
    the role][counter] those of each PE; `memory` is the role's bytes per PE; `probes` has by colour
    what was asked for.
    """

    outputs: Mapping[str, Sequence[Array]]
    cycles: int
    completed: Sequence[int]
    main_cycles: int
    usage: Array
    activity: Array
    links: Array
    bins: Array
    until: int
    grid: Grid
    role: NDArray[np.int32]
    injected: int
    delivered: int
    hops: int
    stalls: int
    tasks: int
    counters: Mapping[str, Sequence[Count]]
    points: Mapping[str, NDArray[np.int64]]
    memory: Mapping[str, int]
    leaving: PortState
    probes: Mapping[str, tuple[Probed, ...]]
    colours: tuple[str, ...]
    recorded: RecordedRun | None
