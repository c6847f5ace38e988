"""Which PEs of a target need and compute elements, and which of its borders are free.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Collection
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import Span
from lairmake.stages.layer.routes.arriving import split
from lairmake.stages.layer.routes.feedback import add_feedback
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.sides import SIDES, Rectangle, behind_ports, turn
from lairmake.stages.skewing.elements import Lair, find_computed_elements, find_needed_elements

Direction = typing.Literal["arrives", "leaves"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A placed layer, and { tensor[e] -> PE[x, y] } that need and compute elements.

    `lair` are the objects of lair.isl, in which what is fed back has a name of its own; `feedback`
    is { T_feedback[e] -> T[e] }.
    """

    mapping: LayerMapping
    lair: Lair
    placement: isl.UnionMap
    target: Rectangle
    needed: isl.UnionMap
    computed: isl.UnionMap
    feedback: isl.UnionMap


def find_demand(
    mapping: LayerMapping, given: Lair, placement: isl.UnionMap, target: Rectangle
) -> Demand:
    """Return what the PEs of a target need and compute."""
    lair = add_feedback(given, placement)
    computed = find_computed_elements(lair, placement)
    feedback = lair.feedback
    return Demand(
        mapping=mapping,
        lair=lair,
        placement=placement,
        target=target,
        needed=find_needed_elements(lair, placement),
        computed=computed.union(feedback.apply_range(computed)),
        feedback=feedback,
    )


def find_needed(tensor: str, demand: Demand) -> isl.Map:
    """Return { tensor[e] -> PE[x, y] } of the PEs that read an element."""
    used = from_domain(demand.needed, tensor)
    if used.is_empty():
        return isl.Map(f"{{ {tensor}[] -> PE[x, y] : false }}")
    return isl.Map.from_union_map(used)


def find_computed(tensor: str, demand: Demand) -> isl.Map:
    """Return { tensor[e] -> PE[x, y] } of the PEs that compute an element, all or in part."""
    return isl.Map.from_union_map(from_domain(demand.computed, tensor))


def find_border(side: str, demand: Demand) -> isl.Set:
    """Return { PE[x, y] } of the row or column of the target on a side."""
    return isl.Set("{ [lane, 0] }").apply(turn(side, demand.target).reverse())


def is_in_the_way(side: str, demand: Demand) -> bool:
    """Say whether instances run where the adapters of a side must stand."""
    border = isl.UnionSet.from_set(find_border(side, demand))
    return not demand.placement.range().is_disjoint(border)


def find_parts(
    source: isl.Map, missing: isl.Map, side: str, demand: Demand
) -> list[isl.Map] | None:
    """Return { t[e] -> port } of each stream in which adapters hear { t[e] -> PE }.

    None if these are too many.
    """
    return split(source.range_factor_domain(), missing, turn(side, demand.target))


def find_span(tensor: str, key: Direction, demand: Demand) -> Span:
    """Return the place where layer.yaml says where a tensor arrives, or leaves."""
    given = demand.mapping.tensors[tensor]
    text = given.arrives if key == "arrives" else given.leaves
    assert text is not None, f"layer.yaml says where {tensor} {key}"
    return text.place


def describe_border(side: str) -> str:
    """Return `north row`, as messages call the border of a side."""
    return f"{SIDES[side].word} {'row' if side in 'NS' else 'column'}"


def find_delivered(order: isl.Map, side: str, target: Rectangle) -> isl.Map:
    """Return { tensor[e] -> PE } of all PEs on the row or column of a port of a side."""
    return behind_ports(order, side, target).range_factor_domain()


def peel(target: Rectangle, sides: Collection[str]) -> Rectangle:
    """Return the rectangle without its border on the given sides."""
    return Rectangle(
        left=target.left + ("W" in sides),
        top=target.top + ("N" in sides),
        right=target.right - ("E" in sides),
        bottom=target.bottom - ("S" in sides),
    )
