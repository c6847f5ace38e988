"""Banks of memory: where an instruction waits for one, and arrays that lie so that few do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Generic, TypeVar

WORD = 2
"""Bytes of a word; successive words lie in successive banks."""

# --- Points at which an instruction waits for a bank ----------------------------------------------
#
# Where writes take no bank, successive words lie in successive banks, and an instruction waits
# where two of its operands are read from one. Where they do, banks are of 32 bits, and serve one
# access a cycle: cycles are counted as banks.c counts them.
#
# Source   CSL language guide, appendix: SIMD mode; stages/fabric/rate.c and banks.c charge the same

OF_BANK = 2
"""Words that a bank holds side by side where writes take banks."""


@dataclass(frozen=True, slots=True)
class Banks:
    """The banks of a PE's memory, 0 where there are none.

    A result is written `write_latency` cycles after it was read for; 0: writes take no bank.
    """

    count: int
    write_latency: int = 0

    @property
    def words(self) -> int:
        """After how many words banks come in the same order again."""
        return self.count * OF_BANK if self.write_latency else self.count


NONE = Banks(0)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an operand in memory: the first, and how many further along each axis of a box.
    """

    first: int
    steps: tuple[int, ...]


def count_waits(
    reads: Sequence[Words], write: Words | None, sizes: Sequence[int], banks: Banks
) -> int:
    """Return how many cycles an instruction waits for banks, if it computes a point in each other.

    `reads` are its operands in memory that are no numbers, `write` is where its results go.
    """
    operands = (*reads, *([] if write is None else [write]))
    counted = find_waits([of.steps for of in operands], len(reads), sizes, banks)
    return counted([of.first for of in operands])


def find_waits(
    steps: Sequence[tuple[int, ...]], reads: int, sizes: Sequence[int], banks: Banks
) -> Callable[[Sequence[int]], int]:
    """Return, as a function of the first words of operands, the cycles that `count_waits` returns.

    So many of the operands are read, the others written. `steps` are those of each.
    """
    if not banks.count or not all(sizes):
        return lambda first: 0
    if not banks.write_latency:
        pairs = list(combinations(range(reads), 2))
        return lambda first: max((
            count_meetings(Words(first[k], steps[k]), Words(first[n], steps[n]), sizes, banks.count)
            for k, n in pairs
        ), default=0)
    if len(steps) < 2:
        return lambda first: 0
    return _prepare(tuple(steps), reads, tuple(sizes), banks).count_waits


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

# --- Cycles of an instruction where writes take banks ---------------------------------------------
#
# What stays where it is from a point to the next is read once, and written once. Of addresses only
# banks matter: an axis that comes to a state in which it was before goes on as it did then.

