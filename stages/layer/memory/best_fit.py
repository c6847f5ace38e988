"""Arrays that are used one after the other lie in the same memory.

Two arrays may share addresses if all uses of one come before all uses of the other, on every PE of
the role and in every invocation: what lasts from one invocation to the next shares nothing.

An array lies in the smallest gap between those that are needed when it is, or behind these; where
it would lie without sharing modulo the banks of the memory, so that no instruction waits for others
than it would then.

Paper    V Sec. 4.3, which gives each local tensor memory of its own
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import lcm

from lairmake.stages.layer.memory.events import Order
from lairmake.stages.layer.memory.kept import Array
from lairmake.stages.machine.types import BYTES

Addresses = dict[str, int]
Interval = tuple[int, int]
"""The first byte, and the first one behind."""


def may_share(one: Array, other: Array, order: Order) -> bool:
    """Say whether no invocation needs both arrays at a time."""
    if one.uses is None or other.uses is None:
        return False
    uses = one.uses, other.uses
    return order.ends_before(*uses) or order.ends_before(*reversed(uses))


def find_end(arrays: Iterable[Array], addresses: Mapping[str, int]) -> int:
    """Return how many bytes arrays take."""
    return max((addresses[array.name] + array.bytes for array in arrays), default=0)


def share_memory(
    arrays: Sequence[Array], apart: Mapping[str, int], order: Order, banks: int
) -> Addresses:
    """Return addresses of arrays, given those that they have `apart`, one after the other.

    Ensures that none has a greater address than then: behind all that it may not share with, each
    finds a place no later. Without any gain they stay as they are.
    """
    placed: dict[str, Interval] = {}
    for number, array in enumerate(arrays):
        busy = [placed[a.name] for a in arrays[:number] if not may_share(array, a, order)]
        every = lcm(2 * banks, BYTES[array.type]) if banks else BYTES[array.type]
        start = _best_place(array.bytes, busy, placed.values(), apart[array.name] % every, every)
        placed[array.name] = start, start + array.bytes
    found = {name: start for name, (start, _) in placed.items()}
    return found if find_end(arrays, found) < find_end(arrays, apart) else dict(apart)


def _best_place(
    size: int, busy: Collection[Interval], placed: Collection[Interval], rest: int, every: int
) -> int:
    """Return the best fit for an array: the least gap between what is busy, below what is placed.

    It is where others lie at other times, or behind them all; start mod `every` = `rest`.
    """
    end = max((stop for _, stop in placed), default=0)
    gaps = [(low, high, low + (rest - low) % every) for low, high in _gaps(busy, end)]
    fitting = [
        (high - low, start)
        for low, high, start in gaps
        if start + size <= high and any(a < start + size and start < b for a, b in placed)
    ]
    return min(fitting)[1] if fitting else _behind(busy, placed, rest, every)


def _behind(
    busy: Collection[Interval], placed: Collection[Interval], rest: int, every: int
) -> int:
    """Return the first place behind what is busy; of what is busy last, behind all if it is."""
    low = max((stop for _, stop in busy), default=0)
    return low + (rest - low) % every


def _gaps(busy: Collection[Interval], end: int) -> list[Interval]:
    """Return what lies between intervals, from 0 to an end."""
    found, low = [], 0
    for start, stop in sorted(busy):
        if start > low:
            found.append((low, start))
        low = max(low, stop)
    return [*found, (low, end)] if low < end else found
