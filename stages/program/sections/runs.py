"""Elements of a worker's memory as sizes and strides, of as few axes as have all operands.

Paper    ours; E Sec. 6.1.4 has one length for an operation
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Strides: TypeAlias = tuple[int, ...]
"""Elements from one instance to the next along each axis of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """`rank` axes, the outermost first; of rank 0 one run of `sizes[0]` with strides of 1.

    `strides` has those of each operand.
    """

    rank: int
    sizes: tuple[int, ...]
    strides: tuple[Strides, ...]


def pack_strides(sizes: Sequence[int]) -> Strides:
    """Return the strides of elements that lie one after the other."""
    return tuple(math.prod(sizes[k + 1 :]) for k in range(len(sizes)))


def join_axes(sizes: Sequence[int], strides: Sequence[Strides]) -> Runs:
    """Return axes without those of size 1, and with those joined along which all operands go on.

    Axes a and b next to it are one where the stride along a is that along b times the size of b.
    The order of instances stays.
    """
    joined: list[tuple[int, Strides]] = []
    for k, size in enumerate(sizes):
        along = tuple(each[k] for each in strides)
        if size == 1:
            continue
        if joined and joined[-1][1] == tuple(stride * size for stride in along):
            joined[-1] = joined[-1][0] * size, along
        else:
            joined.append((size, along))
    if not joined or (len(joined) == 1 and all(stride == 1 for stride in joined[0][1])):
        return Runs(rank=0, sizes=(math.prod(sizes),), strides=())
    return Runs(
        rank=len(joined), sizes=tuple(size for size, _ in joined),
        strides=tuple(zip(*(along for _, along in joined), strict=True)),
    )
