"""Banks of memory: where an instruction waits for one, and arrays that lie so that few do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Generic, TypeAlias, TypeVar

WORD = 2
"""Bytes of a word; successive words lie in successive banks."""
PAIR = 2
"""Words of a wavelet."""

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


def turn_banks(first: Sequence[int], every: int) -> tuple[int, ...]:
    """Return the words at which operands begin as many banks further on, the first one in the first
    bank: an instruction waits as long there.
    """
    back = first[0] // OF_BANK * OF_BANK if first else 0
    return tuple([(word - back) % every for word in first])


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
# banks matter: an axis that comes to a state in which it was before goes on as it did then. A part
# of an instruction, along some of its inner axes, depends on nothing of the outer ones but on which
# operands the steps to it and away from it move; so instructions share the cycles of such parts.

BITS = 7
"""Bits for each of the next cycles: 1 + the bank that is written then, or 0."""

_State: TypeAlias = tuple[tuple[int, ...], int]
"""The word, modulo the banks, at which each operand is, and the writes to come."""


@dataclass(frozen=True, slots=True)
class _Moved:
    """The operands that a step moves: of those that are read, and of those that are written."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of an instruction: over how many words each operand steps, and which of them move.
    """

    size: int
    steps: tuple[int, ...]
    moved: _Moved


def _list_moves(
    steps: Sequence[int], sizes: Sequence[int], axes: Sequence[int]
) -> tuple[bool, ...]:
    """Return if a step along an axis, and back to the start along those within, moves an operand.
    """
    found, back = list[bool](), 0
    for k in reversed(axes):
        found.insert(0, steps[k] != back)
        back += steps[k] * (sizes[k] - 1)
    return tuple(found)


@lru_cache(maxsize=1 << 10)
def _prepare(
    steps: Sequence[tuple[int, ...]], reads: int, sizes: tuple[int, ...], banks: Banks
) -> _AccessWaits:
    """Return an instruction of which so many operands are read, the others written."""
    axes = [k for k, size in enumerate(sizes) if size > 1]
    moves = [_list_moves(each, sizes, axes) for each in steps]
    every = range(len(steps))
    found = tuple(
        _Axis(
            size=sizes[axis],
            steps=tuple(each[axis] % banks.words for each in steps),
            moved=_Moved(
                tuple(k for k in every[:reads] if moves[k][number]),
                tuple(k for k in every[reads:] if moves[k][number]),
            ),
        )
        for number, axis in enumerate(axes)
    )
    return _make_waits(found, _Moved(tuple(every[:reads]), tuple(every[reads:])), banks)


@lru_cache(maxsize=1 << 10)
def _make_waits(axes: tuple[_Axis, ...], all_: _Moved, banks: Banks) -> _AccessWaits:
    """Return the waits of an instruction: where it begins and ends, all operands have moved."""
    cycles = _make_cycles(axes, all_, all_, banks)
    return _AccessWaits(cycles, banks.words, prod(axis.size for axis in axes))


class _AccessWaits:
    """The cycles in which an instruction waits, each found once, wherever its operands begin."""

    def __init__(
        self, cycles: Mapping[_State, tuple[int, int]], every: int, points: int
    ) -> None:
        self.cycles, self.every, self.points = cycles, every, points
        self.waits: dict[tuple[int, ...], int] = {}

    def count_waits(self, first: Sequence[int]) -> int:
        """Return the cycles besides one a point where operands begin at some words."""
        at = turn_banks(first, self.every)
        if at not in self.waits:
            self.waits[at] = self.cycles[at, 0][0] - self.points
        return self.waits[at]


@lru_cache(maxsize=1 << 12)
def _make_cycles(
    axes: tuple[_Axis, ...], before: _Moved, after: _Moved, banks: Banks
) -> Mapping[_State, tuple[int, int]]:
    """Return the cycles along some axes, and the writes to come behind them, by the state before.

    The step to their first point moves some operands, and so does the one away from their last.
    """
    return _Line(axes, before, after, banks) if axes else _Points(before, after, banks)


class _Line(dict[_State, tuple[int, int]]):
    """The cycles along an axis and those within it."""

    def __init__(
        self, axes: tuple[_Axis, ...], before: _Moved, after: _Moved, banks: Banks
    ) -> None:
        super().__init__()
        (axis, *_), inner = axes, axes[1:]
        self.last, self.every, self.steps = axis.size - 1, banks.words, axis.steps
        self.further = dict[tuple[int, ...], tuple[int, ...]]()
        self.begin = _make_cycles(inner, before, axis.moved, banks)
        self.between = _make_cycles(inner, axis.moved, axis.moved, banks)
        self.end = _make_cycles(inner, axis.moved, after, banks)

    def __missing__(self, state: _State) -> tuple[int, int]:
        at, _ = state
        cycles, pending = self.begin[state]
        i, at, seen = 1, self._step(at), dict[_State, tuple[int, int]]()
        while i < self.last:
            if self.last > self.every:
                since, then = seen.setdefault((at, pending), (i, cycles))
                times = (self.last - i) // (i - since) if since < i else 0
                if times:
                    cycles, i = cycles + times * (cycles - then), i + times * (i - since)
                    seen.clear()
                    continue
            more, pending = self.between[at, pending]
            at, cycles, i = self._step(at), cycles + more, i + 1
        more, pending = self.end[at, pending]
        self[state] = found = cycles + more, pending
        return found

    def _step(self, at: tuple[int, ...]) -> tuple[int, ...]:
        """Return the words of operands behind a step along the axis."""
        if (to := self.further.get(at)) is None:
            every = self.every
            to = tuple([(w + s) % every for w, s in zip(at, self.steps, strict=True)])
            self.further[at] = to
        return to


class _Points(dict[_State, tuple[int, int]]):
    """The cycles of points to which some steps led, and from which others lead."""

    def __init__(self, before: _Moved, after: _Moved, banks: Banks) -> None:
        super().__init__()
        self.reads, self.writes, self.latency = before.reads, after.writes, banks.write_latency

    def __missing__(self, state: _State) -> tuple[int, int]:
        at, pending = state
        reads = tuple(sorted([at[k] // OF_BANK + 1 for k in self.reads]))
        write = sum([at[k] // OF_BANK + 1 for k in self.writes])
        self[state] = found = _make_point(reads, write, self.latency)[pending]
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
    """The cycles of an instruction that it need not take, given the places of arrays.

    `of` may return fewer if these are at least as many as it is told. Those with most `weight` are
    asked first.
    """

    arrays: frozenset[str]
    of: Callable[[Mapping[str, Place], Fraction | None], Fraction]
    weight: int = 1


def choose_places(
    options: Mapping[str, Sequence[Place]], costs: Sequence[PlaceCost[Place]]
) -> dict[str, Place]:
    """Return one of its options for each array, the first ones if no others take less.

    Of those that take as much, an array has the one that it had, or else the first.
    """
    first = {name: places[0] for name, places in options.items()}
    costs = sorted(costs, key=lambda cost: cost.weight, reverse=True)
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
    best, fewest = chosen[name], _sum(costs, chosen)
    for each in options:
        if not fewest:
            break
        cycles = _sum(costs, {**chosen, name: each}, fewest)
        if cycles < fewest:
            best, fewest = each, cycles
    return best


def _sum(
    costs: Sequence[PlaceCost[Place]],
    places: Mapping[str, Place],
    most: Fraction | None = None,
) -> Fraction:
    """Return the cycles of some instructions; or at least `most` of them, where there are more."""
    cycles = Fraction(0)
    for cost in costs:
        more = cost.of(places, None if most is None else most - cycles)
        if not more:
            continue
        cycles += more
        if most is not None and cycles >= most:
            break
    return cycles


def list_starts(now: int, banks: int, step: int) -> Iterator[int]:
    """Yield banks in which an array may start: that of now, those at 32 bits, then others.

    All are multiples of `step` words, but perhaps that of now.
    """
    aligned = range(0, banks, max(2, step))
    yield from dict.fromkeys([now, *aligned, *range(0, banks, step)])
