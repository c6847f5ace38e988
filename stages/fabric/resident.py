"""Tensors in PE memory: scatter them before a run, gather them after it."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import (
    DTYPES,
    Bools,
    Ints,
    find_tensor_shape,
    number_elements,
    open_mesh,
)
from lairmake.stages.fabric.grid import Grid, coordinates
from lairmake.stages.fabric.layout_yaml import Layout, LocalTensor

Array = NDArray[Any]
POINTS_AT_A_TIME = 1 << 22


def scatter(memory: Array, tensor: LocalTensor, array: Array, pes: Ints, grid: Grid) -> None:
    """Copy a tensor into the memories of the PEs that hold parts of it.

    `memory` is [PE of the role][byte]; `tensor` is the layout's entry of a local tensor; `array`
    is the whole tensor, of the local tensor's type; `pes` numbers the PEs of the role. Local
    elements that are no element of the tensor become 0.
    """
    source = array.reshape(-1)
    for local, number, inside in _parts(memory, tensor, array.shape, pes, grid):
        if source.size:
            local[...] = np.where(inside, source[number], 0)


def gather(
    memory: Array, tensor: LocalTensor, array: Array, found: Bools, pes: Ints, grid: Grid
) -> None:
    """Copy what the PEs hold of a tensor into `array`, and mark in `found` what was there."""
    target, marks = array.reshape(-1), found.reshape(-1)
    for local, number, inside in _parts(memory, tensor, array.shape, pes, grid):
        at = number[inside]
        target[at] = local[inside]
        marks[at] = True


def find_residents(layout: Layout, transfer: str) -> list[tuple[str, LocalTensor]]:
    """Return what all roles hold that is put into memory (in), or read from it (out).

    Each with the name of the global tensor.
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


def _parts(
    memory: Array, tensor: LocalTensor, shape: tuple[int, ...], pes: Ints, grid: Grid
) -> Iterator[tuple[Array, Ints, Bools]]:
    """Yield, for some PEs at a time, their local tensors, the elements' numbers, and which are."""
    relation, local_shape = _stored(tensor), tensor.shape
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
