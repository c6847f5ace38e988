"""External PEs that receive: what they expect, and the tensors made of what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import DTYPES, Bools, Ints, find_tensor_shape
from lairmake.stages.fabric.external import Points, find_points, find_port_coordinates
from lairmake.stages.fabric.grid import SIDES, Grid
from lairmake.stages.fabric.layout_yaml import Exit
from lairmake.stages.fabric.library import OUTLET
from lairmake.stages.fabric.received import Received, Sequences, take_sequences

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What the external PEs of one departure expect.

    `outlets` has one record per external PE, its `count` and `ends` for one invocation; `numbers`
    are the C-order numbers of the elements in the order of arrival, PE after PE. `sequences` are
    those of a sparse tensor, else None.
    """

    tensor: str
    dtype: np.dtype[Any]
    outlets: Array
    numbers: Ints
    sequences: Sequences | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """External PEs, and how many wavelets each takes in all invocations: arrays [port]."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    wavelets: NDArray[np.int64]


def read_departure(
    departure: Exit, colours: Sequence[str], shape: tuple[int, ...], grid: Grid
) -> Departure:
    """Return what the external PEs of a departure expect of a tensor of this shape."""
    points, sparse = find_points(departure, shape, grid), departure.sparse
    outlets = np.zeros(len(points.nodes), dtype=OUTLET)
    outlets["node"], outlets["side"] = points.nodes, SIDES.index(departure.side)
    outlets["colours"] = sum(1 << colours.index(name) for name in departure.colours)
    outlets["count"] = points.inside.reshape(len(points.nodes), -1).sum(axis=1)
    if sparse:
        outlets["ends"] = math.prod(points.inside.shape[1:-1])
        outlets["count"] += outlets["ends"]
    outlets["first"] = np.cumsum(outlets["count"]) - outlets["count"]
    return Departure(
        tensor=departure.tensor,
        dtype=DTYPES[departure.type],
        outlets=outlets,
        numbers=points.numbers[points.inside],
        sequences=_expected_sequences(points, int(points.axes[-1][0])) if sparse else None,
    )


def _expected_sequences(points: Points, least: int) -> Sequences:
    ports, *outer, inner = points.inside.shape
    numbers = np.where(points.inside, points.numbers, -1)
    return Sequences(numbers=numbers.reshape(ports, math.prod(outer), inner), least=least)


def find_departing_shape(departure: Exit) -> tuple[int, ...]:
    """Return the smallest shape that holds the elements of a departure's order."""
    return find_tensor_shape(isl.Map(departure.order).domain())


def take_departed(
    departure: Departure, received: Array | Received, invocation: int, array: Array, found: Bools
) -> None:
    """Copy what one invocation sent into `array`, and mark in `found` what came.

    Of a dense tensor, `received` is [invocation][element] per external PE, one PE after the other;
    the outlets' `first` and `count` are those of one invocation, `first` relative to the departure.
    """
    if isinstance(received, Received):
        assert departure.sequences is not None, "only a sparse tensor leaves in sequences"
        take_sequences(departure.sequences, received, invocation, array, found)
        return
    count = departure.outlets["count"]
    all_before = departure.outlets["first"] * (received.size // max(1, len(departure.numbers)))
    within = np.arange(len(departure.numbers)) - np.repeat(departure.outlets["first"], count)
    at = np.repeat(all_before + invocation * count, count) + within
    array.reshape(-1)[departure.numbers] = _elements(received[at], departure.dtype)
    found.reshape(-1)[departure.numbers] = True


def find_leaving_ports(outlets: Array, kinds: Array, grid: Grid) -> Ports:
    """Return the external PEs of outlets for all invocations; `kinds` is what they received."""
    came = np.concatenate([[0], np.cumsum(kinds != 0)])
    wavelets = came[outlets["first"] + outlets["count"]] - came[outlets["first"]]
    nodes, sides = outlets["node"].astype(np.int64), outlets["side"].astype(np.int64)
    x, y = find_port_coordinates(nodes, sides, grid)
    return Ports(x=x, y=y, wavelets=wavelets)


def _elements(payloads: NDArray[np.uint32], dtype: np.dtype[Any]) -> Array:
    unsigned = np.uint16 if dtype.itemsize == 2 else np.uint32
    return payloads.astype(unsigned).view(dtype)
