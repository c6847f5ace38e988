"""Run PE programs on the simulated fabric, from a layout and arrays to arrays and cycles.

Reads    a library made by stages/fabric/compiler.py
Assumes  the layout and the programs agree: names, colours, addresses, numbers of elements.
Ensures  no work in Python per PE or per element; the same arguments give the same result.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stages.fabric import library as engine
from stages.fabric.check import faults
from stages.fabric.counts import Count, totals
from stages.fabric.elements import DTYPES, Bools
from stages.fabric.external import (
    Departure,
    Inlets,
    Ports,
    Values,
    departing_shape,
    leaving_ports,
    read_arrivals,
    read_departure,
    take_departed,
)
from stages.fabric.grid import (
    Colours,
    Grid,
    read_colours,
    read_grid,
    read_roles,
)
from stages.fabric.layout_yaml import Layout
from stages.fabric.progress import Tell, reported, share_of
from stages.fabric.received import Received, read_received, sequence_fault
from stages.fabric.resident import gather, resident_shape, residents, scatter
from stages.machine.profile import Profile

Array = NDArray[Any]
CYCLE_LIMIT = 10**9


class FabricStuck(Exception):  # noqa: N818
    """The fabric can no longer move, or reached the cycle limit; the text says who waits."""


class FabricFailure(Exception):  # noqa: N818
    """A program or the layout asked for what the machine does not have; the text says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricRun:
    """What a run gave.

    `outputs` has an array per invocation of each tensor that leaves, and one array, from after the
    last invocation, of each resident tensor. `cycles` is the cycle of the last output wavelet, or
    of the last invocation's end where nothing leaves; `main_cycles` the longest `main` before
    cycle 0; `usage` [PE] what the cycles of each went into: `struct usage` of engine.h. `injected`
    and `delivered` count wavelets, `hops` links that they took, `stalls` cycles in which the head
    of a router's queue waited. `counters` lists the counters of each role by number, `points`
    [PE of the role][counter] those of each PE; `memory` is the role's bytes per PE.
    """

    outputs: Mapping[str, Sequence[Array]]
    cycles: int
    main_cycles: int
    usage: Array
    injected: int
    delivered: int
    hops: int
    stalls: int
    tasks: int
    counters: Mapping[str, Sequence[Count]]
    points: Mapping[str, NDArray[np.int64]]
    memory: Mapping[str, int]
    leaving: Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    """A layout as the engine takes it, with the arrays that the engine reads and writes."""

    grid: Grid
    roles: tuple[str, ...]
    role: NDArray[np.int32]
    programs: list[engine.Program]
    memory: list[Array]
    colours: Colours
    inlets: Inlets
    departures: list[Departure]
    outlets: Array
    received: NDArray[np.uint32]
    received_kind: NDArray[np.uint8]
    counters: NDArray[np.int64]
    usage: Array


def run_fabric(
    library: Path,
    layout: Layout,
    profile: Profile,
    arrays: Mapping[str, Array | Sequence[Array]],
    invocations: int = 1,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    cycle_limit: int = CYCLE_LIMIT,
    tell: Tell | None = None,
) -> FabricRun:
    """Run the programs of `library` on the fabric of `layout`.

    `arrays` holds every tensor that arrives or is resident before the start, by name; of one that
    arrives, an array that comes in every invocation, or a sequence with one for each. `shapes`
    gives those of outputs, else the smallest that hold what the layout names; `tell` is told of it.

    Raises FabricFailure before the run where routes are at fault, ValueError where the layout
    contradicts itself or the arrays; FabricStuck and FabricFailure during it.
    """
    values = {name: _several(array) for name, array in arrays.items()}
    _check_arrays(layout, values, invocations)
    with engine.opened(library) as opened:
        machine = _machine(opened, layout, values, invocations, shapes or {})
        _check_routes(machine, layout)
        _scatter(machine, layout, values)
        outcome = _run(opened, machine, profile, invocations, cycle_limit, tell)
        outputs = _outputs(machine, layout, invocations, shapes or {})
        return _result(machine, layout, outcome, outputs)


def _several(array: Array | Sequence[Array]) -> Sequence[Array]:
    return [array] if isinstance(array, np.ndarray) else array


def _check_arrays(layout: Layout, values: Values, invocations: int) -> None:
    arriving = ((entry.tensor, entry.type, invocations) for entry in layout.arrivals.values())
    resident = ((name, tensor.type, 1) for name, tensor in residents(layout, "in"))
    for name, type_, most in (*arriving, *resident):
        dtype = DTYPES[type_]
        if name not in values:
            raise ValueError(f"tensor {name} is missing")
        if len(values[name]) not in (1, most):
            raise ValueError(f"tensor {name} has {len(values[name])} values, not {most}")
        if values[name][0].dtype != dtype:
            raise ValueError(f"tensor {name} is {values[name][0].dtype}, not {dtype}")


