"""Ports for tensors that layer.yaml lets arrive or leave anywhere.

What arrives does so on the lanes that need it, and what leaves on those that compute it, so that
nothing needs adapters, but for sums of which no lane has all parts: these leave behind a border
that is free, where adapters collect them. Tensors come from both sides, or go to both, if each half
of a lane has elements of its own. Streams take the sides that have least to carry so far. Indices
count from the first element of a port, the dimensions that results have in common with what
arrives first.

Paper    V Sec. 4.1.2; which sides and orders are good is not in the paper
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from stages.layer.search.question import AXES, Question
from stages.layer.search.state import are_free
from stages.layer.search.weight import count_elements
from stages.mapping.settled import Ports
from stages.poly.extents import bounding_box
from stages.poly.naming import letters
from stages.poly.text import spell_object

if typing.TYPE_CHECKING:
    from stages.lair.layer import Statement
    from stages.lair.tree import Access
    from stages.layer.search.state import State

BETWEEN = 16
"""From how many elements of a lane on a stream comes from both sides, or goes to both."""

OUT, IN, SET = isl.dim_type.out, isl.dim_type.in_, isl.dim_type.set


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The statements that read, or write, a tensor, with their accesses."""

    tensor: str
    arrives: bool
    by: tuple[tuple[Statement, Access], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The axis whose lanes a tensor takes, its sides, and how many elements each carries.

    Where no lane has all parts of a sum, adapters on the border of the side `collect` it.
    """

    axis: int
    sides: tuple[str, ...]
    load: int
    collect: bool = False


def open_ports(state: State, question: Question) -> dict[str, Ports]:
    """Return the ports of all tensors of which layer.yaml does not say them."""
    loads = dict.fromkeys("NSWE", 0)
    for traffic in question.traffic.values():
        for side in traffic.at:
            loads[side] += traffic.wavelets
    found: dict[str, Ports] = {}
    for use in list_uses(question):
        ways = list(_list_ways(use, state, question))
        assert ways, f"a border is free to collect {use.tensor}"
        way = min(ways, key=lambda each: max(loads[side] + each.load for side in each.sides))
        for side in way.sides:
            loads[side] += way.load
        text = spell_object(_order(_find_ports(use, way, state, question), use, question))
        found[use.tensor] = Ports(arrives=text) if use.arrives else Ports(leaves=text)
    return found


def list_uses(question: Question) -> Iterator[Use]:
    """Yield the uses of the tensors that may arrive or leave anywhere."""
    for tensor in question.arriving:
        by = [(s, a) for s in question.statements for a in s.reads if a.tensor == tensor]
        yield Use(tensor=tensor, arrives=True, by=tuple(by))
    for tensor in question.leaving:
        by = [(s, s.target) for s in question.statements if s.target.tensor == tensor]
        yield Use(tensor=tensor, arrives=False, by=tuple(by))


def _list_ways(use: Use, state: State, question: Question) -> Iterator[Way]:
    """Yield the ways of a tensor: what leaves needs one lane, and may be a sum along it."""
    places = [state.places[statement.name] for statement, _ in use.by]
    summed = [
        not use.arrives and any(use.tensor in p.axes[axis].along.sums for p in places)
        for axis in (0, 1)
    ]
    for axis, sides in enumerate(AXES):
        if summed[axis] and not all(summed):
            continue
        load = max(
            count_elements(access, statement, place.axes[axis].at.spans)
            for (statement, access), place in zip(use.by, places, strict=True)
        )
        if all(summed):
            free = [side for side in sides if _is_free(side, state, question)]
            yield from (Way(axis=axis, sides=(s,), load=load, collect=True) for s in free)
            continue
        yield from (Way(axis=axis, sides=(side,), load=load) for side in _favour(sides, use))
        across = _find_used(use, 1 - axis, state, question)
        if load >= BETWEEN and across.is_single_valued() and not across.range().is_singleton():
            yield Way(axis=axis, sides=sides, load=-(-load // 2))


def _is_free(side: str, state: State, question: Question) -> bool:
    """Say whether adapters have room on the border of a side."""
    assert state.used is not None, "a state has statements"
    extents = question.target.right + 1, question.target.bottom + 1
    return are_free([side], state.used, extents)


def _favour(sides: tuple[str, str], use: Use) -> tuple[str, ...]:
    """Return the sides of an axis: what leaves does so behind what arrives, if all is equal."""
    return sides if use.arrives else sides[::-1]


def _find_used(use: Use, axis: int, state: State, question: Question) -> isl.Map:
    """Return { T[e] -> [c] } of the lanes of an axis on which elements are used."""
    accesses = question.reads if use.arrives else question.writes
    found = [
        accesses[statement.name, use.tensor].reverse().apply_range(
            state.places[statement.name].axes[axis].at.relation
        )
        for statement, _ in use.by
    ]
    result = found[0]
    for each in found[1:]:
        result = result.union(each)
    return result.coalesce()


def _find_ports(use: Use, way: Way, state: State, question: Question) -> isl.Map:
    """Return { T[e] -> PE[x, y] } of the ports at the ends of its lanes."""
    lanes = _find_used(use, way.axis, state, question)
    low, high = AXES[way.axis]
    extent = question.target.bottom if way.axis == 0 else question.target.right
    ends = {low: -1, high: extent + 1}
    shown = {s: _at(way.axis, end) for s, end in ends.items()}
    if way.collect:
        lanes = lanes.lexmin()
    if len(way.sides) == 1:
        return lanes.apply_range(shown[way.sides[0]])
    across = _find_used(use, 1 - way.axis, state, question)
    ((first, last),) = bounding_box(across.range())
    nearer = across.intersect_range(isl.Set(f"{{ [c] : 2c <= {first + last} }}")).domain()
    near = lanes.intersect_domain(nearer).apply_range(shown[low])
    return near.union(lanes.subtract_domain(nearer).apply_range(shown[high]))


def _at(axis: int, end: int) -> isl.Map:
    """Return { [c] -> PE } of the port of a lane."""
    return isl.Map(f"{{ [c] -> PE[{f'c, {end}' if axis == 0 else f'{end}, c'}] }}")


def _order(ports: isl.Map, use: Use, question: Question) -> isl.Map:
    """Return { T[e] -> [PE -> index] }: each dimension from the first element of a port on."""
    rank = ports.dim(IN)
    if rank == 0:
        index = isl.Map.from_domain_and_range(ports.wrap(), isl.Set("{ index[0] }"))
        return index.curry()
    least = _find_least(ports.reverse(), rank)
    pairs = ports.domain_map().flat_range_product(ports.range_map().apply_range(least))
    element, offset = letters(rank), [f"{name}0" for name in letters(rank)]
    moved = [f"{element[k]} - {offset[k]}" for k in _outermost_first(use, question)]
    listed = ", ".join((*element, *offset))
    index = pairs.apply_range(isl.Map(f"{{ [{listed}] -> index[{', '.join(moved)}] }}"))
    return index.curry().coalesce()


def _find_least(at: isl.Map, rank: int) -> isl.Map:
    """Return { PE -> [o] } with the least value of each dimension of { PE -> T[e] }."""
    parts = [
        at.project_out(OUT, k + 1, rank - k - 1).project_out(OUT, 0, k).lexmin()
        for k in range(rank)
    ]
    result = parts[0]
    for each in parts[1:]:
        result = result.flat_range_product(each)
    return result


def _outermost_first(use: Use, question: Question) -> list[int]:
    """Return the dimensions of a tensor: those that results and what arrives share come first."""
    statement, access = use.by[0]
    others: Sequence[Access] = (statement.target,)
    if not use.arrives:
        others = [a for a in statement.reads if _comes(a.tensor, question)]
    shared = {name for other in others for row in other.rows for name, _ in row.coefficients}
    own = [{name for name, _ in row.coefficients} for row in access.rows]
    return sorted(range(len(own)), key=lambda k: (not own[k] & shared, k))


def _comes(tensor: str, question: Question) -> bool:
    traffic: Mapping[str, object] = question.traffic
    return tensor in question.arriving or tensor in traffic
