"""Coordinates: at which column, or at which row, the instances of a statement run.

Source   design, A layer folder; the tiles are those of V Sec. 4.1.2
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.box import bounding_box, find_shape
from lairmake.stages.poly.cardinality import count as count_points
from lairmake.stages.poly.functions import greatest_value

OUT, IN = isl.dim_type.out, isl.dim_type.in_


@dataclass(frozen=True, slots=True, kw_only=True)
class Digit:
    """The value (i_k // block) mod modulus of iterator k, of `size` values; modulus 0: none."""

    k: int
    size: int
    block: int
    modulus: int = 0

    def __post_init__(self) -> None:
        """A block has elements."""
        assert self.block > 0 and self.modulus >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinate:
    """One function { S[i] -> [c] }.

    `spans` says how many values each iterator has at one c, at most, and `runs` in how many
    intervals they lie, or 1 if they are evenly apart; `parted` are the iterators that have not all
    of their values there. `low` and `high` are the least and greatest c, `count` is how many there
    are. `digits` are those that c is made of, None if it was not made of digits.
    """

    relation: isl.Map
    spans: tuple[int, ...]
    runs: tuple[int, ...]
    parted: frozenset[int]
    low: int
    high: int
    count: int
    digits: tuple[Digit, ...] | None = None


def describe(relation: isl.Map) -> Coordinate:
    """Return the coordinate of a function { S[i] -> [c] } that is not empty and bounded."""
    values = relation.range()
    ((low, high),) = bounding_box(values)
    count = 1 if low == high else count_points(values)
    found = [_span(relation, k, count) for k in range(relation.dim(IN))]
    spans, sizes = tuple(span for span, _ in found), find_shape(relation.domain())
    parted = _find_parted(spans, sizes)
    return Coordinate(
        relation=relation, spans=spans, runs=tuple(runs for _, runs in found), parted=parted,
        low=low, high=high, count=count, digits=_find_digits(relation, spans, sizes, parted, low),
    )


def _find_digits(
    relation: isl.Map, spans: Sequence[int], sizes: Sequence[int], parted: Set[int], low: int
) -> tuple[Digit, ...] | None:
    """Return the digits of a function that goes by blocks of one iterator; None of another one."""
    if not parted:
        return ()
    if len(parted) > 1:
        return None
    (k,) = parted
    names = ", ".join(f"i{n}" for n in range(len(spans)))
    blocks = isl.Map(f"{{ [{names}] -> [{low} + i{k}//{spans[k]}] }}")
    blocks = blocks.set_tuple_id(IN, relation.get_tuple_id(IN)).intersect_domain(relation.domain())
    return (Digit(k=k, size=sizes[k], block=spans[k]),) if blocks.is_equal(relation) else None


def compose(
    relation: isl.Map, sizes: Sequence[int], first: int, terms: Sequence[tuple[int, Digit]]
) -> Coordinate:
    """Return the coordinate { S[i] -> [first + factor digit + ...] } of iterators of some sizes.

    No two digits are of one iterator, and each sum of digits is another c.
    """
    spans, runs = list(sizes), [1] * len(sizes)
    last, count = first, 1
    for factor, digit in terms:
        spans[digit.k], runs[digit.k] = _points(digit), _runs(digit)
        values = -(-digit.size // digit.block)
        values = min(values, digit.modulus) if digit.modulus else values
        last, count = last + factor * (values - 1), count * values
    return Coordinate(
        relation=relation, spans=tuple(spans), runs=tuple(runs),
        parted=_find_parted(spans, sizes), low=first, high=last, count=count,
        digits=tuple(digit for _, digit in terms),
    )


def _find_parted(spans: Sequence[int], sizes: Sequence[int]) -> frozenset[int]:
    both = zip(spans, sizes, strict=True)
    return frozenset(k for k, (span, size) in enumerate(both) if span < size)


def meet(x: Coordinate, y: Coordinate) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many values each iterator has on one PE, at most, and in how many intervals."""
    found = [min(a, b) for a, b in zip(x.spans, y.spans, strict=True)]
    runs = [max(a, b) for a, b in zip(x.runs, y.runs, strict=True)]
    for k in sorted(x.parted & y.parted):
        found[k], runs[k] = _meet_along(x, y, k)
    return tuple(found), tuple(runs)


def _span(relation: isl.Map, k: int, count: int) -> tuple[int, int]:
    """Return how many values of iterator k have one c, and in how many intervals they lie.

    The extent; where the values are no interval, their mean.
    """
    along = relation.project_out(IN, k + 1, relation.dim(IN) - k - 1).project_out(IN, 0, k)
    values = along.domain()
    if count == 1:
        return int(count_points(values)), 1
    at = along.reverse()
    low, high = at.lexmin_pw_multi_aff().get_at(0), at.lexmax_pw_multi_aff().get_at(0)
    extent = int(greatest_value(high.sub(low).floor()).to_python()) + 1
    pairs = count_points(at.wrap().flatten())
    mean = -(-pairs // count)
    starts = at.subtract(at.apply_range(isl.Map("{ [i] -> [i + 1] }")))
    runs = count_points(starts.wrap().flatten())
    if runs == count:
        return extent, 1
    return min(extent, mean), 1 if runs == pairs else -(-runs // count)


def _meet_along(x: Coordinate, y: Coordinate, k: int) -> tuple[int, int]:
    """Return how many values iterator k has where both coordinates are given, and the runs."""
    ours, theirs = ([d for d in c.digits or () if d.k == k] for c in (x, y))
    if len(ours) == 1 and len(theirs) == 1:
        return meet_digits(ours[0], theirs[0])
    both = x.relation.flat_range_product(y.relation)
    along = both.project_out(IN, k + 1, both.dim(IN) - k - 1).project_out(IN, 0, k)
    return _span_of_pairs(along.reverse())


def _span_of_pairs(at: isl.Map) -> tuple[int, int]:
    """Return the mean number of i of { [x, y] -> [i] }, and of their intervals."""
    places = count_points(at.domain())
    starts = at.subtract(at.apply_range(isl.Map("{ [i] -> [i + 1] }")))
    pairs, runs = (count_points(each.wrap().flatten()) for each in (at, starts))
    return -(-pairs // places), 1 if runs == pairs else -(-runs // places)


def meet_digits(a: Digit, b: Digit) -> tuple[int, int]:
    """Return for how many values, and in how many intervals, both digits are given.

    Exactly, if one is above the other.
    """
    for upper, lower in ((a, b), (b, a)):
        within = lower.block * lower.modulus
        if within and upper.block % within == 0:
            runs = 1 if lower.block == 1 else _runs(upper) * (upper.block // within)
            return _points(upper) // lower.modulus, runs
    return min(_points(a), _points(b)), max(_runs(a), _runs(b))


def _points(digit: Digit) -> int:
    """Return how many values of the iterator have one value of the digit, at most."""
    if not digit.modulus:
        return min(digit.block, digit.size)
    return digit.block * -(-digit.size // (digit.block * digit.modulus))


def _runs(digit: Digit) -> int:
    """Return in how many intervals these lie; 1 where they are evenly apart."""
    if not digit.modulus or digit.block == 1:
        return 1
    return -(-digit.size // (digit.block * digit.modulus))
