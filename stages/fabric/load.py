"""A layout and its memory as the engine takes them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric import engine as engine
from lairmake.stages.fabric.elements import (
    DTYPES,
    Bools,
    Ints,
    find_tensor_shape,
    number_elements,
    open_mesh,
)
from lairmake.stages.fabric.grid import (
    SIDES,
    Colours,
    Grid,
    coordinates,
    read_colours,
    read_grid,
    read_roles,
)
from lairmake.stages.fabric.layout import FabricLayout, LocalTensor, Queue
from lairmake.stages.fabric.ports import (
    Inlets,
    PortDeparture,
    Values,
    find_departing_shape,
    read_arrivals,
    read_departure,
)

# --- Tensors in the memory of PEs -----------------------------------------------------------------

Array = NDArray[Any]
POINTS_AT_A_TIME = 1 << 22


def scatter(memory: Array, tensor: LocalTensor, array: Array, pes: Ints, grid: Grid) -> None:
    """Copy a tensor into the memories of the PEs that hold parts of it.

    `memory` is [PE of the role][byte]; `tensor` is the layout's entry of a local tensor; `array`
    is the whole tensor, of the local tensor's type; `pes` numbers the PEs of the role. Local
    elements that are no element of the tensor become 0.
    """
    source = array.reshape(-1)
    for local, number, inside in _parts(memory, tensor, array.shape, pes, grid, 0):
        if source.size:
            local[...] = np.where(inside, source[number], 0)


def gather(
    memory: Array, tensor: LocalTensor, array: Array, found: Bools, pes: Ints, grid: Grid,
    invocations: int = 1,
) -> None:
    """Copy what the PEs hold of a tensor into `array`, and mark in `found` what was there.

    `memory` is that after so many invocations.
    """
    target, marks = array.reshape(-1), found.reshape(-1)
    turns = invocations - 1
    for local, number, inside in _parts(memory, tensor, array.shape, pes, grid, turns):
        at = number[inside]
        target[at] = local[inside]
        marks[at] = True


def find_residents(layout: FabricLayout, transfer: str) -> list[tuple[str, LocalTensor]]:
    """Return the local tensors of all roles that are put into memory (in), or read from it (out).

    Each comes with the name of its global tensor.
    """
    return [
        (tensor.tensor, tensor)
        for role in layout.roles.values()
        for tensor in role.tensors.values()
        if tensor.transfer == transfer and tensor.tensor is not None
    ]


def find_resident_shape(tensor: LocalTensor) -> tuple[int, ...]:
    """Return the smallest shape that holds what the layout's map names."""
    return find_tensor_shape(_stored(tensor).range())


def _stored(tensor: LocalTensor) -> isl.Map:
    """Return { [PE -> L[l]] -> T[e] } of what is put into memory, or read from it."""
    assert tensor.stored is not None, "what is transferred is part of a global tensor"
    return isl.Map(tensor.stored)


def _turn_buffers(tensor: LocalTensor, turns: int) -> isl.Map:
    """Return { [PE -> L[l]] -> T[e] } of what is stored so many invocations after the first one."""
    stored = _stored(tensor)
    if tensor.buffers is None:
        return stored
    pes, local = (of(stored.domain().unwrap()) for of in (isl.Map.domain, isl.Map.range))
    name = local.get_tuple_name()
    others = "".join(f", l{k}" for k in range(1, local.dim(isl.dim_type.set)))
    turned = isl.Map(
        f"{{ {name}[b{others}] -> {name}[(b + {turns}) mod {tensor.buffers}{others}] }}"
    )
    return stored.apply_domain(isl.Map.identity(pes.get_space().map_from_set()).product(turned))


