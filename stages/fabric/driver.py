"""Driver of the simulated fabric: arrays in, arrays and cycles out."""

from __future__ import annotations

import ctypes
import functools
import itertools
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric import engine as engine
from lairmake.stages.fabric.check import LayoutFault, find_excess, find_faults, find_lack
from lairmake.stages.fabric.deadlock import FabricStuck, read_waiting
from lairmake.stages.fabric.elements import DTYPES
from lairmake.stages.fabric.engine import Tell, find_share, report_progress
from lairmake.stages.fabric.grid import explain, find_wrong
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.fabric.load import LoadedLayout, find_residents, load, scatter_inputs
from lairmake.stages.fabric.outcome import (
    FabricFailure,
    FabricRun,
    Probes,
    RunRecording,
    RunRequest,
    add_up,
    place_probes,
    prepare,
    read_outputs,
    read_probes,
    read_record,
    read_residents,
)
from lairmake.stages.fabric.ports import Values, find_leaving_ports
from lairmake.stages.machine.profile import Profile

# --- Layouts and arrays before a run --------------------------------------------------------------
#
# They are made as the engine takes them, or their faults are told.

MOST_FAULTS = 5
"""The most faults of a layout that an error tells."""


def check_arrays(layout: FabricLayout, values: Values, invocations: int) -> None:
    """Raise ValueError where a tensor that arrives or is resident has no value, or another one."""
    arriving = ((entry.tensor, entry.type, invocations) for entry in layout.arrivals.values())
    resident = ((name, tensor.type, 1) for name, tensor in find_residents(layout, "in"))
    for name, type_, most in (*arriving, *resident):
        dtype = DTYPES[type_]
        if name not in values:
            raise ValueError(f"tensor {name} is missing")
        if len(values[name]) not in (1, most):
            raise ValueError(f"tensor {name} has {len(values[name])} values, not {most}")
        if values[name][0].dtype != dtype:
            raise ValueError(f"tensor {name} is {values[name][0].dtype}, not {dtype}")


def accept(
    opened: ctypes.CDLL, layout: FabricLayout, profile: Profile, values: Values, invocations: int,
    shapes: Mapping[str, tuple[int, ...]], symbols: Mapping[str, str],
) -> LoadedLayout:
    """Return what the engine takes of a layout.

    Raises FabricFailure where texts or routes of the layout are at fault, or where it takes more
    than the machine has; ValueError where it contradicts itself or the arrays.
    """
    _refuse(find_excess(layout, profile))
    loaded = _load(opened, layout, values, invocations, shapes, symbols)
    _refuse(find_lack(layout, loaded.grid, loaded.programs, profile))
    _refuse(find_faults(
        layout, loaded.grid, loaded.colours, loaded.inlets.inlets, loaded.outlets, profile))
    return loaded


def _load(
    opened: ctypes.CDLL, layout: FabricLayout, values: Values, *arguments: Any
) -> LoadedLayout:
    """Return what the engine takes, with what is in memory before the start."""
    try:
        loaded = load(opened, layout, values, *arguments)
        scatter_inputs(loaded, layout, values)
        return loaded
    except (isl.Error, ValueError, LookupError) as error:
        for wrong in find_wrong(layout):
            raise FabricFailure(explain(wrong), wrong.path) from error
        raise


def _refuse(faults: Iterable[LayoutFault]) -> None:
    """Raise FabricFailure with the first faults of a layout, if it has any."""
    found = list(itertools.islice(faults, MOST_FAULTS))
    if found:
        raise FabricFailure("; ".join(fault.said for fault in found), found[0].place)

# --- Runs on the simulated fabric -----------------------------------------------------------------
#
# Reads    a library made by stages/fabric/compiler.py
# Assumes  the layout and the programs agree: names, colours, addresses, numbers of elements.
# Ensures  no work in Python per PE or per element; the same arguments give the same result.

__all__ = ["FabricFailure", "FabricStuck", "run_fabric"]

Array = NDArray[Any]
CYCLE_LIMIT = 10**9
TASK_LIMIT = 10.0
"""Seconds of the processor that one task may take: none that ends takes as many."""

