"""What a coordinate means for the streams along its axis, and how many elements are used, in boxes.

These are figures for estimates, to tell candidates apart.

Source   design, Placement by search
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.layer.search.coordinate import Coordinate
from lairmake.stages.layer.search.question import AXES, Link, Question, Traffic
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import greatest_value

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.lair.tree import Access

OUT = isl.dim_type.out
SAME = isl.Set("{ [[c] -> [c]] }")


@dataclass(frozen=True, slots=True, kw_only=True)
class Along:
    """What a coordinate of a statement means along its axis.

    `free` are the sides that adapters need, `spread` the tensors that these bring there or collect;
    `sums` are the tensors of which several places have a part. `passing` is the part of the
    innermost index of what arrives that routers let pass to a place, `senders` at how many places
    elements are that leave at one port. `whole` is how many elements of a tensor its PEs keep of
    which some never arrive: the box around all that comes to a place and is used there, as that
    does not roll.
    """

    free: frozenset[str]
    spread: frozenset[str]
    sums: frozenset[str]
    passing: Mapping[str, float]
    senders: Mapping[str, int]
    whole: Mapping[str, int]


def weigh_along(
    name: str, axis: int, coordinate: Coordinate, question: Question
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


def _whole(used: isl.Map, axis: int, traffic: Traffic, straight: bool) -> int:
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


def _passing(used: isl.Map, traffic: Traffic) -> float:
    """Return the part of the innermost indices between those of { T[e] -> [c] } at one c."""
    (low, high), = bounding_box(traffic.inner.range())
    return find_extent(used.reverse().apply_range(traffic.inner)) / (high - low + 1)


def _senders(used: isl.Map, axis: int, traffic: Traffic) -> int:
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


def _list_traffic(name: str, question: Question) -> Iterator[tuple[isl.Map, Traffic]]:
    for accesses in (question.reads, question.writes):
        for (statement, tensor), access in accesses.items():
            if statement == name and tensor in question.traffic:
                yield access, question.traffic[tensor]


def _astray(
    access: isl.Map, axis: int, coordinate: Coordinate, traffic: Traffic
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


def meets(link: Link, writer: Coordinate, reader: Coordinate, question: Question) -> bool:
    """Say whether what is needed is on the lanes on which all of it is computed."""
    writes = question.writes[link.writer, link.tensor]
    computed = writes.reverse().apply_range(writer.relation)
    needed = link.needs.reverse().apply_range(reader.relation)
    return bool(computed.range_product(needed).range().is_subset(SAME))


def gathers(needs: Iterable[tuple[Link, Coordinate]]) -> bool:
    """Say whether each element that readers need they need on one lane: it may be computed there.
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


def count_elements(access: Access, statement: Statement, spans: Sequence[int]) -> int:
    """Return the size of the box of elements that a box of instances uses."""
    extent = dict(zip(statement.iterators, spans, strict=True))
    sizes = (
        1 + sum(abs(factor) * (extent[name] - 1) for name, factor in row.coefficients)
        for row in access.rows
    )
    return prod(sizes)
