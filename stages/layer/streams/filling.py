"""How much memory of a PE the tensors of a layer take, before it is allocated.

Paper    V Sec. 4.3
"""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping
from fractions import Fraction
from math import prod

import islpy as isl

from lairmake.stages.layer.routes.placed import Placed, Streams
from lairmake.stages.layer.routes.resources import count_functions
from lairmake.stages.layer.streams.rings import find_rings, find_rows
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.chunks import roll, roll_rows
from lairmake.stages.poly.compression import fit
from lairmake.stages.poly.functions import PE_NAMES, bind_range

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.streams.chunks import Flows
    from lairmake.stages.layer.streams.cutting import Chunks
    from lairmake.stages.layer.texts.task_graph import Graph

FUNCTIONS = 4
"""Functions of a program for each tensor, stream and statement, roughly."""
FEWEST = 2
"""How many there are at least."""


def count_bytes(
    streams: Streams, cuts: Mapping[str, Chunks], unkept: Collection[str]
) -> int:
    """Return how many bytes a computing PE needs, roughly: what it keeps, and its code.

    It keeps nothing of tensors that are `unkept`.
    """
    kept = (name for name in streams.placed.layer.tensors if name not in unkept)
    sizes = (_count_tensor(name, streams, cuts) for name in kept)
    return sum(sizes) + _count_code(streams, FUNCTIONS)


def fits_only_whole(
    streams: Streams, cuts: Mapping[str, Chunks], parts: Mapping[str, Fraction],
    unkept: Collection[str],
) -> bool:
    """Say whether a PE has too little memory with chunks, and enough, roughly, without.

    Then of all tensors that are computed there, and stay there, two are needed at a time.
    `parts` says which part of others is there with chunks; nothing is of those `unkept`.
    """
    layer = streams.placed.layer
    kept = [name for name in layer.tensors if name not in unkept]
    room = streams.placed.profile.memory - _count_code(streams, FEWEST)
    gradual = sum(_count_tensor(t, streams, cuts) * parts.get(t, 1) for t in kept)
    sizes = {name: _count_tensor(name, streams, {}) for name in kept}
    passing = sorted(sizes.pop(tensor.name) for tensor in layer.internals)
    return gradual > room >= sum(sizes.values()) + sum(passing[-2:])


def has_room(graph: Graph, streams: Streams, flows: Flows) -> bool:
    """Say whether a PE has room for what tasks.yaml says that it keeps, all at a time.

    It has where the code of its functions fits, and its local tensors, if no two share memory.
    """
    rings, rows = find_rings(graph, flows), find_rows(graph, flows)
    boxes = {name: roll(ring.numbers, ring.depth, name)[0] for name, ring in rings.items()}
    boxes |= {name: roll_rows(each, name)[0] for name, each in rows.items()}
    profile = streams.placed.profile
    need = profile.code_base + count_functions(graph) * profile.code_task
    for name, tensor in graph.tensors.items():
        if name in boxes:
            need += BYTES[tensor.type] * prod(find_shape(boxes[name]))
        elif tensor.kept != "never" and tensor.stored_in is None:
            need += _count_tensor(name, streams, {})
    return need <= profile.memory


def _count_tensor(name: str, streams: Streams, cuts: Mapping[str, Chunks]) -> int:
    type_ = streams.placed.layer.tensors[name].type
    return BYTES[type_] * _count_elements(name, streams, cuts)


def _count_code(streams: Streams, functions: int) -> int:
    layer, profile = streams.placed.layer, streams.placed.profile
    parts = len(layer.statements) + len(streams.arrivals) + len(streams.departures)
    return profile.code_base + functions * parts * profile.code_task


def _count_elements(name: str, streams: Streams, cuts: Mapping[str, Chunks]) -> int:
    """Return a bound on the elements of a tensor that a PE keeps; of a ring, those of its chunks.
    """
    rings = [
        cut.in_ring
        for arrival, cut in cuts.items()
        if not cut.is_whole and streams.arrivals[arrival].tensor == name
    ]
    if rings:
        return max(rings)
    if any(a.sparse and a.tensor == name for a in streams.arrivals.values()):
        return 0
    known = streams.placed.kept
    if name not in known:
        known[name] = _count_kept(name, streams.placed)
    return known[name]


def _count_kept(name: str, placed: Placed) -> int:
    """Return a bound on the elements of a tensor that a PE computes or needs."""
    written = {statement.target.tensor for statement in placed.layer.statements}
    kept = from_domain(placed.computed if name in written else placed.needed, name)
    if kept.is_empty():
        return 0
    here = bind_range(isl.Map.from_union_map(kept), PE_NAMES)
    size, _ = fit(here, f"{name}_local")
    return min(bound_points(here), prod(size))
