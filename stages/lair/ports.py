"""Where tensors arrive and leave, as layer.yaml says it, checked.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.1.2
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.diagnose import Span, UserError
from stages.lair.mapping import Mapping
from stages.lair.mapping_text import parse_map
from stages.poly.pieces import example_of, maps_of
from stages.poly.side import SIDES, Rectangle, ports

LARGEST_INDEX = 65535
"""A sparse wavelet holds an index of 16 bits."""

Direction = typing.Literal["arrives", "leaves"]


def read_ports(
    mapping: Mapping, tensor: str, direction: Direction, elements: isl.Set, target: Rectangle
) -> isl.Map | None:
    """Return { tensor[element] -> [PE[x, y] -> index[i]] }; None if layer.yaml says nothing.

    Raises UserError if the relation is of another form, if a PE is not adjacent to the target,
    or if two elements have one index at one PE.
    """
    text = getattr(mapping.tensors.get(tensor), direction, None)
    if text is None:
        return None
    span = mapping.span("tensors", tensor, direction)
    relation = _typed(parse_map(text), tensor, direction, elements, span)
    relation = relation.intersect_domain(elements)
    _check_total(relation, elements, tensor, direction, span)
    _check_adjacent(relation, tensor, direction, target, span)
    _check_distinct(relation, direction, span)
    if mapping.tensors[tensor].sparse:
        _check_index(relation, tensor, span)
    return relation


def _typed(
    union: isl.UnionMap, tensor: str, direction: str, elements: isl.Set, span: Span
) -> isl.Map:
    """Return the only map of the union, or say what its form should be."""
    rank = elements.dim(isl.dim_type.set)
    maps = maps_of(union)
    if len(maps) == 1 and _is_port_map(maps[0], tensor, rank):
        return maps[0]
    names = ", ".join(f"i{k}" for k in range(rank))
    form = f"{{ {tensor}[{names}] -> [PE[x, y] -> index[...]] }}"
    raise UserError(f"{tensor} {direction} as {union}", span, f"the form is {form}")


def _is_port_map(m: isl.Map, tensor: str, rank: int) -> bool:
    if m.get_tuple_name(isl.dim_type.in_) != tensor or m.dim(isl.dim_type.in_) != rank:
        return False
    if not m.range_is_wrapping() or m.dim(isl.dim_type.param):
        return False
    pair = m.range().unwrap()
    return (
        pair.get_tuple_name(isl.dim_type.in_) == "PE"
        and pair.dim(isl.dim_type.in_) == 2
        and pair.get_tuple_name(isl.dim_type.out) == "index"
        and pair.dim(isl.dim_type.out) > 0
    )


def _check_total(
    relation: isl.Map, elements: isl.Set, tensor: str, direction: str, span: Span
) -> None:
    missing = elements.subtract(relation.domain())
    if not missing.is_empty():
        hint = f"say where every element of {tensor} {direction}"
        raise UserError(f"{example_of(missing)} never {direction}", span, hint)


def _check_adjacent(
    relation: isl.Map, tensor: str, direction: str, target: Rectangle, span: Span
) -> None:
    places = relation.range_factor_domain().range()
    for side in SIDES:
        places = places.subtract(ports(side, target))
    if not places.is_empty():
        word = "arrives from" if direction == "arrives" else "leaves to"
        hint = (
            f"the target is PE[{target.left}:{target.right}, {target.top}:{target.bottom}]; "
            "external PEs stand one step outside it"
        )
        raise UserError(
            f"{tensor} {word} {example_of(places)}, which is not adjacent to the target", span, hint
        )


def _check_distinct(relation: isl.Map, direction: str, span: Span) -> None:
    if relation.is_injective():
        return
    twice = relation.reverse()
    place = twice.lexmin().subtract(twice.lexmax()).domain()
    point = isl.Set.from_point(place.sample_point())
    first = example_of(twice.lexmin().intersect_domain(point).range())
    second = example_of(twice.lexmax().intersect_domain(point).range())
    pe, index = point.unwrap().domain(), point.unwrap().range()
    verb = "arrive" if direction == "arrives" else "leave"
    raise UserError(
        f"{first} and {second} both {verb} at {example_of(pe)} with {example_of(index)}",
        span,
        "at one PE every element has its own index",
    )


def _check_index(relation: isl.Map, tensor: str, span: Span) -> None:
    index = relation.range_factor_range().range()
    inner = index.dim(isl.dim_type.set) - 1
    low, high = (f(inner).to_python() for f in (index.dim_min_val, index.dim_max_val))
    if low < 0 or high > LARGEST_INDEX:
        raise UserError(
            f"{tensor} is sparse and has indices {low} to {high}",
            span,
            f"a sparse wavelet holds an index from 0 to {LARGEST_INDEX}",
        )