def _check_routes(machine: _Machine, layout: Layout) -> None:
    """Raise FabricFailure with the first faults of the routes, if they have any."""
    colours, inlets = machine.colours, machine.inlets.inlets
    found = faults(layout, machine.grid, colours, inlets, machine.outlets)
    if found:
        raise FabricFailure("; ".join(found[:5]))


def _machine(
    opened: ctypes.CDLL,
    layout: Layout,
    values: Values,
    invocations: int,
    shapes: Mapping[str, tuple[int, ...]],
) -> _Machine:
    grid = read_grid(layout.grid)
    roles = tuple(layout.roles)
    role = read_roles(layout.roles, grid)
    programs = engine.programs(opened, roles)
    colours = read_colours(layout.colours, grid)
    departures = [
        read_departure(each, colours.names, _shape(layout, each.tensor, shapes), grid)
        for each in layout.departures.values()
    ]
    outlets = _outlets(departures, invocations)
    counters = max((program.counters for program in programs), default=0)
    return _Machine(
        grid=grid,
        roles=roles,
        role=role,
        programs=programs,
        memory=[_memory(p, int((role == i).sum())) for i, p in enumerate(programs)],
        colours=colours,
        inlets=read_arrivals(layout.arrivals, colours.names, values, invocations, grid),
        departures=departures,
        outlets=outlets,
        received=np.zeros(int(outlets["count"].sum()), dtype=np.uint32),
        received_kind=np.zeros(int(outlets["count"].sum()), dtype=np.uint8),
        counters=np.zeros((grid.size, counters, 2), dtype=np.int64),
        usage=np.zeros(grid.size, engine.USAGE),
    )


