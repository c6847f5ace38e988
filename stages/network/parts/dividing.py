"""Division of parts that no PEs of a target have room for, into pieces that are parts.

Source   V Sec. 1: a network is broken up into parts, each compiled for PEs of its own

A closed form estimates the memory of a part from its largest statement: with blocks of one iterator
along the width of the target, and of another one along its height, and one border along each side
free for adapters. It counts weights, tensors of which not all elements arrive, as these do not
roll, and sums that go on until the last element has arrived. PEs on the lane of such a tensor keep
all of it, so a few pieces with room for that are tried first.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from math import ceil, prod

import islpy as isl

from lairmake.stages.network.parts.grouping import OperationGroup, tile_group
from lairmake.stages.parts.tiling import NoSliceError, PartTile, Rows, TileStatement
from lairmake.stages.poly.box import bounding_box

SET = isl.dim_type.set
SPARE = 12288
"""Bytes of a PE for its program, and for all that the closed form does not count."""

MOST_PIECES = 64
"""Largest number of pieces of a part."""

MOST_ON_LANE = 4
"""Largest number of pieces if PEs on a lane keep all that arrives; with more, adapters spread
it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRoom:
    """The room of a part: a target of `width` x `height` PEs, with `memory` bytes on each.

    An element has `size` bytes.
    """

    width: int
    height: int
    memory: int
    size: int

    @property
    def most(self) -> int:
        """Return the bytes of a PE for all that the closed form counts."""
        return self.memory - SPARE


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedPiece:
    """A part: a box of the result of a group, and the tile that computes it.

    `why` has the reasons for the group and for the cut; `is_whole` marks a group that is not cut.
    """

    name: str
    group: OperationGroup
    elements: isl.Set
    tile: PartTile
    why: str
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The terms of a measurement of memory, in a room.

    `known` are the volumes that are weights, `kept` those of which not all elements arrive. With
    `on_lane`, PEs keep all of the latter.
    """

    known: Set[str]
    kept: Set[str]
    room: PartRoom
    on_lane: bool


def cut(
    group: OperationGroup, domain: isl.Set, kept: Set[str], known: Set[str], room: PartRoom
) -> list[DividedPiece]:
    """Return a group as one part, or as the fewest equal pieces along a dimension that have room.

    `domain` are the elements of its result; `known` are the volumes that are weights, `kept` those
    of which not all elements arrive. If no pieces have room the group stays one part: the search
    for its placement reports the memory that lacks. Raises NoSliceError.
    """
    whole = tile_group(domain, group.operations)
    for on_lane in (True, False):
        measure = Measure(kept=kept, known=known, room=room, on_lane=on_lane)
        need = find_need(whole, measure)
        if need <= room.most:
            break
        found = min(_list_cuts(group, domain, measure), default=None)
        if found is not None:
            return list(_list_pieces(group, domain, *found, _say(need, room)))
    return [DividedPiece(name=group.name, group=group, elements=domain, tile=whole, why=group.why,
                  is_whole=True)]


def _say(need: int, room: PartRoom) -> str:
    return (
        f"all of it takes {need} bytes on a PE at least, and {room.most} are for that on each of "
        f"{room.width} x {room.height}"
    )


def _list_pieces(
    group: OperationGroup, domain: isl.Set, count: int, dim: int, said: str
) -> Iterator[DividedPiece]:
    for k, elements in enumerate(_divide(domain, dim, count), 1):
        yield DividedPiece(
            name=f"{group.name}_{k}", group=group, elements=elements,
            tile=tile_group(elements, group.operations), is_whole=False,
            why=f"{group.why}; piece {k} of {count} along dimension {dim}, for {said}",
        )


def _list_cuts(
    group: OperationGroup, domain: isl.Set, measure: Measure
) -> Iterator[tuple[int, int]]:
    """Yield numbers of pieces that have room, each with its dimension."""
    most = MOST_ON_LANE if measure.on_lane else MOST_PIECES
    for dim, (low, high) in enumerate(bounding_box(domain)):
        size = high + 1 - low
        for count in (n for n in range(2, min(size, most) + 1) if size % n == 0):
            first = next(_divide(domain, dim, count))
            try:
                piece = tile_group(first, group.operations)
            except NoSliceError:
                continue
            if find_need(piece, measure) <= measure.room.most:
                yield count, dim
                break


def _divide(domain: isl.Set, dim: int, count: int) -> Iterator[isl.Set]:
    """Yield the `count` equal boxes of a box along a dimension."""
    low, high = bounding_box(domain)[dim]
    size = (high + 1 - low) // count
    for first in range(low, high + 1, size):
        above = domain.lower_bound_val(SET, dim, isl.Val(first))
        yield above.upper_bound_val(SET, dim, isl.Val(first + size - 1)).coalesce()


def find_need(found: PartTile, by: Measure) -> int:
    """Return the least bytes that the busiest PE needs, with blocks of two iterators."""
    main = max(found.statements, key=lambda each: prod(each.size))
    volumes = {name: each.volume for name, each in found.inputs.items()}
    reads = dict(main.reads.values())
    padded = {t: rows for t, rows in reads.items() if volumes.get(t) in by.kept}
    weights = [rows for t, rows in reads.items() if volumes.get(t) in by.known]
    moving = [rows for t, rows in reads.items() if volumes.get(t) not in by.known]
    held = [*weights, *(() if by.on_lane else padded.values())]
    if main.operator != "=" and (padded or any(_is_last(rows, main) for rows in moving)):
        held.append(main.target)
    always = sum(_count(rows, main.size) for rows in padded.values()) if by.on_lane else 0
    return by.room.size * (always + _count_least(tuple(held), main.size, by.room))


@functools.lru_cache(256)
def _count_least(held: tuple[Rows, ...], sizes: tuple[int, ...], room: PartRoom) -> int:
    """Return the least number of elements that accesses reach from a PE's box of instances."""
    return min(
        sum(_count(rows, spans) for rows in held) for spans in _list_blocks(sizes, room)
    )


def _is_last(rows: Rows, statement: TileStatement) -> bool:
    """Return whether sums need the last elements of a tensor that comes row by row."""
    outermost = next((row for row in rows if any(_extents(row, statement.size))), ())
    kept = {k for row in statement.target for k, factor in enumerate(row[:-1]) if factor}
    return any(factor and k not in kept for k, factor in enumerate(outermost[:-1]))


def _extents(row: Sequence[int], sizes: Sequence[int]) -> Iterator[int]:
    return (abs(factor) * (size - 1) for factor, size in zip(row[:-1], sizes, strict=True))


def _count(rows: Rows, sizes: Sequence[int]) -> int:
    """Return the number of elements that an access reaches from a box of instances."""
    return prod(1 + sum(_extents(row, sizes)) for row in rows)


def _list_blocks(sizes: Sequence[int], room: PartRoom) -> Iterator[list[int]]:
    """Yield the sizes of a PE's box of instances, for each choice of iterators along both sides."""
    if not sizes:
        yield []
    width, height = max(1, room.width - 1), max(1, room.height - 1)
    for a, b in itertools.product(range(len(sizes)), repeat=2):
        spans = list(sizes)
        spans[a] = ceil(spans[a] / (max(width, height) if a == b else width))
        if a != b:
            spans[b] = ceil(spans[b] / height)
        yield spans