def _parts(
    memory: Array, tensor: LocalTensor, shape: tuple[int, ...], pes: Ints, grid: Grid, turns: int
) -> Iterator[tuple[Array, Ints, Bools]]:
    """Yield, for some PEs at a time, their local tensors, the elements' numbers, and which are.

    Tensors lie where they do so many invocations after the first one.
    """
    relation, local_shape = _turn_buffers(tensor, turns), tensor.shape
    local = _local_tensors(memory, tensor)
    step = max(1, POINTS_AT_A_TIME // max(1, prod(local_shape)))
    axes = [np.arange(extent, dtype=np.int64) for extent in local_shape]
    for first in range(0, len(pes), step):
        part = slice(first, first + step)
        mesh = open_mesh([pes[part], *axes])
        points = [*coordinates(mesh[0], grid), *mesh[1:]]
        yield local[part], *number_elements(relation, points, shape)


def _local_tensors(memory: Array, tensor: LocalTensor) -> Array:
    """Return a view of the memories, [PE of the role][local index...], of the tensor's type."""
    dtype, shape = DTYPES[tensor.type], tensor.shape
    end = tensor.address + prod(shape) * dtype.itemsize
    if tensor.address % dtype.itemsize or end > memory.shape[1]:
        raise ValueError(
            f"a local tensor at bytes {tensor.address} to {end} is not aligned,"
            f" or not inside the program's {memory.shape[1]} bytes"
        )
    strides = [prod(shape[i + 1 :]) * dtype.itemsize for i in range(len(shape))]
    return np.ndarray(
        (memory.shape[0], *shape),
        dtype,
        buffer=memory.reshape(-1),
        offset=tensor.address,
        strides=(memory.shape[1], *strides),
    )

# --- Layout as the engine takes it ----------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedLayout:
    """A layout as the engine takes it, with the arrays that the engine reads and writes."""

    grid: Grid
    roles: tuple[str, ...]
    role: NDArray[np.int32]
    programs: list[engine.EngineProgram]
    memory: list[Array]
    colours: Colours
    input_depths: NDArray[np.int32]
    output_depths: NDArray[np.int32]
    inlets: Inlets
    departures: list[PortDeparture]
    outlets: Array
    received: NDArray[np.uint32]
    received_kind: NDArray[np.uint8]
    completed: NDArray[np.int64]
    origins: NDArray[np.int32]
    counters: NDArray[np.int64]
    usage: Array
    activity: Array
    links: Array
    bins: Array


def load(
    opened: ctypes.CDLL, layout: FabricLayout, values: Values, invocations: int,
    shapes: Mapping[str, tuple[int, ...]], symbols: Mapping[str, str],
) -> LoadedLayout:
    """Return what the engine takes of a layout, and what it sends of the arrays' `values`.

    `symbols` are of roles that have a program of another name than `program_ROLE`.
    """
    grid = read_grid(layout.grid)
    roles = tuple(layout.roles)
    role = read_roles(layout.roles, grid)
    programs = engine.find_programs(opened, {r: symbols.get(r, f"program_{r}") for r in roles})
    colours = read_colours(layout.colours, grid)
    departures = _departures(layout, colours.names, shapes, grid)
    outlets = _outlets(departures, invocations)
    counters = max((program.counters for program in programs), default=0)
    return LoadedLayout(
        grid=grid,
        roles=roles,
        role=role,
        programs=programs,
        memory=[_memory(p, int((role == i).sum())) for i, p in enumerate(programs)],
        colours=colours,
        input_depths=_depths([r.input_queues for r in layout.roles.values()], colours.names),
        output_depths=_depths([r.output_queues for r in layout.roles.values()], colours.names),
        inlets=read_arrivals(layout.arrivals, colours.names, values, invocations, grid),
        departures=departures,
        outlets=outlets,
        received=np.zeros(int(outlets["count"].sum()), dtype=np.uint32),
        received_kind=np.zeros(int(outlets["count"].sum()), dtype=np.uint8),
        completed=np.zeros(invocations, dtype=np.int64),
        origins=np.array([r.origin or (0, 0) for r in layout.roles.values()], dtype=np.int32),
        counters=np.zeros((grid.size, counters, 2), dtype=np.int64),
        usage=np.zeros(grid.size, engine.USAGE),
        activity=np.zeros(grid.size, engine.ACTIVITY),
        links=np.zeros((grid.size, len(SIDES)), engine.LINK),
        bins=np.zeros(1, engine.BINNED),
    )


def _departures(
    layout: FabricLayout, names: Sequence[str], shapes: Mapping[str, tuple[int, ...]], grid: Grid
) -> list[PortDeparture]:
    return [
        read_departure(each, names, find_shape(layout, each.tensor, shapes), grid)
        for each in layout.departures.values()
    ]


def _memory(program: engine.EngineProgram, count: int) -> Array:
    """Return zeroed memories [PE of the role][byte], each beginning at a multiple of 16."""
    stride = max(1, -(-program.memory // 16)) * 16
    return engine.make_aligned_zeros(count * stride).reshape(count, stride)


def _depths(
    queues: Sequence[Mapping[str, Queue] | None], names: Sequence[str]
) -> NDArray[np.int32]:
    """Return how many wavelets a queue of a PE holds, by role and colour; -1: it has none.

    Raises ValueError where a queue is that of an unknown colour.
    """
    depths = np.full((len(queues), len(names)), -1, dtype=np.int32)
    for role, given in enumerate(queues):
        for name, queue in (given or {}).items():
            if name not in names or queue.holds < 1:
                raise ValueError(f"a queue of {name} that holds {queue.holds}")
            depths[role, names.index(name)] = queue.holds
    return depths


def _outlets(departures: Sequence[PortDeparture], invocations: int) -> Array:
    """Return the outlets of all departures, for all invocations, one after the other."""
    outlets = np.concatenate(
        [np.zeros(0, engine.OUTLET), *(departure.outlets for departure in departures)]
    )
    outlets["count"] *= invocations
    outlets["ends"] *= invocations
    outlets["first"] = np.cumsum(outlets["count"]) - outlets["count"]
    return outlets


def find_shape(
    layout: FabricLayout, tensor: str, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[int, ...]:
    """Return the stated shape of an output, or the smallest that holds what the layout names."""
    if tensor in shapes:
        return tuple(shapes[tensor])
    named = [
        *(find_departing_shape(d) for d in layout.departures.values() if d.tensor == tensor),
        *(find_resident_shape(t) for name, t in find_residents(layout, "out") if name == tensor),
    ]
    return tuple(max(extents) for extents in zip(*named, strict=True))


def scatter_inputs(loaded: LoadedLayout, layout: FabricLayout, values: Values) -> None:
    """Copy the tensors that are in memory before the start to the PEs that hold them."""
    for number, name in enumerate(loaded.roles):
        pes = np.flatnonzero(loaded.role == number)
        for tensor in layout.roles[name].tensors.values():
            if tensor.transfer == "in" and tensor.tensor is not None:
                array = np.asarray(values[tensor.tensor][0], order="C")
                scatter(loaded.memory[number], tensor, array, pes, loaded.grid)
