"""In which cycle, at the earliest, external PEs inject the elements of a stream.

Assumes  a port injects a wavelet in each cycle, from cycle 0 on, as if nothing ever waited.
Ensures  no work in Python per port or per element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.external import Points, find_external_points, find_points
from lairmake.stages.fabric.grid import Grid
from lairmake.stages.fabric.layout_yaml import Entry

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
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
    arrival: Entry, arrays: Sequence[Array], invocations: int, grid: Grid
) -> Times:
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
    return Times(
        x=x, y=y, axes=points.axes, cycle=cycle[..., :inner], sent=sent[-1], ends=ends
    )


def _sent(arrival: Entry, array: Array, points: Points) -> Bools:
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
