"""External PEs: what they inject and expect, and sparse streams."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from lairmake.stages.fabric.engine import INLET, OUTLET
from lairmake.stages.fabric.grid import SIDES, STEPS, Grid, coordinates, members
from lairmake.stages.fabric.layout import PortEntry, PortExit
from lairmake.stages.fabric.switches import ADVANCE, NOP, RESET, encode_quiet
from lairmake.stages.poly.arrays import evaluate_pw_aff, evaluate_set
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, bind_set, find_function

# --- Replicas that external PEs send --------------------------------------------------------------
#
# Each PE gets a stream of its own, a replica. A control wavelet after a replica advances the switch
# of the router that handed it over; those before it have no further position. After the last
# replica on a way it resets all that it passes. The router of a port that feeds adapters pops its
# command, the first of two (stages/movement/gather.py). All that follows the same adapter ends with
# its last replica.

TURN, TURN_BACK = encode_quiet(ADVANCE), encode_quiet(RESET)
"""Control wavelets behind the replica of a PE, and behind the last one."""

TURN_BEYOND, TURN_PORT = encode_quiet(NOP, ADVANCE), encode_quiet(ADVANCE, RESET)
TURN_ALL_BACK = encode_quiet(RESET, RESET)
"""Control wavelets behind that of an adapter beyond the port, the last on a way, and the last."""

ABSENT, NOTHING = -1, 0
"""Marks of a replica that is not sent, and of one that no control wavelet follows."""

Array = NDArray[Any]


def find_replicas(arrival: PortEntry, nodes: Ints, grid: Grid) -> Ints | None:
    """Return the control wavelet behind each replica, as bits: an array [port][replica].

    `nodes` are the PEs beside the ports. None if one stream is for all.
    """
    across = arrival.side in ("N", "S")
    lanes = nodes % grid.width if across else nodes // grid.width
    if arrival.along is not None:
        return _to_adapters(arrival, arrival.along, lanes, grid, across)
    if arrival.replicas is None:
        return None
    counts = _on_lanes(arrival.replicas, grid, across)[lanes]
    port = np.repeat(np.arange(len(nodes)), counts)
    last = np.cumsum(counts)[counts > 0] - 1
    ends = np.full(len(port), TURN)
    ends[last] = TURN_BACK
    return _by_port(port, ends, len(nodes))


def replicate(
    sent: NDArray[np.uint32], control: Bools, keep: Bools, ends: Ints
) -> tuple[NDArray[np.uint32], Bools, Bools]:
    """Return payloads, control marks and what is sent, once for each replica of an invocation.

    All are [port][invocation][replica, index...].
    """
    shape = (*sent.shape[:2], ends.shape[1])
    follows = np.broadcast_to(ends[:, None, :, None], (*shape, 1))

    def whole(each: Array, last: Array) -> Array:
        flat = np.broadcast_to(each.reshape(*shape[:2], 1, -1), (*shape, each[0, 0].size))
        return np.concatenate([flat, last], axis=-1)

    payloads = np.maximum(follows, NOTHING).astype(np.uint32)
    here, controls = follows != ABSENT, follows > NOTHING
    return whole(sent, payloads), whole(control, controls), whole(keep, controls) & here


def _to_adapters(arrival: PortEntry, along: str, lanes: Ints, grid: Grid, across: bool) -> Ints:
    """Return what follows the replicas for adapters: first that at the port, right ones, left ones.
    """
    lane, port = _adapters(along, lanes, grid, across)
    away = lane - lanes[port]
    group = np.select([away == 0, away > 0], [0, 1], 2)
    order = np.lexsort((np.abs(away), group, port))
    lane, port, group = lane[order], port[order], group[order]
    finished = np.append(np.diff(port) != 0, True)
    last = np.append(np.diff(group) != 0, True)
    ends = np.select(
        [finished, group == 0, last], [TURN_ALL_BACK, TURN, TURN_PORT], TURN_BEYOND
    )
    each = np.ones_like(lane)
    if arrival.replicas is not None:
        each = _on_lanes(arrival.replicas, grid, across)[lane]
    several = np.repeat(ends, each, axis=0)
    several[np.delete(np.arange(len(several)), np.cumsum(each) - 1)] = NOTHING
    return _by_port(np.repeat(port, each), several, len(lanes))


def _adapters(along: str, lanes: Ints, grid: Grid, across: bool) -> tuple[Ints, Ints]:
    """Return the lanes of the adapters { adapter -> port }, and which of the ports each has."""
    x, y = coordinates(np.arange(grid.size, dtype=np.int64), grid)
    towards = find_function(bind_domain(isl.Map(along), PE_NAMES))
    at = towards.get_pw_aff(0 if across else 1)
    value, defined = evaluate_pw_aff(at, dict(zip(PE_NAMES, (x, y), strict=True)))
    here = np.flatnonzero(defined)
    lane = here % grid.width if across else here // grid.width
    number = np.full(max(grid.width, grid.height), -1)
    number[lanes] = np.arange(len(lanes))
    return lane, number[value[here] - (grid.west if across else grid.north)]


def _on_lanes(pes: str, grid: Grid, across: bool) -> Ints:
    """Return how many { PE } there are on each column, or row."""
    counts: Ints = members(isl.Set(pes), grid).sum(axis=0 if across else 1, dtype=np.int64)
    return counts


def _by_port(port: Ints, ends: Ints, ports: int) -> Ints:
    """Return [port][replica] of the ends [replica], those of one port side by side."""
    counts = np.bincount(port, minlength=ports)
    within = np.arange(len(port)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = np.full((ports, int(counts.max(initial=0))), ABSENT)
    found[port, within] = ends
    return found

# --- External PEs that inject ---------------------------------------------------------------------

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
    arrivals: Mapping[str, PortEntry],
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
    arrival: PortEntry, colour: int, arrays: Sequence[Array], grid: Grid
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


def find_points(stream: PortEntry | PortExit, shape: tuple[int, ...], grid: Grid) -> Points:
    """Return the points at which an arrival of a layout enters, or a departure leaves."""
    order = isl.Map(stream.order)
    box = _index_box(order)
    if stream.sparse:
        box = _sequences(box, stream.outer or (), stream.order)
    return _points(order, stream.side, shape, box, grid)


def find_external_points(
    stream: PortEntry | PortExit, points: Points, grid: Grid
) -> tuple[Ints, Ints]:
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

# --- Sparse tensors that leave --------------------------------------------------------------------
#
# Sequences of non-zeros come, with an index each, and an end after each sequence.

ELEMENT, END = 1, 2
"""Kinds of wavelets that an external PE received, as `enum received` of engine.h."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSequences:
    """The elements that the ports of a departure may send, in one invocation.

    `numbers` is [port][sequence][index - least]: C-order numbers of elements, -1 for none.
    """

    numbers: Ints
    least: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The elements that came, as arrays [element], one invocation after the other.

    `sequence` counts in one invocation.
    """

    invocation: Ints
    port: Ints
    sequence: Ints
    index: Ints
    value: NDArray[np.uint16]


def read_received(
    sequences: PortSequences, outlets: Array, received: Array, kinds: Array, invocations: int
) -> Received:
    """Return what the ports of a departure received, once all their sequences have ended.

    `outlets` are its records for all invocations, whose wavelets lie one after the other in
    `received` and `kinds`.
    """
    count = sequences.numbers.shape[1]
    port = np.repeat(np.arange(len(outlets)), outlets["count"])
    ended = np.cumsum(kinds == END)
    elements = np.flatnonzero(kinds == ELEMENT)
    sequence = ended[elements] - port[elements] * count * invocations
    invocation = sequence // count
    order = np.argsort(invocation, kind="stable")
    bits = received[elements[order]]
    return Received(
        invocation=invocation[order],
        port=port[elements[order]],
        sequence=(sequence % count)[order],
        index=(bits >> 16).astype(np.int64),
        value=bits.astype(np.uint16),
    )


def find_sequence_fault(sequences: PortSequences, got: Received, nodes: Ints, grid: Grid) -> str:
    """Return what is wrong with what came to the ports beside `nodes`; "" if all is well.

    Every index is one of an element in its sequence, and above the one before it.
    """
    place = np.stack([got.invocation, got.port, got.sequence])
    same = (np.diff(place) == 0).all(axis=0)
    unknown = np.flatnonzero(_numbers(sequences, got, slice(None)) < 0)
    falling = np.flatnonzero(same & (np.diff(got.index) <= 0)) + 1
    for k in unknown[:1]:
        return f"{_port(got, k, nodes, grid)} index {got.index[k]}, which no element there has"
    for k in falling[:1]:
        return f"{_port(got, k, nodes, grid)} index {got.index[k]} after {got.index[k - 1]}"
    return ""


def _port(got: Received, k: int, nodes: Ints, grid: Grid) -> str:
    x, y = coordinates(nodes[got.port[k]], grid)
    where = f"the external PE beside PE[{x}, {y}]"
    return f"{where} got, in sequence {got.sequence[k]},"


def take_sequences(
    sequences: PortSequences, got: Received, invocation: int, array: Array, found: Bools
) -> None:
    """Copy what came in one invocation into `array`; mark in `found` all that may have come."""
    here = slice(*np.searchsorted(got.invocation, [invocation, invocation + 1]))
    values = got.value[here].view(array.dtype)
    array.reshape(-1)[_numbers(sequences, got, here)] = values
    found.reshape(-1)[sequences.numbers[sequences.numbers >= 0]] = True


def _numbers(sequences: PortSequences, got: Received, which: slice) -> Ints:
    """Return the number of the element of each index, -1 for none."""
    at = got.index[which] - sequences.least
    inside = (at >= 0) & (at < sequences.numbers.shape[2])
    numbers = sequences.numbers[got.port[which], got.sequence[which], np.where(inside, at, 0)]
    return np.where(inside, numbers, -1)

# --- External PEs that receive --------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class PortDeparture:
    """What the external PEs of one departure expect.

    `outlets` has one record per external PE, its `count` and `ends` for one invocation; `numbers`
    are the C-order numbers of the elements in the order of arrival, PE after PE. `sequences` are
    those of a sparse tensor, else None.
    """

    tensor: str
    dtype: np.dtype[Any]
    outlets: Array
    numbers: Ints
    sequences: PortSequences | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortState:
    """External PEs, and how many wavelets each takes in all invocations: arrays [port]."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    wavelets: NDArray[np.int64]


