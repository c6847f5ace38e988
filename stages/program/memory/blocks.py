"""Memory that is given out and taken back along the ids of a graph: best fit.

Paper    E Sec. 5.5: emulated malloc and free; split, best fit, append
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What asks for `bytes` of memory from node `first` to node `last`, both included.

    It begins `start` bytes, less than `alignment`, behind an address that `alignment` divides.
    """

    name: str
    bytes: int
    alignment: int
    first: int
    last: int
    start: int = 0


def place_requests(requests: Iterable[Request]) -> tuple[dict[str, int], int]:
    """Return the address of each request, and how many bytes all of them need.

    In order of their first nodes; at one node the larger alignments, and larger ones, first, so
    that small ones find holes. Memory of a node's sources is free after that node only.
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
    """Blocks that are free, (address, size) in order of addresses, below `end`."""

    def __init__(self) -> None:
        self.blocks: list[tuple[int, int]] = []
        self.end = 0

    def take(self, size: int, alignment: int, behind: int) -> int:
        """Return where a block begins, taken from the smallest free one that has room for it."""
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
        """Return where a block begins that needs more memory; one that is free at the end grows."""
        start = self.end
        if self.blocks and sum(self.blocks[-1]) == self.end:
            start, _ = self.blocks.pop()
        address = _align(start, alignment, behind)
        self.free(start, address - start)
        self.end = address + size
        return address

    def free(self, address: int, size: int) -> None:
        """Take a block back, and join it with the free ones beside it."""
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
