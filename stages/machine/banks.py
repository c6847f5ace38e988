"""Banks of memory: where an instruction waits for one, and arrays that lie so that few do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Generic, TypeVar

WORD = 2
"""Bytes of a word; successive words lie in successive banks."""

# --- Points at which operands wait for a bank -----------------------------------------------------
#
# Source   CSL language guide, appendix: SIMD mode; stages/fabric/rate.c charges the same

@dataclass(frozen=True, slots=True)
class Words:
    """The words of an operand in memory: the first, and how many further along each axis of a box.
    """

    first: int
    steps: tuple[int, ...]


def count_waits(reads: Sequence[Words], sizes: Sequence[int], banks: int) -> int:
    """Return at how many points of a box an instruction waits for a bank that is busy.

    These are the most at which two of its operands are read from one bank.
    """
    return max((count_meetings(p, q, sizes, banks) for p, q in combinations(reads, 2)), default=0)


def count_meetings(p: Words, q: Words, sizes: Sequence[int], banks: int) -> int:
    """Return at how many points of a box two operands lie in one bank."""
    steps = tuple((a - b) % banks for a, b in zip(p.steps, q.steps, strict=True))
    return _count_zeros(steps, tuple(sizes), (p.first - q.first) % banks, banks)


@lru_cache(maxsize=4096)
def _count_zeros(steps: Sequence[int], sizes: Sequence[int], apart: int, banks: int) -> int:
    """Return at how many points `apart`, and so many steps along each axis, is 0 modulo `banks`."""
    count = {apart: 1}
    for step, size in zip(steps, sizes, strict=True):
        found: dict[int, int] = {}
        for k in range(min(banks, size)):
            for start, times in count.items():
                to = (start + k * step) % banks
                found[to] = found.get(to, 0) + times * ((size - k + banks - 1) // banks)
        count = found
    return count.get(0, 0)

# --- Places of arrays for which instructions wait least -------------------------------------------
#
# It is a descent, an array after the other: each goes where those instructions take least that
# access it, given where all others are.

MOST_ROUNDS = 4

Place = TypeVar("Place")
"""Where an array lies, as far as banks tell: in which it starts, and perhaps how long rows are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceCost(Generic[Place]):
    """The cycles of an instruction, or a number that grows with them, given the places of arrays.
    """

    arrays: frozenset[str]
    of: Callable[[Mapping[str, Place]], Fraction]


def choose_places(
    options: Mapping[str, Sequence[Place]], costs: Sequence[PlaceCost[Place]]
) -> dict[str, Place]:
    """Return one of its options for each array, the first ones if no others take less.

    Of those that take as much, an array has the one that it had, or else the first.
    """
    first = {name: places[0] for name, places in options.items()}
    chosen, its = dict(first), {n: [c for c in costs if n in c.arrays] for n in options}
    for _ in range(MOST_ROUNDS):
        before = dict(chosen)
        for name in filter(its.get, options):
            chosen[name] = _find_best(name, options[name], chosen, its[name])
        if chosen == before:
            break
    return chosen if _sum(costs, chosen) < _sum(costs, first) else first


def _find_best(
    name: str,
    options: Sequence[Place],
    chosen: Mapping[str, Place],
    costs: Sequence[PlaceCost[Place]],
) -> Place:
    """Return the place of an array for which some instructions take least."""
    return min(
        options, key=lambda each: (_sum(costs, {**chosen, name: each}), each != chosen[name])
    )


def _sum(costs: Sequence[PlaceCost[Place]], places: Mapping[str, Place]) -> Fraction:
    return sum((cost.of(places) for cost in costs), Fraction(0))


def list_starts(now: int, banks: int, step: int) -> Iterator[int]:
    """Yield banks in which an array may start: that of now, those at 32 bits, then others.

    All are multiples of `step` words, but perhaps that of now.
    """
    aligned = range(0, banks, max(2, step))
    yield from dict.fromkeys([now, *aligned, *range(0, banks, step)])