def read_departure(
    departure: PortExit, colours: Sequence[str], shape: tuple[int, ...], grid: Grid
) -> PortDeparture:
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
    return PortDeparture(
        tensor=departure.tensor,
        dtype=DTYPES[departure.type],
        outlets=outlets,
        numbers=points.numbers[points.inside],
        sequences=_expected_sequences(points, int(points.axes[-1][0])) if sparse else None,
    )


def _expected_sequences(points: Points, least: int) -> PortSequences:
    ports, *outer, inner = points.inside.shape
    numbers = np.where(points.inside, points.numbers, -1)
    return PortSequences(numbers=numbers.reshape(ports, math.prod(outer), inner), least=least)


def find_departing_shape(departure: PortExit) -> tuple[int, ...]:
    """Return the smallest shape that holds the elements of a departure's order."""
    return find_tensor_shape(isl.Map(departure.order).domain())


def take_departed(
    departure: PortDeparture,
    received: Array | Received,
    invocation: int,
    array: Array,
    found: Bools,
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


def find_leaving_ports(outlets: Array, kinds: Array, grid: Grid) -> PortState:
    """Return the external PEs of outlets for all invocations; `kinds` is what they received."""
    came = np.concatenate([[0], np.cumsum(kinds != 0)])
    wavelets = came[outlets["first"] + outlets["count"]] - came[outlets["first"]]
    nodes, sides = outlets["node"].astype(np.int64), outlets["side"].astype(np.int64)
    x, y = find_port_coordinates(nodes, sides, grid)
    return PortState(x=x, y=y, wavelets=wavelets)


def _elements(payloads: NDArray[np.uint32], dtype: np.dtype[Any]) -> Array:
    unsigned = np.uint16 if dtype.itemsize == 2 else np.uint32
    return payloads.astype(unsigned).view(dtype)

# --- Earliest cycles of injection -----------------------------------------------------------------
#
# Assumes  a port injects a wavelet in each cycle, from cycle 0 on, as if nothing ever waited.
# Ensures  no work in Python per port or per element.

@dataclass(frozen=True, slots=True, kw_only=True)
class PortTimes:
    """The stream of the last invocation: arrays [port] and [port][index...].

    `x`, `y` are the external PEs, `axes` the values of each index. At `cycle` the port injects its
    first wavelet whose index is not below: of a sparse tensor that may be a later element, or the
    end of the sequence. `sent` are the indices at which there is an element that moves. `ends`
    [port][outer index...] are the cycles of the ends; None where the tensor is not sparse.
    """

    x: Ints
    y: Ints
    axes: list[Ints]
    cycle: Ints
    sent: Bools
    ends: Ints | None


def find_times(
    arrival: PortEntry, arrays: Sequence[Array], invocations: int, grid: Grid
) -> PortTimes:
    """Return when the elements of an arrival of a layout come in the last invocation.

    `arrays` has the tensor of each invocation, or the one that comes in all of them.
    """
    points = find_points(arrival, arrays[0].shape, grid)
    sent = [_sent(arrival, array, points) for array in arrays]
    each = [_wavelets(here, arrival.sparse) for here in sent]
    total = [here.sum(axis=1, dtype=np.int64) for here in each]
    earlier = sum(total) * (invocations // len(arrays)) - total[-1]
    before = np.cumsum(each[-1], axis=1) - each[-1] + earlier[:, None]
    x, y = find_external_points(arrival, points, grid)
    inner = points.inside.shape[-1]
    cycle = before.reshape(*points.inside.shape[:-1], -1)
    ends = cycle[..., -1] if arrival.sparse else None
    return PortTimes(
        x=x, y=y, axes=points.axes, cycle=cycle[..., :inner], sent=sent[-1], ends=ends
    )


def _sent(arrival: PortEntry, array: Array, points: Points) -> Bools:
    if not arrival.sparse or not array.size:
        return points.inside
    sent: Bools = points.inside & (array.reshape(-1)[points.numbers] != 0)
    return sent


def _wavelets(sent: Bools, sparse: bool) -> Ints:
    """Return how many wavelets, one or none, are sent at each [port, index]: with the ends."""
    wavelets = sent.astype(np.int64)
    if sparse:
        ends = np.ones((*wavelets.shape[:-1], 1), dtype=np.int64)
        wavelets = np.concatenate([wavelets, ends], axis=-1)
    return wavelets.reshape(len(wavelets), -1)
