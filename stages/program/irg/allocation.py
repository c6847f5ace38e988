"""Allocation of memory by best fit, and banks for arrays that are read at once."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lairmake.stages.machine.banks import (
    WORD,
    Banks,
    PlaceCost,
    Words,
    choose_places,
    count_waits,
    list_starts,
)
from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.graph import (
    GraphEntry,
    GraphNode,
    Item,
    Items,
    ProgramGraph,
    list_bodies,
)
from lairmake.stages.program.irg.regions import RegionAccess, RegionAccesses
from lairmake.stages.program.values.forms import ON_PES

# --- Memory by best fit ---------------------------------------------------------------------------
#
# Paper    E Sec. 5.5: emulated malloc and free; split, best fit, append

@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request of `bytes` of memory from node `first` to node `last`, inclusive.

    Its address is `start` bytes (less than `alignment`) behind a multiple of `alignment`.
    """

    name: str
    bytes: int
    alignment: int
    first: int
    last: int
    start: int = 0


def place_requests(requests: Iterable[Request]) -> tuple[dict[str, int], int]:
    """Return the address of each request, and the bytes that all of them need.

    Requests are served in order of their first nodes. At one node, larger alignments and larger
    requests come first, so that small ones find holes. Memory of a node's sources is free only
    behind that node.
    """
    waiting = sorted(requests, key=lambda r: (r.first, -r.alignment, -r.bytes, r.name))
    memory, live, addresses = _Memory(), list[tuple[int, int, int]](), dict[str, int]()
    for request in waiting:
        while live and live[0][0] < request.first:
            _, address, size = live.pop(0)
            memory.free(address, size)
        size = request.bytes + request.bytes % 2
        addresses[request.name] = address = memory.take(size, request.alignment, request.start)
        insort(live, (request.last, address, size))
    return addresses, memory.end


class _Memory:
    """Free blocks, as (address, size) in order of addresses, below `end`."""

    def __init__(self) -> None:
        self.blocks: list[tuple[int, int]] = []
        self.end = 0

    def take(self, size: int, alignment: int, behind: int) -> int:
        """Return the address of a block, taken from the smallest free one that has room for it."""
        fitting = [
            (length, n) for n, (start, length) in enumerate(self.blocks)
            if start + length >= _align(start, alignment, behind) + size
        ]
        if not fitting:
            return self.append(size, alignment, behind)
        _, n = min(fitting)
        start, length = self.blocks.pop(n)
        address = _align(start, alignment, behind)
        self.free(start, address - start)
        self.free(address + size, start + length - address - size)
        return address

    def append(self, size: int, alignment: int, behind: int) -> int:
        """Return the address of a block at the end, which includes a free block there."""
        start = self.end
        if self.blocks and sum(self.blocks[-1]) == self.end:
            start, _ = self.blocks.pop()
        address = _align(start, alignment, behind)
        self.free(start, address - start)
        self.end = address + size
        return address

    def free(self, address: int, size: int) -> None:
        """Take a block back, and join it with the free blocks beside it."""
        if not size:
            return
        insort(self.blocks, (address, size))
        n = self.blocks.index((address, size))
        for k in (n, n - 1):
            if 0 <= k < len(self.blocks) - 1 and sum(self.blocks[k]) == self.blocks[k + 1][0]:
                start, length = self.blocks[k]
                self.blocks[k : k + 2] = [(start, length + self.blocks[k + 1][1])]


def _align(address: int, alignment: int, behind: int) -> int:
    return address + (behind - address) % alignment

# --- Banks of arrays that are read at once --------------------------------------------------------
#
# Source   CSL language guide, appendix: SIMD mode; stages/fabric/rate.c charges what remains

