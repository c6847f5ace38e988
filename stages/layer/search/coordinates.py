"""Candidate coordinates of statements."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from math import isqrt, prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.search.problem import AXES, Question, SearchLink, SearchTraffic
from lairmake.stages.movement.halo import MOST_STEPS
from lairmake.stages.poly.box import bounding_box, find_shape
from lairmake.stages.poly.canonical import name_iterators
from lairmake.stages.poly.cardinality import count as count_points, count_most
from lairmake.stages.poly.functions import find_greatest, find_least, greatest_value

if TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.lair.tree import AccessSyntax

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Coordinates of instances ---------------------------------------------------------------------
#
# A coordinate is the column, or the row, at which an instance runs.
#
# Source   design, A layer folder; the tiles are those of V Sec. 4.1.2

@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateDigit:
    """The value (i_k // block) mod modulus of iterator k, of `size` values; modulus 0: none."""

    k: int
    size: int
    block: int
    modulus: int = 0

    def __post_init__(self) -> None:
        """A block has elements."""
        assert self.block > 0 and self.modulus >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateCoordinate:
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
    digits: tuple[CoordinateDigit, ...] | None = None


def describe(relation: isl.Map) -> CandidateCoordinate:
    """Return the coordinate of a function { S[i] -> [c] } that is not empty and bounded."""
    values = relation.range()
    ((low, high),) = bounding_box(values)
    count = 1 if low == high else count_points(values)
    found = [_span(relation, k, count) for k in range(relation.dim(IN))]
    spans, sizes = tuple(span for span, _ in found), find_shape(relation.domain())
    parted = _find_parted(spans, sizes)
    return CandidateCoordinate(
        relation=relation, spans=spans, runs=tuple(runs for _, runs in found), parted=parted,
        low=low, high=high, count=count, digits=_find_digits(relation, spans, sizes, parted, low),
    )


def _find_digits(
    relation: isl.Map, spans: Sequence[int], sizes: Sequence[int], parted: Set[int], low: int
) -> tuple[CoordinateDigit, ...] | None:
    """Return the digits of a function that goes by blocks of one iterator; None of another one."""
    if not parted:
        return ()
    if len(parted) > 1:
        return None
    (k,) = parted
    names = ", ".join(f"i{n}" for n in range(len(spans)))
    blocks = isl.Map(f"{{ [{names}] -> [{low} + i{k}//{spans[k]}] }}")
    blocks = blocks.set_tuple_id(IN, relation.get_tuple_id(IN)).intersect_domain(relation.domain())
    return (
        (CoordinateDigit(k=k, size=sizes[k], block=spans[k]),)
        if blocks.is_equal(relation)
        else None
    )


def compose(
    relation: isl.Map,
    sizes: Sequence[int],
    first: int,
    terms: Sequence[tuple[int, CoordinateDigit]],
) -> CandidateCoordinate:
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
    return CandidateCoordinate(
        relation=relation, spans=tuple(spans), runs=tuple(runs),
        parted=_find_parted(spans, sizes), low=first, high=last, count=count,
        digits=tuple(digit for _, digit in terms),
    )


def _find_parted(spans: Sequence[int], sizes: Sequence[int]) -> frozenset[int]:
    both = zip(spans, sizes, strict=True)
    return frozenset(k for k, (span, size) in enumerate(both) if span < size)


def meet(x: CandidateCoordinate, y: CandidateCoordinate) -> tuple[tuple[int, ...], tuple[int, ...]]:
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


def _meet_along(x: CandidateCoordinate, y: CandidateCoordinate, k: int) -> tuple[int, int]:
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


def meet_digits(a: CoordinateDigit, b: CoordinateDigit) -> tuple[int, int]:
    """Return for how many values, and in how many intervals, both digits are given.

    That is exact if one is above the other.
    """
    for upper, lower in ((a, b), (b, a)):
        within = lower.block * lower.modulus
        if within and upper.block % within == 0:
            runs = 1 if lower.block == 1 else _runs(upper) * (upper.block // within)
            return _points(upper) // lower.modulus, runs
    return min(_points(a), _points(b)), max(_runs(a), _runs(b))


def _points(digit: CoordinateDigit) -> int:
    """Return how many values of the iterator have one value of the digit, at most."""
    if not digit.modulus:
        return min(digit.block, digit.size)
    return digit.block * -(-digit.size // (digit.block * digit.modulus))


def _runs(digit: CoordinateDigit) -> int:
    """Return in how many intervals these lie; 1 where they are evenly apart."""
    if not digit.modulus or digit.block == 1:
        return 1
    return -(-digit.size // (digit.block * digit.modulus))

# --- Coordinates made of iterators ----------------------------------------------------------------
#
# They are blocks, cyclic, several in a row, or one place for all.
#
# Paper    V Sec. 4.1.2; the smallest tiles, as those of a placement direction

Interval = tuple[int, int]


def list_tiles(
    instances: isl.Set, extent: int, other: int, alone: bool
) -> Iterator[CandidateCoordinate]:
    """Yield coordinates of { S[i] } between 0 and extent - 1, where the other axis has `other`.

    They go by one iterator, on all places but those that a border may need, or on fewer; where the
    statement is alone, also by a part of one, cyclic, or by two.
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
) -> Iterator[CandidateCoordinate]:
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
) -> Iterator[CandidateCoordinate]:
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


def _by_two(
    instances: isl.Set, sizes: Sequence[int], at: Interval
) -> Iterator[CandidateCoordinate]:
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


def _block(k: int, size: int, count: int) -> CoordinateDigit:
    return CoordinateDigit(k=k, size=size, block=-(-size // count))


def _digit(k: int, size: int, block: int, modulus: int) -> CoordinateDigit:
    return CoordinateDigit(k=k, size=size, block=block, modulus=modulus)


def make(
    instances: isl.Set, first: int, terms: tuple[tuple[int, CoordinateDigit], ...]
) -> CandidateCoordinate:
    """Return { S[i] -> [first + factor digit + ...] }."""
    names = name_iterators(instances)
    said = "".join(f" + {factor}*({_spell(digit, names)})" for factor, digit in terms)
    pattern = f"{{ {instances.get_tuple_name()}[{', '.join(names)}] -> [{first}{said}] }}"
    relation = isl.Map(pattern).intersect_domain(instances)
    return compose(relation, find_shape(instances), first, terms)


def _spell(digit: CoordinateDigit, names: Sequence[str]) -> str:
    name = names[digit.k]
    quotient = f"{name}//{digit.block}" if digit.block > 1 else name
    return f"({quotient}) mod {digit.modulus}" if digit.modulus else quotient

# --- Coordinates that ports and statements imply --------------------------------------------------
#
# A statement that uses an element where its port is needs no adapters. One that uses what another
# statement with a place computed there needs no feedback. Iterators are told by the elements that
# they mean, whatever their names.
#
# Paper    V Sec. 4.2

def imply_from_ports(name: str, axis: int, question: Question) -> Iterator[isl.Map]:
    """Yield { S[i] -> [c] } of the ports of what a statement uses, and what they leave open."""
    instances = question.instances[name]
    for access, traffic in _list_used(name, question):
        lanes = access.apply_range(traffic.lanes[axis])
        if lanes.is_empty():
            continue
        if lanes.is_single_valued():
            yield from _extended(lanes, instances)
        elif instances.is_subset(lanes.domain()):
            yield from _completed(lanes, instances)
    for access, traffic in _list_used(name, question):
        yield from _halved(access, traffic, axis, question, instances)


def _list_used(name: str, question: Question) -> Iterator[tuple[isl.Map, SearchTraffic]]:
    """Yield { S[i] -> T[e] } of the tensors of a statement that come or go, with how they do."""
    for accesses in (question.reads, question.writes):
        for (statement, tensor), access in accesses.items():
            if statement == name and tensor in question.traffic:
                yield access, question.traffic[tensor]


def _extended(lanes: isl.Map, instances: isl.Set) -> Iterator[isl.Map]:
    """Yield a function on all instances, if it is one; or what its expression gives on others."""
    if instances.is_subset(lanes.domain()):
        yield lanes
        return
    pieces: list[isl.MultiAff] = []
    lanes.as_pw_multi_aff().foreach_piece(lambda _, function: pieces.append(function))
    for piece in pieces:
        yield isl.Map.from_multi_aff(piece).intersect_domain(instances)


def _completed(lanes: isl.Map, instances: isl.Set) -> Iterator[isl.Map]:
    """Yield functions within { S[i] -> [c] }, whose values at one S[i] are evenly apart.

    That is the least of them, and as many steps further as a block of an iterator says.
    """
    least = lanes.lexmin()
    apart = least.range_product(lanes).range().unwrap().deltas()
    most = find_greatest(apart, 0).to_python()
    if apart.is_singleton() or most <= 0:
        return
    step = find_least(apart.subtract(isl.Set("{ [0] }")), 0).to_python()
    yield least
    for block in list_blocks(instances, most // step + 1):
        moved = isl.Map(f"{{ [[a] -> [b]] -> [a + {step} * b] }}")
        both = least.range_product(block).apply_range(moved)
        if both.is_subset(lanes):
            yield both


def _halved(
    access: isl.Map, traffic: SearchTraffic, axis: int, question: Question, instances: isl.Set
) -> Iterator[isl.Map]:
    """Yield coordinates in the half of the target towards the side of an element's port."""
    low, high = AXES[1 - axis]
    if low not in traffic.at or high not in traffic.at:
        return
    extent = question.target.right + 1 if axis == 0 else question.target.bottom + 1
    half = extent // 2
    if not half:
        return
    side = _sides(traffic, low, high)
    here = access.apply_range(side)
    if not (here.is_single_valued() and instances.is_subset(here.domain())):
        return
    pairs = isl.Map(f"{{ [[a] -> [b]] -> [{half} * a + b] }}")
    for block in list_blocks(instances, half):
        yield here.range_product(block).apply_range(pairs)
    for lanes in _lanes_within(instances, axis, half, question):
        yield here.range_product(lanes).apply_range(pairs)


def _lanes_within(
    instances: isl.Set, axis: int, half: int, question: Question
) -> Iterator[isl.Map]:
    """Yield { S[i] -> [c] } of the least ports, if these are in the first half of the target."""
    for access, traffic in _list_used(instances.get_tuple_name(), question):
        lanes = access.apply_range(traffic.lanes[axis])
        if lanes.is_empty() or not instances.is_subset(lanes.domain()):
            continue
        least = lanes.lexmin()
        if least.range().is_subset(isl.Set(f"{{ [c] : 0 <= c < {half} }}")):
            yield least


def _sides(traffic: SearchTraffic, low: str, high: str) -> isl.Map:
    """Return { T[e] -> [0] } of what has ports on the low side, and 1 on the high one."""
    first = isl.Map.from_domain_and_range(traffic.at[low].domain(), isl.Set("{ [0] }"))
    second = isl.Map.from_domain_and_range(traffic.at[high].domain(), isl.Set("{ [1] }"))
    return first.union(second)


def imply_from_placed(
    name: str, placed: Mapping[str, CandidateCoordinate], question: Question
) -> Iterator[isl.Map]:
    """Yield { S[i] -> [c] } of the statements that use the same elements: one, or both ends."""
    instances = question.instances[name]
    own = _accesses(name, question)
    for other, coordinate in placed.items():
        theirs = _accesses(other, question)
        for tensor in sorted(own.keys() & theirs.keys()):
            at = theirs[tensor].reverse().apply_range(coordinate.relation)
            here = own[tensor].apply_range(at)
            if not instances.is_subset(here.domain()):
                continue
            yield from (here,) if here.is_single_valued() else (here.lexmin(), here.lexmax())


def _accesses(name: str, question: Question) -> dict[str, isl.Map]:
    """Return { S[i] -> T[e] } by tensor, of what a statement uses, at once or later."""
    found = {link.tensor: link.needs for link in question.links if link.reader == name}
    for accesses in (question.reads, question.writes):
        found |= {tensor: access for (s, tensor), access in accesses.items() if s == name}
    return found


def describe_all(relations: Iterator[isl.Map], extent: int) -> Iterator[CandidateCoordinate]:
    """Yield the coordinates that are within 0 and extent - 1."""
    within = isl.Set(f"{{ [c] : 0 <= c < {extent} }}")
    for relation in relations:
        if relation.range().is_subset(within):
            yield describe(relation.coalesce())

# --- Streams along the axis of a coordinate -------------------------------------------------------
#
# Elements that are used are counted in boxes. These are figures for estimates, to tell candidates
# apart.
#
# Source   design, Placement by search

SAME = isl.Set("{ [[c] -> [c]] }")
NEAR = isl.Set(f"{{ [c] : -{MOST_STEPS} <= c <= {MOST_STEPS} }}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Along:
    """The meaning of a statement's coordinate along its axis.

    `free` are the sides that adapters need, `spread` the tensors that these bring there or collect;
    `sums` are the tensors of which several places have a part. `passing` is the part of the
    innermost index of what arrives that routers let pass to a place; `senders` is the number of
    places with elements that leave at one port. `whole` is for tensors of which some elements never
    arrive, and which do not roll then: it is how many elements PEs keep, the box around all that
    comes to a place and is used there.
    """

    free: frozenset[str]
    spread: frozenset[str]
    sums: frozenset[str]
    passing: Mapping[str, float]
    senders: Mapping[str, int]
    whole: Mapping[str, int]


def weigh_along(
    name: str, axis: int, coordinate: CandidateCoordinate, question: Question
) -> Along:
    """Return which tensors do not flow straight along the lanes of an axis, and which are sums."""
    free: set[str] = set()
    spread: set[str] = set()
    for access, traffic in _list_traffic(name, question):
        sides = set(_astray(access, axis, coordinate, traffic))
        free |= sides
        if sides:
            spread.add(traffic.tensor)
    sums = {
        tensor
        for (statement, tensor), access in question.writes.items()
        if statement == name
        and not access.reverse().apply_range(coordinate.relation).is_single_valued()
    }
    passing, senders, whole = {}, {}, {}
    for access, traffic in _list_traffic(name, question):
        used = access.reverse().apply_range(coordinate.relation)
        if traffic.arrives and traffic.sparse:
            passing[traffic.tensor] = _passing(used, traffic)
        elif not traffic.arrives:
            senders[traffic.tensor] = _senders(used, axis, traffic)
        elif question.mapping.tensors[traffic.tensor].otherwise is not None:
            straight = traffic.tensor not in spread
            whole[traffic.tensor] = _whole(used, axis, traffic, straight)
    return Along(
        free=frozenset(free), spread=frozenset(spread), sums=frozenset(sums),
        passing=passing, senders=senders, whole=whole,
    )


def _whole(used: isl.Map, axis: int, traffic: SearchTraffic, straight: bool) -> int:
    """Return the size of the box of what comes along a lane { T[e] -> [c] } and is `used` there.

    0 where no port is at a lane. What does not come straight is what adapters send: what is used.
    """
    lanes = traffic.lanes[axis]
    if lanes.is_empty():
        return 0
    kept = used.union(lanes.intersect_range(used.range())) if straight else used
    at = kept.reverse()
    rank = at.dim(OUT)
    return prod(
        find_extent(at.project_out(OUT, k + 1, rank - k - 1).project_out(OUT, 0, k))
        for k in range(rank)
    )


def _passing(used: isl.Map, traffic: SearchTraffic) -> float:
    """Return the part of the innermost indices between those of { T[e] -> [c] } at one c."""
    (low, high), = bounding_box(traffic.inner.range())
    return find_extent(used.reverse().apply_range(traffic.inner)) / (high - low + 1)


def _senders(used: isl.Map, axis: int, traffic: SearchTraffic) -> int:
    """Return how far apart, at most, are the c of { T[e] -> [c] } of one port across the axis."""
    found = [1]
    for side in AXES[1 - axis]:
        if side in traffic.at:
            found.append(find_extent(traffic.at[side].reverse().apply_range(used)))
    return max(found)


def find_extent(relation: isl.Map) -> int:
    """Return the largest extent of the last { [b] } of { a -> [b] }."""
    if relation.is_empty():
        return 1
    spread = relation.dim_max(0).sub(relation.dim_min(0)).floor()
    return int(greatest_value(spread).to_python()) + 1


def _list_traffic(name: str, question: Question) -> Iterator[tuple[isl.Map, SearchTraffic]]:
    for accesses in (question.reads, question.writes):
        for (statement, tensor), access in accesses.items():
            if statement == name and tensor in question.traffic:
                yield access, question.traffic[tensor]


def _astray(
    access: isl.Map, axis: int, coordinate: CandidateCoordinate, traffic: SearchTraffic
) -> Iterator[str]:
    """Yield the sides of an axis at which ports are not at the lanes that use their elements."""
    used = access.reverse().apply_range(coordinate.relation)
    lanes = traffic.lanes[axis]
    if traffic.arrives:
        missing = used.intersect_domain(traffic.only[axis]).subtract(lanes).domain()
    else:
        pairs = used.range_product(lanes)
        missing = pairs.subtract_range(SAME).domain()
    if missing.is_empty():
        return
    sides = [side for side in AXES[axis] if side in traffic.at]
    whole = [side for side in sides if missing.is_subset(traffic.at[side].domain())]
    if traffic.arrives and whole:
        yield whole[0]
        return
    yield from (s for s in sides if not missing.is_disjoint(traffic.at[s].domain()))


def meets(
    link: SearchLink, writer: CandidateCoordinate, reader: CandidateCoordinate, question: Question
) -> bool:
    """Say whether what is needed is on the lanes on which all of it is computed."""
    return bool(_pair_lanes(link, writer, reader, question).range().is_subset(SAME))


def _pair_lanes(
    link: SearchLink, writer: CandidateCoordinate, reader: CandidateCoordinate, question: Question
) -> isl.Map:
    """Return { T[e] -> [[c] -> [d]] } of what is computed on one lane, and needed on another."""
    writes = question.writes[link.writer, link.tensor]
    computed = writes.reverse().apply_range(writer.relation)
    return computed.range_product(link.needs.reverse().apply_range(reader.relation))


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateHalo:
    """What lanes need of near ones in the next invocation, up to `reach` lanes away.

    `towards` are the most elements of a lane that those with greater numbers need, and those with
    less.
    """

    reach: int
    towards: tuple[int, int]


def find_halo(
    link: SearchLink, writer: CandidateCoordinate, reader: CandidateCoordinate, question: Question
) -> CandidateHalo | None:
    """Return the halo of a link along an axis; None where what is needed is far, or on several."""
    both = _pair_lanes(link, writer, reader, question)
    steps = both.range().unwrap().deltas()
    if not both.range_factor_domain().is_single_valued() or not steps.is_subset(NEAR):
        return None
    further, back = (
        both.intersect_range(isl.Set(f"{{ [[c] -> [d]] : {order} }}")).range_factor_domain()
        for order in ("c < d", "c > d")
    )
    reach = max(find_greatest(each, 0).to_python() for each in (steps, steps.neg()))
    towards = (0 if each.is_empty() else count_most(each.reverse()) for each in (further, back))
    return CandidateHalo(reach=int(reach), towards=(next(towards), next(towards)))


def gathers(needs: Iterable[tuple[SearchLink, CandidateCoordinate]]) -> bool:
    """Say whether each element that readers need is needed on one lane: it may be computed there.
    """
    lanes = [link.needs.reverse().apply_range(reader.relation) for link, reader in needs]
    every = functools.reduce(isl.Map.union, lanes)
    return bool(every.is_single_valued())


def is_sparse(tensor: str, question: Question) -> bool:
    """Say whether only what is not zero of a tensor arrives."""
    found = question.traffic.get(tensor)
    if found is None:
        return tensor in question.arriving and question.mapping.tensors[tensor].sparse
    return found.arrives and found.sparse


Coefficients = tuple[tuple[str, int], ...]


def count_elements(access: AccessSyntax, statement: Statement, spans: Sequence[int]) -> int:
    """Return the size of the boxes of elements that a box of instances uses.

    Accesses of the statement to one tensor, at constant distances from each other, use one box.
    """
    extent = dict(zip(statement.iterators, spans, strict=True))
    every = [a.rows for a in statement.reads if a.tensor == access.tensor] or [access.rows]
    together: dict[tuple[Coefficients, ...], list[tuple[int, ...]]] = {}
    for rows in every:
        distance = tuple(row.constant for row in rows)
        together.setdefault(tuple(row.coefficients for row in rows), []).append(distance)
    return sum(
        prod(
            1 + sum(abs(factor) * (extent[name] - 1) for name, factor in row) + max(at) - min(at)
            for row, at in zip(rows, zip(*distances, strict=True), strict=True)
        )
        for rows, distances in together.items()
    )
