"""External PEs: where they are, and the wavelets that they inject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import (
    Bools,
    Ints,
    number_elements,
    open_mesh,
)
from lairmake.stages.fabric.grid import SIDES, STEPS, Grid, coordinates
from lairmake.stages.fabric.layout_yaml import Entry, Exit
from lairmake.stages.fabric.library import INLET
from lairmake.stages.fabric.replicated import find_replicas, replicate
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import PE_NAMES, bind_set, evaluate_set

Array = NDArray[Any]
INDEX_LIMIT = 65536
Values = Mapping[str, Sequence[Array]]
"""By tensor, an array that comes in every invocation, or one for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inlets:
    """What all external PEs inject.

    `inlets` has one record per external PE and colour, those of one link side by side: it sends
    `count` wavelets, from `first` on, over and over until they are `total`. `sent` are the
    payloads, `control` tells which of them are control wavelets.
    """

    inlets: Array
    sent: NDArray[np.uint32]
    control: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The points (port, index...) of a tensor's order, as arrays [port][index...].

    `nodes` are the PEs of the grid next to the ports, `axes` the values of each index; `numbers`
    the C-order numbers of the elements, where they are `inside`.
    """

    nodes: Ints
    axes: list[Ints]
    numbers: Ints
    inside: Bools


def read_arrivals(
    arrivals: Mapping[str, Entry],
    colours: Sequence[str],
    values: Values,
    invocations: int,
    grid: Grid,
) -> Inlets:
    """Return what the external PEs inject."""
    parts = [
        _read_arrival(arrival, colours.index(arrival.colour), values[arrival.tensor], grid)
        for arrival in arrivals.values()
    ]
    for arrival, (inlet, _, _) in zip(arrivals.values(), parts, strict=True):
        inlet["total"] = inlet["count"] * (invocations // len(values[arrival.tensor]))
    inlets = np.concatenate([np.zeros(0, INLET), *(inlet for inlet, _, _ in parts)])
    sizes = [0, *(len(sent) for _, sent, _ in parts)]
    inlets["first"] += np.repeat(np.cumsum(sizes)[:-1], [len(inlet) for inlet, _, _ in parts])
    order = np.lexsort((inlets["colour"], inlets["side"], inlets["node"]))
    return Inlets(
        inlets=inlets[order],
        sent=np.concatenate([np.zeros(0, np.uint32), *(sent for _, sent, _ in parts)]),
        control=np.concatenate([np.zeros(0, np.uint8), *(control for _, _, control in parts)]),
    )


def _read_arrival(
    arrival: Entry, colour: int, arrays: Sequence[Array], grid: Grid
) -> tuple[Array, NDArray[np.uint32], NDArray[np.uint8]]:
    """Return inlets, payloads and control marks of one arrival; `first` counts from its own 0."""
    points = find_points(arrival, arrays[0].shape, grid)
    values = np.stack([_values(array, points) for array in arrays], axis=1)
    inside = np.broadcast_to(points.inside[:, None], values.shape)
    rows = len(points.nodes)
    if arrival.sparse:
        sent, control, keep = _sparse(values, inside, points.axes[-1])
    else:
        sent, control, keep = _payloads(values), np.zeros_like(inside), inside
    replicas = find_replicas(arrival, points.nodes, grid)
    if replicas is not None:
        sent, control, keep = replicate(sent, control, keep, replicas)
    inlets = np.zeros(rows, dtype=INLET)
    inlets["node"], inlets["side"], inlets["colour"] = (
        points.nodes, SIDES.index(arrival.side), colour,
    )
    inlets["count"] = keep.reshape(rows, -1).sum(axis=1)
    inlets["first"] = np.cumsum(inlets["count"]) - inlets["count"]
    return inlets, sent[keep], control[keep].astype(np.uint8)


def find_points(stream: Entry | Exit, shape: tuple[int, ...], grid: Grid) -> Points:
    """Return the points at which an arrival of a layout enters, or a departure leaves."""
    order = isl.Map(stream.order)
    box = _index_box(order)
    if stream.sparse:
        box = _sequences(box, stream.outer or (), stream.order)
    return _points(order, stream.side, shape, box, grid)


def find_external_points(stream: Entry | Exit, points: Points, grid: Grid) -> tuple[Ints, Ints]:
    """Return x and y of the external PEs of the points of an arrival or a departure."""
    return find_port_coordinates(points.nodes, np.int64(SIDES.index(stream.side)), grid)


def find_port_coordinates(nodes: Ints, sides: Ints | np.int64, grid: Grid) -> tuple[Ints, Ints]:
    """Return x and y of the external PEs on these sides of PEs of the grid, by number."""
    x, y = coordinates(nodes, grid)
    steps = np.array([STEPS[side] for side in SIDES], dtype=np.int64)[sides]
    return x + steps[..., 0], y + steps[..., 1]


def _sparse(
    values: Array, inside: Bools, inner: Ints
) -> tuple[NDArray[np.uint32], Bools, Bools]:
    """Return payloads, control marks and what is sent: no zeros, and an end to every sequence.

    `values` is [port][invocation][index...], as is `inside`; `inner` are those of the last index.
    """
    if values.dtype.itemsize != 2 or inner.min() < 0 or inner.max() >= INDEX_LIMIT:
        raise ValueError(
            f"a sparse element has 16 bits and an index below {INDEX_LIMIT}, not"
            f" {8 * values.dtype.itemsize} bits and indices {inner.min()} to {inner.max()}"
        )
    sent = inner.astype(np.uint32) << 16 | _payloads(values)
    ends = (*values.shape[:-1], 1)
    keep = inside & (values != 0)
    return (
        np.concatenate([sent, np.zeros(ends, np.uint32)], axis=-1),
        np.concatenate([np.zeros(keep.shape, np.bool_), np.ones(ends, np.bool_)], axis=-1),
        np.concatenate([keep, np.ones(ends, np.bool_)], axis=-1),
    )


def _values(array: Array, points: Points) -> Array:
    if not array.size:
        return np.zeros(points.numbers.shape, array.dtype)
    return array.reshape(-1)[points.numbers]


def _payloads(values: Array) -> NDArray[np.uint32]:
    unsigned = np.uint16 if values.dtype.itemsize == 2 else np.uint32
    return np.ascontiguousarray(values).view(unsigned).astype(np.uint32)


def _index_box(order: isl.Map) -> list[tuple[int, int]]:
    """Return lowest and highest value of each index of `{ x[i] -> [PE[x, y] -> index[...]] }`."""
    index = order.range().unwrap().range()
    return [(0, -1)] * index.dim(isl.dim_type.set) if index.is_empty() else bounding_box(index)


def _sequences(
    box: list[tuple[int, int]], outer: Sequence[Sequence[int]], text: str
) -> list[tuple[int, int]]:
    """Return the box with the outer indices that the layout states: one sequence for each."""
    stated = [(low, high) for low, high in outer]
    if len(box) == 1 and all(low == high for low, high in stated):
        return box
    inside = len(stated) == len(box) - 1 and all(
        low <= first and last <= high
        for (low, high), (first, last) in zip(stated, box, strict=False)
    )
    if not inside:
        raise ValueError(f"the outer indices of {text} are not those of the box {stated}")
    return [*stated, box[-1]]


def _points(
    order: isl.Map, side: str, shape: tuple[int, ...], box: list[tuple[int, int]], grid: Grid
) -> Points:
    """Return every external PE of the order, and the element at each of its index values."""
    nodes, x, y = _ports(order.range().unwrap().domain(), side, grid)
    axes = [np.arange(low, high + 1, dtype=np.int64) for low, high in box]
    mesh = open_mesh([x, *axes])
    numbers, inside = number_elements(
        order.reverse(), [mesh[0], y.reshape(mesh[0].shape), *mesh[1:]], shape
    )
    return Points(nodes=nodes, axes=axes, numbers=numbers, inside=inside)


def _ports(elements: isl.Set, side: str, grid: Grid) -> tuple[Ints, Ints, Ints]:
    """Return the PEs of the grid next to the external PEs, and the external PEs' x and y.

    Raises ValueError if one of them is not next to the grid on that side.
    """
    node, x, y = _edge(side, grid)
    box = f"{x.min()} <= x <= {x.max()} and {y.min()} <= y <= {y.max()}"
    if not elements.is_subset(isl.Set(f"{{ PE[x, y] : {box} }}")):
        raise ValueError(f"{elements} are not all next to the grid's side {side}")
    here = evaluate_set(bind_set(elements, PE_NAMES), dict(zip(PE_NAMES, (x, y), strict=True)))
    return node[here], x[here], y[here]


def _edge(side: str, grid: Grid) -> tuple[Ints, Ints, Ints]:
    """Return the PEs along a side of the grid, and x and y of the external PEs beside them."""
    across = np.arange(grid.width, dtype=np.int64)
    down = np.arange(grid.height, dtype=np.int64)
    if side in ("N", "S"):
        row, y = (0, -1) if side == "N" else (grid.height - 1, grid.height)
        return row * grid.width + across, grid.west + across, grid.north + y + 0 * across
    column, x = (0, -1) if side == "W" else (grid.width - 1, grid.width)
    return down * grid.width + column, grid.west + x + 0 * down, grid.north + down