STEP = 4
"""Bytes between possible starts of arrays: instructions want whole 32 bits."""
OF_LOOP = 10
"""Assumed number of iterations of a loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A node that runs so many times, and the arrays that it reads at once, each with its words."""

    times: int
    sizes: tuple[int, ...]
    read: tuple[tuple[str, Words], ...]
    written: tuple[str, Words] | None
    banks: Banks

    @property
    def arrays(self) -> list[str]:
        """The arrays that it reads, and that where its results go if writes take banks."""
        return [name for name, _ in (*self.read, *([self.written] if self.written else []))]

    def find_cycles(self, starts: Mapping[str, int], most: Fraction | None) -> Fraction:
        """Return in how many cycles it waits, given the banks where arrays start."""
        name, of = self.written or ("", Words(0, ()))
        write = Words(of.first + starts[name], of.steps) if name else None
        reads = [Words(of.first + starts[name], of.steps) for name, of in self.read]
        return Fraction(self.times * count_waits(reads, write, self.sizes, self.banks))


def find_starts(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], banks: Banks, alignment: int
) -> dict[str, int]:
    """Return the offset in bytes of some arrays behind a multiple of `alignment`."""
    if not banks.count or alignment % (banks.words * WORD):
        return {}
    reading = list(_list_reading(graph.items, graph, accesses, banks, 1))
    names = dict.fromkeys(name for each in reading for name in each.arrays)
    options = {name: list(list_starts(0, banks.words, STEP // WORD)) for name in names}
    costs = [PlaceCost(arrays=frozenset(each.arrays), of=each.find_cycles) for each in reading]
    places = choose_places(options, costs)
    return {name: start * WORD for name, start in places.items() if start}


def _list_reading(
    items: Items,
    graph: ProgramGraph,
    accesses: Mapping[int, RegionAccesses],
    banks: Banks,
    times: int,
) -> Iterator[_Reading]:
    for item in items:
        if isinstance(item, GraphNode):
            yield from _list_reading_of(item, graph.entries, accesses[item.id], banks, times)
        for body in list_bodies(item):
            yield from _list_reading(body, graph, accesses, banks, times * _count_times(item))


def _count_times(item: Item) -> int:
    """Return the assumed number of runs of the graphs in an item."""
    return OF_LOOP if len(list_bodies(item)) == 1 else 1


def _list_reading_of(
    node: GraphNode,
    entries: Mapping[str, GraphEntry],
    accesses: RegionAccesses,
    banks: Banks,
    times: int,
) -> Iterator[_Reading]:
    """Yield the arrays of which a node reads an element for each instance, on the same PE."""
    if entries[node.dst].kind not in ON_PES:
        return
    sizes, place = accesses.dst.sizes[2:], accesses.dst.start[:2]
    read = [
        (entries[name], each) for name, each in zip(node.src, accesses.src, strict=True)
        if isinstance(name, str) and each is not None and entries[name].kind in ON_PES
        and each.start[:2] == place
    ]
    words = [
        (entry.name, Words(_find_first(entry, each), tuple(_find_words(entry, each, sizes))))
        for entry, each in read
    ]
    moving, written = tuple((name, of) for name, of in words if any(of.steps)), None
    if banks.write_latency and accesses.dst is not None:
        to = entries[node.dst], accesses.dst
        written = node.dst, Words(_find_first(*to), tuple(_find_words(*to, sizes)))
    found = _Reading(
        times=times, sizes=tuple(sizes), read=moving, written=written, banks=banks)
    if len(set(found.arrays)) > 1:
        yield found


def _find_words(entry: GraphEntry, access: RegionAccess, sizes: Sequence[int]) -> list[int]:
    """Return the distance in words to the next element, along each axis of instances."""
    words = [0] * len(sizes)
    for k, row in _list_rows(entry):
        axis = access.axes[k]
        if axis is not None:
            words[axis - 2] = access.step[k] * row
    return words


def _find_first(entry: GraphEntry, access: RegionAccess) -> int:
    """Return the first word of an access within its entry."""
    return sum(access.start[k] * row for k, row in _list_rows(entry))


def _list_rows(entry: GraphEntry) -> Iterator[tuple[int, int]]:
    """Yield the axes in memory of an entry, each with its stride in words."""
    for k in range(2, len(entry.shape)):
        yield k, math.prod(entry.shape[k + 1 :]) * BYTES[entry.type] // WORD
