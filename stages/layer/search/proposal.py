"""Proposals for what layer.yaml leaves open: a placement, and where tensors arrive and leave.

Paper    V Sec. 4.1.2, the placement direction (j, i)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

import islpy as isl

from stages.diagnose import UserError
from stages.lair.layer import Layer
from stages.layer.routes.adaptation import choose_adaptation
from stages.layer.routes.demand import find_demand
from stages.layer.routes.room import check_room
from stages.layer.routes.tiling import Direction, fit, name_iterators
from stages.machine.profile import Profile
from stages.machine.types import BYTES
from stages.mapping.layer_yaml import Mapping as LayerMapping
from stages.mapping.settled import Ports
from stages.mapping.texts import parse_target
from stages.poly.cardinality import cardinality
from stages.poly.pieces import list_maps, list_sets
from stages.poly.side import Rectangle
from stages.poly.text import spell_object
from stages.skewing.elements import Lair, find_computed_elements, find_needed_elements

DIRECTION = re.compile(r"\s*\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A placement, as layer.yaml has it, of all statements, and ports for tensors left open.

    `cycles`, `memory` in bytes on the busiest PE, and `area` in PEs are predicted; `refused` says
    why it falls out, None where nothing is known against it.
    """

    placement: str
    tensors: Mapping[str, Ports] = field(default_factory=dict)
    cycles: int
    memory: int
    area: int
    refused: str | None = None


def propose(
    mapping: LayerMapping, layer: Layer, lair: Lair, profile: Profile
) -> list[Proposal]:
    """Return proposals for what layer.yaml leaves open: the best first, refused ones last.

    Raises UserErrors where layer.yaml asks for what there is not.
    """
    width, height = parse_target(mapping.target)
    target = Rectangle(left=0, top=0, right=width - 1, bottom=height - 1)
    found = [_propose(d, mapping, layer, lair, target) for d in _directions(mapping, lair)]
    unique = {each.placement or each.refused: each for each in found}.values()
    return sorted(unique, key=lambda each: (each.refused is not None, each.cycles, each.memory))


def _directions(mapping: LayerMapping, lair: Lair) -> Iterator[Direction]:
    """Yield the pair of directions that layer.yaml has, or all pairs of common iterators."""
    given = mapping.placement and DIRECTION.fullmatch(mapping.placement.text)
    if given:
        yield given.group(1), given.group(2)
        return
    names = sorted(set.intersection(*map(set, map(name_iterators, list_sets(lair.instances)))))
    for east in (*names, None):
        for south in (*names, None):
            if east is None or east != south:
                yield east, south


def _propose(
    direction: Direction, mapping: LayerMapping, layer: Layer, lair: Lair, target: Rectangle
) -> Proposal:
    """Return the tiled placement of a pair of directions."""
    try:
        placement = fit(direction, mapping, lair, target)
    except UserError as error:
        return Proposal(placement="", cycles=0, memory=0, area=0, refused=error.message)
    try:
        check_room(choose_adaptation(find_demand(mapping, lair, placement, target)))
        refused = None
    except UserError as error:
        refused = error.message
    return Proposal(
        placement=spell_object(placement), refused=refused,
        cycles=max(_most_on_a_pe(each.reverse()) for each in list_maps(placement)),
        memory=_bytes_needed(layer, lair, placement),
        area=cardinality(isl.Set.from_union_set(placement.range())),
    )


def _bytes_needed(layer: Layer, lair: Lair, placement: isl.UnionMap) -> int:
    """Return the bytes of the boxes around the elements of tensors that a PE uses."""
    used = find_needed_elements(lair, placement).union(find_computed_elements(lair, placement))
    return sum(
        _most_on_a_pe(each.reverse())
        * BYTES[layer.tensors[each.get_tuple_name(isl.dim_type.in_)].type]
        for each in list_maps(used)
    )


def _most_on_a_pe(found: isl.Map) -> int:
    """Return the size of the largest box around what a PE has, of { PE[x, y] -> T[e] }."""
    spans = (found.dim_max(k).sub(found.dim_min(k)) for k in range(found.dim(isl.dim_type.out)))
    return prod(span.max_val().to_python() + 1 for span in spans)
