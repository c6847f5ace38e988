"""Allocation of memory by best fit, and banks for arrays that are read at once."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lairmake.stages.machine.types import BYTES
from lairmake.stages.machine.vector_rate import count_meetings
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

WORD = 2
"""Bytes of a word; successive words lie in successive banks."""
STEP = 4
"""Bytes between possible starts of arrays: instructions want whole 32 bits."""
OF_LOOP = 10
"""Assumed number of iterations of a loop."""
MOST_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two arrays read at once; `meets[n]` counts the reads that wait if p is n words behind q."""

    p: str
    q: str
    meets: tuple[int, ...]


def find_starts(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], banks: int, alignment: int
) -> dict[str, int]:
    """Return the offset in bytes of some arrays behind a multiple of `alignment`.

    Two reads meet where their words are equal modulo `banks`; with 0 banks no reads meet.
    """
    if not banks or alignment % (banks * WORD):
        return {}
    pairs = list(_list_pairs(graph.items, graph, accesses, banks, 1))
    starts = dict.fromkeys(name for pair in pairs for name in (pair.p, pair.q))
    chosen = dict.fromkeys(starts, 0)
    of = {name: [each for each in pairs if name in (each.p, each.q)] for name in starts}
    for _ in range(MOST_ROUNDS):
        before = dict(chosen)
        for name, its in of.items():
            chosen[name] = min(
                range(0, banks * WORD, STEP),
                key=lambda start: (_wait(its, chosen | {name: start}), start != chosen[name]),
            )
        if chosen == before:
            break
    return {name: start for name, start in chosen.items() if start}


def _wait(pairs: Sequence[_Pair], starts: Mapping[str, int]) -> int:
    return sum(
        pair.meets[(starts[pair.p] - starts[pair.q]) // WORD % len(pair.meets)] for pair in pairs)


def _list_pairs(
    items: Items,
    graph: ProgramGraph,
    accesses: Mapping[int, RegionAccesses],
    banks: int,
    times: int,
) -> Iterator[_Pair]:
    for item in items:
        if isinstance(item, GraphNode):
            yield from _list_pairs_of(item, graph.entries, accesses[item.id], banks, times)
        for body in list_bodies(item):
            yield from _list_pairs(body, graph, accesses, banks, times * _count_times(item))


def _count_times(item: Item) -> int:
    """Return the assumed number of runs of the graphs in an item."""
    return OF_LOOP if len(list_bodies(item)) == 1 else 1


def _list_pairs_of(
    node: GraphNode,
    entries: Mapping[str, GraphEntry],
    accesses: RegionAccesses,
    banks: int,
    times: int,
) -> Iterator[_Pair]:
    """Yield pairs of arrays of which a node reads an element for each instance, on the same PE."""
    if entries[node.dst].kind not in ON_PES:
        return
    sizes, place = accesses.dst.sizes[2:], accesses.dst.start[:2]
    read = [
        (entries[name], each) for name, each in zip(node.src, accesses.src, strict=True)
        if isinstance(name, str) and each is not None and entries[name].kind in ON_PES
        and each.start[:2] == place
    ]
    for (p, of_p), (q, of_q) in combinations(read, 2):
        words = _find_words(p, of_p, sizes), _find_words(q, of_q, sizes)
        if p.name == q.name or not all(map(any, words)):
            continue
        steps = [a - b for a, b in zip(*words, strict=True)]
        apart = _find_first(p, of_p) - _find_first(q, of_q)
        meets = (count_meetings(steps, sizes, apart + more, banks) for more in range(banks))
        yield _Pair(p=p.name, q=q.name, meets=tuple(times * each for each in meets))


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
