"""Tensors that take turns with buffers, where one becomes another in the next invocation."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.routes.lines import find_summed_elements
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.compression import fit
from lairmake.stages.poly.functions import PE_NAMES, bind_range
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

if TYPE_CHECKING:
    from lairmake.stages.layer.routes.placement import PlacedLayer, Streams

# --- Swaps of buffers -----------------------------------------------------------------------------
#
# Where T is S in the next invocation, S need not be copied: T takes the buffer of S, and S that of
# T, in which nothing is needed any more, for S is computed anew, all of it. What T was before, say
# T_delay1, takes the buffer of T, and S that of T_delay1. All buffers have one shape, in which T
# has its margin, too: so a halo goes straight to the buffer that becomes that of T.
#
# Source   stencil codes, which swap two fields after each step

Swaps = tuple[tuple[str, ...], ...]
"""Tensors that take turns with as many buffers, each before the one whose buffer it takes; the last
one, which a statement computes, takes that of the first."""

MOST_OPERATIONS = 500_000
"""Operations that isl may spend on finding out whether a tensor lies where another one is computed.
"""


def find_swaps(streams: Streams, apart: Collection[str]) -> Swaps:
    """Return the tensors that take turns with buffers: none of those `apart`."""
    layer = streams.placed.layer
    found, taken = list[tuple[str, ...]](), {*apart}
    taken |= {arrival.tensor for arrival in streams.arrivals.values()}
    for statement in layer.statements:
        computed = statement.target.tensor
        if computed in taken or _is_summed(computed, streams):
            continue
        names = [computed]
        while True:
            names = [next(_list_takers(names[0], streams, taken), ""), *names]
            if not names[0]:
                break
            taken.add(names[0])
        if len(names) > 2:
            found.append(tuple(names[1:]))
    return tuple(found)


def _is_summed(tensor: str, streams: Streams) -> bool:
    """Say whether PEs hold parts of sums of a tensor, of elements that they do not compute."""
    placed, said = streams.placed, streams.routed.said
    summed = find_summed_elements(tensor, streams.departures, placed.adapted, said)
    return not summed.is_subset(from_domain(placed.computed, tensor))


def _list_takers(source: str, streams: Streams, taken: Collection[str]) -> Iterator[str]:
    """Yield the tensors that are a source in the next invocation, and lie where it does."""
    placed = streams.placed
    for carry in placed.layer.carries:
        if carry.source == source and carry.tensor not in taken:
            needed = from_domain(placed.needed, carry.tensor)
            if needed.is_empty():
                continue
            exchanged = any(move.tensor == carry.tensor for move in streams.moves.values())
            if exchanged or _lies_in(isl.Map.from_union_map(needed), source, placed):
                yield carry.tensor


def _lies_in(needed: isl.Map, source: str, placed: PlacedLayer) -> bool:
    """Say whether PEs that need { T[e] -> PE } have what it will be: they compute it, or need it.
    """
    here = placed.computed.union(placed.needed)
    there = isl.Map.from_union_map(from_domain(here, source))
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        return bool(needed.set_tuple_name(isl.dim_type.in_, source).is_subset(there))
    return False


def count_more(names: Sequence[str], placed: PlacedLayer) -> int:
    """Return how many bytes more buffers take than their tensors apart, roughly."""
    kept = [from_domain(placed.needed.union(placed.computed), name) for name in names]
    boxes = [isl.Map.from_union_map(each).set_tuple_name(isl.dim_type.in_, "") for each in kept]
    whole = functools.reduce(isl.Map.union, boxes)
    every = (bind_range(each.coalesce(), PE_NAMES) for each in (whole, *boxes))
    sizes = [prod(fit(each, "")[0]) for each in every]
    return BYTES[placed.layer.tensors[names[0]].type] * (len(names) * sizes[0] - sum(sizes[1:]))