def _memory(program: engine.Program, count: int) -> Array:
    """Return zeroed memories [PE of the role][byte], each beginning at a multiple of 16."""
    stride = max(1, -(-program.memory // 16)) * 16
    return engine.aligned_zeros(count * stride).reshape(count, stride)


def _outlets(departures: Sequence[Departure], invocations: int) -> Array:
    """Return the outlets of all departures, for all invocations, one after the other."""
    outlets = np.concatenate(
        [np.zeros(0, engine.OUTLET), *(departure.outlets for departure in departures)]
    )
    outlets["count"] *= invocations
    outlets["ends"] *= invocations
    outlets["first"] = np.cumsum(outlets["count"]) - outlets["count"]
    return outlets


def _shape(
    layout: Layout, tensor: str, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[int, ...]:
    """Return the stated shape of an output, or the smallest that holds what the layout names."""
    if tensor in shapes:
        return tuple(shapes[tensor])
    named = [
        *(departing_shape(d) for d in layout.departures.values() if d.tensor == tensor),
        *(resident_shape(t) for name, t in residents(layout, "out") if name == tensor),
    ]
    return tuple(max(extents) for extents in zip(*named, strict=True))


def _scatter(machine: _Machine, layout: Layout, values: Values) -> None:
    for number, name in enumerate(machine.roles):
        pes = np.flatnonzero(machine.role == number)
        for tensor in layout.roles[name].tensors.values():
            if tensor.transfer == "in" and tensor.tensor is not None:
                array = np.asarray(values[tensor.tensor][0], order="C")
                scatter(machine.memory[number], tensor, array, pes, machine.grid)


def _run(
    opened: ctypes.CDLL, machine: _Machine, profile: Profile, invocations: int, cycle_limit: int,
    tell: Tell | None,
) -> engine.Outcome:
    """Run the engine; the arrays it is given are alive in `machine` and in local names."""
    stride = np.array([memory.shape[1] for memory in machine.memory], dtype=np.int64)
    layout = engine.Layout(
        machine=engine.machine(profile),
        width=machine.grid.width,
        height=machine.grid.height,
        west=machine.grid.west,
        north=machine.grid.north,
        colours=len(machine.colours.names),
        roles=len(machine.roles),
        invocations=invocations,
        inlets=len(machine.inlets.inlets),
        outlets=len(machine.outlets),
        counters=machine.counters.shape[1],
        cycle_limit=cycle_limit,
        colour_names=engine.names(machine.colours.names),
        programs=engine.pointers([ctypes.addressof(program) for program in machine.programs]),
        memory=engine.pointers([memory.ctypes.data for memory in machine.memory]),
        memory_stride=stride.ctypes.data,
        role=machine.role.ctypes.data,
        position_count=machine.colours.position_count.ctypes.data,
        routes=machine.colours.routes.ctypes.data,
        filter=machine.colours.filters.ctypes.data,
        inlet=machine.inlets.inlets.ctypes.data,
        outlet=machine.outlets.ctypes.data,
        sent=machine.inlets.sent.ctypes.data,
        sent_control=machine.inlets.control.ctypes.data,
        received=machine.received.ctypes.data,
        received_kind=machine.received_kind.ctypes.data,
        counter=machine.counters.ctypes.data,
        usage=machine.usage.ctypes.data,
    )
    return _completed(opened, layout, machine, tell)


def _completed(
    opened: ctypes.CDLL, layout: engine.Layout, machine: _Machine, tell: Tell | None
) -> engine.Outcome:
    outcome = engine.Outcome()
    entering = int(machine.inlets.inlets["total"].sum())
    tasks = int((machine.role >= 0).sum()) * layout.invocations
    with reported(lambda: share_of(outcome, entering, tasks), tell):
        status = opened.fabric_run(ctypes.byref(layout), ctypes.byref(outcome))
    if status in (engine.STUCK, engine.OUT_OF_CYCLES):
        raise FabricStuck(outcome.report.decode())
    if status != engine.COMPLETE:
        raise FabricFailure(outcome.report.decode())
    return outcome


def _outputs(
    machine: _Machine,
    layout: Layout,
    invocations: int,
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, list[Array]]:
    leaving = {departure.tensor: departure.dtype for departure in machine.departures}
    departed = _departures(machine, invocations)
    outputs = {
        name: [
            _departed(departed, name, dtype, _shape(layout, name, shapes), i)
            for i in range(invocations)
        ]
        for name, dtype in leaving.items()
    }
    resident = {name: DTYPES[t.type] for name, t in residents(layout, "out")}
    for name, dtype in resident.items():
        outputs[name] = [_gathered(machine, layout, name, dtype, _shape(layout, name, shapes))]
    return outputs


def _departures(machine: _Machine, invocations: int) -> list[tuple[Departure, Array | Received]]:
    """Return every departure and what it received. Raises FabricFailure where that is wrong."""
    found, outlet = [], 0
    for departure in machine.departures:
        outlets = machine.outlets[outlet : outlet + len(departure.outlets)]
        outlet += len(departure.outlets)
        first = int(outlets["first"].min()) if len(outlets) else 0
        here = slice(first, first + int(outlets["count"].sum()))
        found.append((departure, _received(machine, departure, outlets, here, invocations)))
    return found


def _received(
    machine: _Machine, departure: Departure, outlets: Array, here: slice, invocations: int
) -> Array | Received:
    received, sequences = machine.received[here], departure.sequences
    if sequences is None:
        return received
    kinds = machine.received_kind[here]
    got = read_received(sequences, outlets, received, kinds, invocations)
    wrong = sequence_fault(sequences, got, outlets["node"], machine.grid)
    if wrong:
        raise FabricFailure(wrong)
    return got


def _departed(
    departures: Sequence[tuple[Departure, Array | Received]],
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
    machine: _Machine,
    layout: Layout,
    name: str,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> Array:
    array, found = np.zeros(shape, dtype), np.zeros(shape, dtype=np.bool_)
    for number, role in enumerate(machine.roles):
        pes = np.flatnonzero(machine.role == number)
        for tensor in layout.roles[role].tensors.values():
            if tensor.transfer == "out" and tensor.tensor == name:
                gather(machine.memory[number], tensor, array, found, pes, machine.grid)
    return _whole(name, array, found)


def _whole(name: str, array: Array, found: Bools) -> Array:
    if not found.all():
        missing = int(found.size - found.sum())
        raise ValueError(f"the layout leaves out {missing} of {found.size} elements of {name}")
    return array


def _result(
    machine: _Machine,
    layout: Layout,
    outcome: engine.Outcome,
    outputs: Mapping[str, Sequence[Array]],
) -> FabricRun:
    counts = {
        name: machine.counters[machine.role == i, : machine.programs[i].counters]
        for i, name in enumerate(machine.roles)
    }
    memories = {name: role.memory for name, role in layout.roles.items()}
    return FabricRun(
        outputs=outputs,
        cycles=outcome.cycles,
        main_cycles=outcome.main_cycles,
        usage=machine.usage,
        injected=outcome.injected,
        delivered=outcome.delivered,
        hops=outcome.hops,
        stalls=outcome.stalls,
        tasks=outcome.tasks,
        counters={name: totals(each) for name, each in counts.items()},
        points={name: each[:, :, 1] for name, each in counts.items()},
        memory={name: memory.data + memory.code for name, memory in memories.items()},
        leaving=leaving_ports(machine.outlets, machine.received_kind, machine.grid),
    )
