"""Sparse tensors that leave: sequences of non-zeros with an index each, and an end after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.grid import Grid, coordinates

Array = NDArray[Any]
ELEMENT, END = 1, 2
"""What an external PE received, as `enum received` of engine.h."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences:
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
    sequences: Sequences, outlets: Array, received: Array, kinds: Array, invocations: int
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


def find_sequence_fault(sequences: Sequences, got: Received, nodes: Ints, grid: Grid) -> str:
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
    sequences: Sequences, got: Received, invocation: int, array: Array, found: Bools
) -> None:
    """Copy what came in one invocation into `array`; mark in `found` all that may have come."""
    here = slice(*np.searchsorted(got.invocation, [invocation, invocation + 1]))
    values = got.value[here].view(array.dtype)
    array.reshape(-1)[_numbers(sequences, got, here)] = values
    found.reshape(-1)[sequences.numbers[sequences.numbers >= 0]] = True


def _numbers(sequences: Sequences, got: Received, which: slice) -> Ints:
    """Return the number of the element of each index, -1 for none."""
    at = got.index[which] - sequences.least
    inside = (at >= 0) & (at < sequences.numbers.shape[2])
    numbers = sequences.numbers[got.port[which], got.sequence[which], np.where(inside, at, 0)]
    return np.where(inside, numbers, -1)
