"""The ports at the ends of the lanes that a tensor takes, and its order there.

Indices count from the first element of a port; first come the dimensions that results have in
common with what arrives, or, of what arrives, the others. What arrives though nothing uses it does
so beside what is used.

Paper    V Sec. 4.1.2; which orders are good is not in the paper
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.search.question import AXES, Question
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import letters

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.lair.tree import Access
    from lairmake.stages.layer.search.state import State

First = typing.Literal["results", "sums"]
"""Which dimensions of what arrives come first: those of results, or those that are summed over."""

OUT, IN = isl.dim_type.out, isl.dim_type.in_


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The statements that read, or write, a tensor { T[e] }, with their accesses.

    What arrives may be of use to none.
    """

    tensor: str
    arrives: bool
    elements: isl.Set
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


def find_order(use: Use, way: Way, state: State, question: Question, first: First) -> isl.Map:
    """Return { T[e] -> [PE -> index] } of a tensor that takes a way."""
    return _order_ports(
        _find_ports(use, way, state, question), _outermost_first(use, question, first)
    )


def find_used(use: Use, axis: int, state: State, question: Question) -> isl.Map:
    """Return { T[e] -> [c] } of the lanes of an axis on which elements are used."""
    accesses = question.reads if use.arrives else question.writes
    result = isl.Map.from_domain_and_range(use.elements, isl.Set("{ [c] : false }"))
    for statement, _ in use.by:
        at = state.places[statement.name].axes[axis].at.relation
        result = result.union(accesses[statement.name, use.tensor].reverse().apply_range(at))
    return result.coalesce()


def _complete(lanes: isl.Map, elements: isl.Set) -> isl.Map:
    """Return { T[e] -> [c] } of all elements: those that no lane uses are on some of these as well.

    Those beyond what is used are where the nearest one is that is used, which leaves boxes boxes;
    others on the lane that the function of the others gives, or else on the first.
    """
    pieces: list[isl.MultiAff] = []
    lanes.lexmin_pw_multi_aff().foreach_piece(lambda _, function: pieces.append(function))
    known = isl.Set("{ [0] }") if lanes.is_empty() else lanes.range()
    lanes = lanes.union(_extend(lanes, elements.subtract(lanes.domain())))
    missing = elements.subtract(lanes.domain())
    for piece in pieces:
        more = isl.Map.from_multi_aff(piece).intersect_domain(missing).intersect_range(known)
        lanes, missing = lanes.union(more), missing.subtract(more.domain())
    return lanes.union(isl.Map.from_domain_and_range(missing, known.lexmin())).coalesce()


def _extend(lanes: isl.Map, missing: isl.Set) -> isl.Map:
    """Return { T[e] -> [c] } of those of the missing elements that are beyond what lanes use."""
    used = lanes.domain()
    if missing.is_empty() or used.is_empty():
        return lanes.intersect_domain(missing)
    sizes = bounding_box(used)
    names = letters(len(sizes))
    nearest = " and ".join(
        f"{name}1 = max({low}, min({high}, {name}))"
        for name, (low, high) in zip(names, sizes, strict=True)
    )
    tensor = used.get_tuple_name()
    moved = ", ".join(f"{name}1" for name in names)
    clamp = isl.Map(f"{{ {tensor}[{', '.join(names)}] -> {tensor}[{moved}] : {nearest} }}")
    return clamp.intersect_domain(missing).apply_range(lanes)


def _find_ports(use: Use, way: Way, state: State, question: Question) -> isl.Map:
    """Return { T[e] -> PE[x, y] } of the ports at the ends of its lanes."""
    lanes = _complete(find_used(use, way.axis, state, question), use.elements)
    low, high = AXES[way.axis]
    extent = question.target.bottom if way.axis == 0 else question.target.right
    ends = {low: -1, high: extent + 1}
    shown = {s: _at(way.axis, end) for s, end in ends.items()}
    if way.collect:
        lanes = lanes.lexmin()
    if len(way.sides) == 1:
        return lanes.apply_range(shown[way.sides[0]])
    across = find_used(use, 1 - way.axis, state, question)
    ((first, last),) = bounding_box(across.range())
    nearer = across.intersect_range(isl.Set(f"{{ [c] : 2c <= {first + last} }}")).domain()
    near = lanes.intersect_domain(nearer).apply_range(shown[low])
    return near.union(lanes.subtract_domain(nearer).apply_range(shown[high]))


def _at(axis: int, end: int) -> isl.Map:
    """Return { [c] -> PE } of the port of a lane."""
    return isl.Map(f"{{ [c] -> PE[{f'c, {end}' if axis == 0 else f'{end}, c'}] }}")


def _order_ports(ports: isl.Map, dimensions: Sequence[int]) -> isl.Map:
    """Return { T[e] -> [PE -> index] }: each dimension from the first element of a port on."""
    rank = ports.dim(IN)
    if rank == 0:
        index = isl.Map.from_domain_and_range(ports.wrap(), isl.Set("{ index[0] }"))
        return index.curry()
    least = _find_least(ports.reverse(), rank)
    pairs = ports.domain_map().flat_range_product(ports.range_map().apply_range(least))
    element, offset = letters(rank), [f"{name}0" for name in letters(rank)]
    moved = [f"{element[k]} - {offset[k]}" for k in dimensions]
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


def _outermost_first(use: Use, question: Question, first: First) -> list[int]:
    """Return the dimensions of a tensor, those that come first before the others.

    Results come in the order of what arrives either way.
    """
    if not use.by:
        return list(range(use.elements.dim(isl.dim_type.set)))
    statement, access = use.by[0]
    others: Sequence[Access] = (statement.target,)
    if not use.arrives:
        others = [a for a in statement.reads if _comes(a.tensor, question)]
    shared = {name for other in others for row in other.rows for name, _ in row.coefficients}
    own = [{name for name, _ in row.coefficients} for row in access.rows]
    later = use.arrives and first == "sums"
    return sorted(range(len(own)), key=lambda k: (bool(own[k] & shared) == later, k))


def _comes(tensor: str, question: Question) -> bool:
    traffic: Mapping[str, object] = question.traffic
    return tensor in question.arriving or tensor in traffic
