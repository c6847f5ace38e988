"""Coordinates that ports imply, and those that statements imply which have a place.

Who uses an element where its port is needs no adapters; who uses what another one computed there
needs no feedback. Iterators are told by the elements that they mean, whatever their names.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from lairmake.stages.layer.search.coordinate import Coordinate, describe
from lairmake.stages.layer.search.question import AXES, Question, Traffic
from lairmake.stages.layer.search.tiles import list_blocks
from lairmake.stages.poly.functions import find_greatest, find_least


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


def _list_used(name: str, question: Question) -> Iterator[tuple[isl.Map, Traffic]]:
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
    access: isl.Map, traffic: Traffic, axis: int, question: Question, instances: isl.Set
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


def _sides(traffic: Traffic, low: str, high: str) -> isl.Map:
    """Return { T[e] -> [0] } of what has ports on the low side, and 1 on the high one."""
    first = isl.Map.from_domain_and_range(traffic.at[low].domain(), isl.Set("{ [0] }"))
    second = isl.Map.from_domain_and_range(traffic.at[high].domain(), isl.Set("{ [1] }"))
    return first.union(second)


def imply_from_placed(
    name: str, placed: Mapping[str, Coordinate], question: Question
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


def describe_all(relations: Iterator[isl.Map], extent: int) -> Iterator[Coordinate]:
    """Yield the coordinates that are within 0 and extent - 1."""
    within = isl.Set(f"{{ [c] : 0 <= c < {extent} }}")
    for relation in relations:
        if relation.range().is_subset(within):
            yield describe(relation.coalesce())
