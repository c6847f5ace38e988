"""Coordinates made of iterators: blocks, cyclic, several in a row, or one place for all.

Paper    V Sec. 4.1.2; the smallest tiles, as those of a placement direction
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import isqrt

import islpy as isl

from lairmake.stages.layer.search.coordinate import Coordinate, Digit, compose
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import name_iterators

Interval = tuple[int, int]


def list_tiles(
    instances: isl.Set, extent: int, other: int, alone: bool
) -> Iterator[Coordinate]:
    """Yield coordinates of { S[i] } between 0 and extent - 1, where the other axis has `other`.

    Those that go by one iterator, on all places but those that a border may need, or on fewer;
    where the statement is alone, also by a part of one, cyclic, or by two.
    """
    sizes = find_shape(instances)
    for first, last in _intervals(extent):
        yield from _by_one(instances, sizes, (first, last))
        yield from _by_part(instances, sizes, (first, last), other) if alone else ()
    for first, last in _intervals(extent) if alone else ():
        yield from _by_two(instances, sizes, (first, last))


def _intervals(extent: int) -> Iterator[Interval]:
    """Yield the places without borders, on one side or both."""
    borders = ((0, 0), (1, 0), (0, 1), (1, 1))
    yield from ((a, extent - 1 - b) for a, b in borders if a + b < extent)


def _by_one(
    instances: isl.Set, sizes: Sequence[int], at: Interval
) -> Iterator[Coordinate]:
    """Yield what is on one place, or goes by blocks of one iterator."""
    first, last = at
    extent = last - first + 1
    for place in dict.fromkeys(at):
        yield make(instances, place, ())
    counts = [extent]
    while counts[-1] > 2:
        counts.append(-(-counts[-1] // 2))
    for k, size in enumerate(sizes):
        for count in counts if extent > 1 and size > 1 else ():
            yield make(instances, first, ((1, _block(k, size, count)),))


def _by_part(
    instances: isl.Set, sizes: Sequence[int], at: Interval, other: int
) -> Iterator[Coordinate]:
    """Yield what goes by blocks within larger ones, by these, and cyclic.

    The larger ones are as many as `other` places, or one or two less.
    """
    first, last = at
    extent = last - first + 1
    for k, size in enumerate(sizes):
        if not 1 < extent < size:
            continue
        for rows in range(max(2, other - 2), other + 1):
            inner = -(-size // (rows * extent))
            yield make(instances, first, ((1, _digit(k, size, inner, extent)),))
            yield make(instances, first, ((1, _digit(k, size, inner * rows, 0)),))
        yield make(instances, first, ((1, _digit(k, size, 1, extent)),))


def _by_two(instances: isl.Set, sizes: Sequence[int], at: Interval) -> Iterator[Coordinate]:
    """Yield i // a * n + j // b, for all iterators and for n places of j."""
    first, last = at
    extent = last - first + 1
    for inner in _divisors(extent):
        for (k, size), (other, size2) in product(enumerate(sizes), enumerate(sizes)):
            if k != other and size > 1 and size2 > 1:
                outer = _block(k, size, extent // inner)
                yield make(instances, first, ((inner, outer), (1, _block(other, size2, inner))))


def _divisors(number: int) -> list[int]:
    """Return what divides a number, but for 1 and itself, in ascending order."""
    low = [n for n in range(2, isqrt(number) + 1) if number % n == 0]
    return sorted({*low, *(number // n for n in low)})


def list_blocks(instances: isl.Set, count: int) -> Iterator[isl.Map]:
    """Yield { S[i] -> [c] } with `count` values of c at most: one, or blocks of an iterator."""
    sizes = find_shape(instances)
    yield make(instances, 0, ()).relation
    for k, size in enumerate(sizes):
        if size > 1:
            yield make(instances, 0, ((1, _block(k, size, count)),)).relation


def _block(k: int, size: int, count: int) -> Digit:
    return Digit(k=k, size=size, block=-(-size // count))


def _digit(k: int, size: int, block: int, modulus: int) -> Digit:
    return Digit(k=k, size=size, block=block, modulus=modulus)


def make(
    instances: isl.Set, first: int, terms: tuple[tuple[int, Digit], ...]
) -> Coordinate:
    """Return { S[i] -> [first + factor digit + ...] }."""
    names = name_iterators(instances)
    said = "".join(f" + {factor}*({_spell(digit, names)})" for factor, digit in terms)
    pattern = f"{{ {instances.get_tuple_name()}[{', '.join(names)}] -> [{first}{said}] }}"
    relation = isl.Map(pattern).intersect_domain(instances)
    return compose(relation, find_shape(instances), first, terms)


def _spell(digit: Digit, names: Sequence[str]) -> str:
    name = names[digit.k]
    quotient = f"{name}//{digit.block}" if digit.block > 1 else name
    return f"({quotient}) mod {digit.modulus}" if digit.modulus else quotient