BITS = 7
"""Bits for each of the next cycles: 1 + the bank that is written then, or 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """An instruction, as far as its cycles depend on it, but for where its operands begin.

    All words are modulo the banks. `steps` has a row an axis; `moves` says for each operand, the
    one written last, if a step along an axis moves it.
    """

    sizes: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]
    moves: tuple[tuple[bool, ...], ...]
    reads: int


def _list_moves(
    steps: Sequence[int], sizes: Sequence[int], axes: Sequence[int]
) -> tuple[bool, ...]:
    """Return if a step along an axis, and back to the start along those within, moves an operand.

    Where there is none before, or after, one counts as a step along one more axis.
    """
    found, back = [True], 0
    for k in reversed(axes):
        found.insert(0, steps[k] != back)
        back += steps[k] * (sizes[k] - 1)
    return tuple(found)


@lru_cache(maxsize=1 << 10)
def _prepare(
    steps: Sequence[tuple[int, ...]], reads: int, sizes: tuple[int, ...], banks: Banks
) -> _AccessCycles:
    """Return an instruction of which so many operands are read, the others written."""
    axes = [k for k, size in enumerate(sizes) if size > 1]
    access = _Access(
        sizes=tuple(sizes[k] for k in axes),
        steps=tuple(tuple(each[k] % banks.words for each in steps) for k in axes),
        moves=tuple(_list_moves(each, sizes, axes) for each in steps),
        reads=reads,
    )
    return _AccessCycles(access, banks)


class _AccessCycles:
    """The cycles of the parts of an instruction, each found once, wherever its operands begin."""

    def __init__(self, access: _Access, banks: Banks) -> None:
        self.access, self.banks, self.inner = access, banks, len(access.sizes) - 1
        self.found: dict[tuple[int, tuple[int, ...], int, int, int], tuple[int, int]] = {}
        self.next = [_Steps(steps, banks.words) for steps in access.steps]
        every = range(len(access.sizes) + 1)
        self.points = [[_Points(access, banks, p, q) for q in every] for p in every]
        self.waits: dict[tuple[int, ...], int] = {}

    def count_waits(self, first: Sequence[int]) -> int:
        """Return the cycles besides one a point where operands begin at some words.

        To begin as many banks further on with all of them makes no difference.
        """
        back = min(first, default=0) // OF_BANK * OF_BANK
        every = self.banks.words
        at = tuple([(word - back) % every for word in first])
        if at not in self.waits:
            axes = self.inner + 1
            self.waits[at] = self.find(0, at, 0, axes, axes)[0] - prod(self.access.sizes)
        return self.waits[at]

    def find(
        self, axis: int, at: tuple[int, ...], pending: int, before: int, after: int
    ) -> tuple[int, int]:
        """Return the cycles from an axis on inwards, and the writes to come then.

        A step along axis `before` led to its first point; one along `after` leads away.
        """
        if axis > self.inner:
            return self.points[before][after][at][pending]
        key = axis, at, pending, before, after
        if key not in self.found:
            self.found[key] = self._along(*key)
        return self.found[key]

    def _along(
        self, axis: int, at: tuple[int, ...], pending: int, before: int, after: int
    ) -> tuple[int, int]:
        """Return as `find`; where banks and writes to come are as at a point before, it goes on so.
        """
        last, further, inner = self.access.sizes[axis] - 1, self.next[axis], axis == self.inner
        between = self.points[axis][axis]
        cycles, pending = self.find(axis + 1, at, pending, before, axis)
        i, at, seen = 1, further[at], dict[tuple[tuple[int, ...], int], tuple[int, int]]()
        while i < last:
            if last > self.banks.words:
                since, then = seen.setdefault((at, pending), (i, cycles))
                times = (last - i) // (i - since) if since < i else 0
                if times:
                    cycles, i = cycles + times * (cycles - then), i + times * (i - since)
                    seen.clear()
                    continue
            if inner:
                more, pending = between[at][pending]
            else:
                more, pending = self.find(axis + 1, at, pending, axis, axis)
            at, cycles, i = further[at], cycles + more, i + 1
        more, pending = self.find(axis + 1, at, pending, axis, after)
        return cycles + more, pending


class _Steps(dict[tuple[int, ...], tuple[int, ...]]):
    """The words of operands behind a step along an axis, by those before it."""

    def __init__(self, steps: tuple[int, ...], every: int) -> None:
        super().__init__()
        self.steps, self.every = steps, every

    def __missing__(self, at: tuple[int, ...]) -> tuple[int, ...]:
        words = zip(at, self.steps, strict=True)
        self[at] = found = tuple((word + step) % self.every for word, step in words)
        return found


class _Points(dict[tuple[int, ...], "_Point"]):
    """The points to which a step along one axis led and from which one along another leads."""

    def __init__(self, access: _Access, banks: Banks, before: int, after: int) -> None:
        super().__init__()
        self.latency, count = banks.write_latency, access.reads
        self.reads = [k for k in range(count) if access.moves[k][before]]
        self.writes = [k for k in range(count, len(access.moves)) if access.moves[k][after]]

    def __missing__(self, at: tuple[int, ...]) -> _Point:
        reads = tuple(sorted(at[k] // OF_BANK + 1 for k in self.reads))
        write = sum(at[k] // OF_BANK + 1 for k in self.writes)
        self[at] = found = _make_point(reads, write, self.latency)
        return found


class _Point(dict[int, tuple[int, int]]):
    """A point: for the writes to come before it, its cycles and the writes to come after it."""

    def __init__(self, reads: tuple[int, ...], write: int) -> None:
        super().__init__()
        self.reads, self.write = reads, write

    def __missing__(self, pending: int) -> tuple[int, int]:
        cycles, left, to = 0, list(self.reads), pending
        while left or not cycles:
            busy, waiting = {to % (1 << BITS)}, list[int]()
            for bank in left:
                (waiting.append if bank in busy else busy.add)(bank)
            cycles, to, left = cycles + 1, to >> BITS, waiting
        self[pending] = cycles, to + self.write
        return self[pending]


@lru_cache(maxsize=4096)
def _make_point(reads: tuple[int, ...], write: int, latency: int) -> _Point:
    """Return a point that reads some banks, from 1 on, and writes one; 0: none."""
    return _Point(reads, write << BITS * (latency - 1))

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
    stale = {name for name in options if its[name] and len(options[name]) > 1}
    for _ in range(MOST_ROUNDS):
        for name in options:
            if name not in stale:
                continue
            stale.discard(name)
            best = _find_best(name, options[name], chosen, its[name])
            if best != chosen[name]:
                chosen[name] = best
                met = frozenset().union(*(cost.arrays for cost in its[name]))
                stale |= {n for n in met - {name} if len(options[n]) > 1}
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
