"""The tensors that a run of the fabric gave: what left it, and what stays in its PEs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import DTYPES, Bools
from lairmake.stages.fabric.expected import Departure, take_departed
from lairmake.stages.fabric.layout_yaml import Layout
from lairmake.stages.fabric.loaded import Loaded, find_shape
from lairmake.stages.fabric.received import Received, find_sequence_fault, read_received
from lairmake.stages.fabric.resident import find_residents, gather

Array = NDArray[Any]


class FabricFailure(Exception):  # noqa: N818
    """A program or the layout asked for what the machine does not have; the text says what.

    `place` has the keys of the layout's text under which that stands, if it does.
    """

    def __init__(self, said: str, place: tuple[str | int, ...] = ()) -> None:
        super().__init__(said)
        self.place = place


def read_outputs(
    loaded: Loaded,
    layout: Layout,
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
        name: [array] for name, array in read_residents(loaded, layout, shapes).items()}


def read_residents(
    loaded: Loaded, layout: Layout, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Return what PEs hold of tensors that are read from memory. Raises ValueError."""
    types = {name: DTYPES[tensor.type] for name, tensor in find_residents(layout, "out")}
    return {
        name: _gathered(loaded, layout, name, dtype, find_shape(layout, name, shapes))
        for name, dtype in types.items()
    }


def _departures(loaded: Loaded, invocations: int) -> list[tuple[Departure, Array | Received]]:
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
    loaded: Loaded, departure: Departure, outlets: Array, here: slice, invocations: int
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
    loaded: Loaded,
    layout: Layout,
    name: str,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> Array:
    array, found = np.zeros(shape, dtype), np.zeros(shape, dtype=np.bool_)
    for number, role in enumerate(loaded.roles):
        pes = np.flatnonzero(loaded.role == number)
        for tensor in layout.roles[role].tensors.values():
            if tensor.transfer == "out" and tensor.tensor == name:
                gather(loaded.memory[number], tensor, array, found, pes, loaded.grid)
    return _whole(name, array, found)


def _whole(name: str, array: Array, found: Bools) -> Array:
    if not found.all():
        missing = int(found.size - found.sum())
        raise ValueError(f"the layout leaves out {missing} of {found.size} elements of {name}")
    return array
