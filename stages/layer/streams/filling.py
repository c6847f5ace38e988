"""How much memory of a PE the tensors of a layer take, before it is allocated.

Paper    V Sec. 4.3
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from math import prod

import islpy as isl

from stages.layer.routes.placed import Streams
from stages.machine.types import BYTES
from stages.poly.bind import PE_NAMES, bind_range
from stages.poly.compact import fit
from stages.poly.number import bound_points
from stages.poly.pieces import from_domain

if typing.TYPE_CHECKING:
    from stages.layer.streams.cutting import Chunks

FUNCTIONS = 4
"""Functions of a program for each tensor, stream and statement, roughly."""


def count_bytes(streams: Streams, cuts: Mapping[str, Chunks]) -> int:
    """Return how many bytes a computing PE needs, roughly: what it keeps, and its code."""
    placed = streams.placed
    layer, profile = placed.layer, placed.profile
    tensors = sum(
        BYTES[tensor.type] * _count_elements(name, streams, cuts)
        for name, tensor in layer.tensors.items()
    )
    parts = len(layer.statements) + len(streams.arrivals) + len(streams.departures)
    return tensors + profile.code_base + FUNCTIONS * parts * profile.code_task


def _count_elements(name: str, streams: Streams, cuts: Mapping[str, Chunks]) -> int:
    """Return a bound on the elements of a tensor that a PE keeps; of a ring, those of its chunks.
    """
    rings = [
        cut.cut.size * cut.ring
        for arrival, cut in cuts.items()
        if cut.ring is not None and streams.arrivals[arrival].tensor == name
    ]
    if rings:
        return max(rings)
    placed = streams.placed
    written = {statement.target.tensor for statement in placed.layer.statements}
    kept = from_domain(placed.computed if name in written else placed.needed, name)
    if kept.is_empty() or any(a.sparse and a.tensor == name for a in streams.arrivals.values()):
        return 0
    here = bind_range(isl.Map.from_union_map(kept), PE_NAMES)
    size, _ = fit(here, f"{name}_local")
    return min(bound_points(here), prod(size))