ONE_AT_A_TIME = threading.Lock()
"""A run has the signals of its process, by which a program that is at fault is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Limits at which a run ends that does not end by itself, and the order of visits to PEs."""

    cycles: int
    task: float
    visits: int


def run_fabric(
    library: Path,
    layout: FabricLayout,
    profile: Profile,
    arrays: Mapping[str, Array | Sequence[Array]],
    invocations: int = 1,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    cycle_limit: int = CYCLE_LIMIT, tell: Tell | None = None, tasks: int | None = None,
    probes: Mapping[str, isl.Set] | None = None, symbols: Mapping[str, str] | None = None,
    recorded: bool = False, asked: RunRequest | None = None, task_limit: float = TASK_LIMIT,
    visits: int = 0,
) -> FabricRun:
    """Run the programs of `library` on the fabric of `layout`.

    `arrays` holds every tensor that arrives or is resident before the start, by name; of one that
    arrives, an array that comes in every invocation, or a sequence with one for each. `shapes`
    gives those of outputs, else the smallest that hold what the layout names. `tell` is told how
    far it is: where nothing enters, of `tasks`, which is about how many run. `probes` has by colour
    the PEs for which its first and last wavelet is noted; `symbols` by role the name of its
    program, else `program_ROLE`. Of a library that is `recorded` the run has the critical path, and
    the events that are `asked` for. A task has `task_limit` seconds of the processor. `visits`, if
    it is not 0, is the seed of an order in which PEs and routers are looked at in each cycle, on
    which nothing depends.

    Raises FabricFailure before the run where routes are at fault, ValueError where the layout
    contradicts itself or the arrays; FabricStuck and FabricFailure during it: where it ends with
    anything under way, too, and for whatever a program does that no PE can.
    """
    values = {name: [array] if isinstance(array, np.ndarray) else array
              for name, array in arrays.items()}
    check_arrays(layout, values, invocations)
    with engine.open_library(library) as opened:
        loaded = accept(
            opened, layout, profile, values, invocations, shapes or {}, symbols or {})
        placed = place_probes(probes or {}, loaded.colours.names, loaded.grid)
        recording = prepare(asked, loaded) if recorded else None
        limits = RunLimits(cycles=cycle_limit, task=task_limit, visits=visits)
        status, outcome = _run(
            opened, loaded, profile, invocations, limits, tell, tasks, placed, recording
        )
        if status == engine.COMPLETE:
            outputs = read_outputs(loaded, layout, invocations, shapes or {})
            return _result(loaded, layout, outcome, outputs, placed, recording)
        begun = min(invocations, 1 + int(np.count_nonzero(loaded.completed)))
        read = read_residents(loaded, layout, begun, shapes or {})
        left = {name: [array] for name, array in read.items()}
        raise FabricStuck(
            outcome.report.decode(errors="ignore"), status == engine.OUT_OF_CYCLES,
            read_waiting(outcome, loaded.colours.names),
            _result(loaded, layout, outcome, left, placed, recording),
        )


def _run(
    opened: ctypes.CDLL,
    loaded: LoadedLayout,
    profile: Profile,
    invocations: int,
    limits: RunLimits,
    tell: Tell | None,
    tasks: int | None,
    probes: Probes,
    recording: RunRecording | None,
) -> tuple[int, engine.Outcome]:
    """Run the engine; the arrays it is given are alive in `loaded` and in local names.

    Return its status and outcome. Raises FabricFailure.
    """
    stride = np.array([memory.shape[1] for memory in loaded.memory], dtype=np.int64)
    layout = engine.EngineLayout(
        machine=engine.make_machine(profile),
        width=loaded.grid.width,
        height=loaded.grid.height,
        west=loaded.grid.west,
        north=loaded.grid.north,
        colours=len(loaded.colours.names),
        roles=len(loaded.roles),
        invocations=invocations,
        inlets=len(loaded.inlets.inlets),
        outlets=len(loaded.outlets),
        counters=loaded.counters.shape[1],
        cycle_limit=limits.cycles,
        task_limit=round(limits.task * 1e6),
        visits=limits.visits,
        colour_names=engine.make_strings(loaded.colours.names),
        programs=engine.make_pointers([ctypes.addressof(program) for program in loaded.programs]),
        memory=engine.make_pointers([memory.ctypes.data for memory in loaded.memory]),
        memory_stride=stride.ctypes.data,
        origin=loaded.origins.ctypes.data,
        role=loaded.role.ctypes.data,
    )
    _set_colours(layout, loaded)
    _set_streams(layout, loaded, probes)
    if recording is not None:
        layout.record = ctypes.addressof(recording.structure)
    return _ended(opened, layout, loaded, tell, tasks)


def _set_colours(layout: engine.EngineLayout, loaded: LoadedLayout) -> None:
    """Tell the engine where routes, filters and the depths of queues are."""
    colours = loaded.colours
    layout.input_depth = loaded.input_depths.ctypes.data
    layout.output_depth = loaded.output_depths.ctypes.data
    layout.switches = colours.switches.ctypes.data
    layout.routes = colours.routes.ctypes.data
    layout.filter = engine.make_pointers(
        [None if each is None else each.ctypes.data for each in colours.filters]
    )


def _set_streams(layout: engine.EngineLayout, loaded: LoadedLayout, probes: Probes) -> None:
    """Tell the engine where what enters is, and where it writes what leaves and what it counts."""
    layout.inlet = loaded.inlets.inlets.ctypes.data
    layout.outlet = loaded.outlets.ctypes.data
    layout.sent = loaded.inlets.sent.ctypes.data
    layout.sent_control = loaded.inlets.control.ctypes.data
    layout.received = loaded.received.ctypes.data
    layout.received_kind = loaded.received_kind.ctypes.data
    layout.completed = loaded.completed.ctypes.data
    layout.counter = loaded.counters.ctypes.data
    layout.usage = loaded.usage.ctypes.data
    layout.activity = loaded.activity.ctypes.data
    layout.link = loaded.links.ctypes.data
    layout.bins = loaded.bins.ctypes.data
    layout.probe_of = probes.of.ctypes.data if probes.records.size else None
    layout.probe = probes.records.ctypes.data


def _ended(
    opened: ctypes.CDLL, layout: engine.EngineLayout, loaded: LoadedLayout, tell: Tell | None,
    tasks: int | None,
) -> tuple[int, engine.Outcome]:
    outcome = engine.Outcome()
    entering = int(loaded.inlets.inlets["total"].sum())
    least = int((loaded.role >= 0).sum()) * layout.invocations
    share = functools.partial(find_share, outcome, entering, max(least, tasks or 0))
    with ONE_AT_A_TIME, report_progress(share, tell):
        status = opened.fabric_run(ctypes.byref(layout), ctypes.byref(outcome))
    if status == engine.FAILED:
        raise FabricFailure(outcome.report.decode())
    return status, outcome


def _result(
    loaded: LoadedLayout,
    layout: FabricLayout,
    outcome: engine.Outcome,
    outputs: Mapping[str, Sequence[Array]],
    probes: Probes,
    recording: RunRecording | None,
) -> FabricRun:
    counts = {
        name: loaded.counters[loaded.role == i, : loaded.programs[i].counters]
        for i, name in enumerate(loaded.roles)
    }
    memories = {name: role.memory for name, role in layout.roles.items()}
    return FabricRun(
        outputs=outputs,
        cycles=outcome.cycles,
        completed=loaded.completed.tolist(),
        main_cycles=outcome.main_cycles,
        usage=loaded.usage,
        activity=loaded.activity,
        links=loaded.links,
        bins=loaded.bins,
        until=outcome.until,
        grid=loaded.grid,
        role=loaded.role,
        injected=outcome.injected,
        delivered=outcome.delivered,
        hops=outcome.hops,
        stalls=outcome.stalls,
        tasks=outcome.tasks,
        counters={name: add_up(each) for name, each in counts.items()},
        points={name: each[:, :, 1] for name, each in counts.items()},
        memory={name: memory.data + memory.code for name, memory in memories.items()},
        leaving=find_leaving_ports(loaded.outlets, loaded.received_kind, loaded.grid),
        probes=read_probes(probes, loaded.grid),
        colours=loaded.colours.names,
        recorded=read_record(recording) if recording else None,
    )
