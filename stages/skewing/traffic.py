"""Traffic: the PEs that elements come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.cardinality import cardinality, count_most
from lairmake.stages.poly.functions import greatest

OUT = isl.dim_type.out

# --- Sources of the elements that PEs access ------------------------------------------------------
#
# Paper    M Sec. IV
#
# All PEs take a step at a time. The state of an element is who accessed it in the last step in
# which anybody did, and which step that was; in one step these may be several PEs. An access is
#
#     local      if the same PE accessed the element in this step already, or in the previous one,
#     neighbour  else, if a neighbour of the PE accessed it in the previous step,
#     remote     else: nobody ever did, or nobody since, or none of these did.
#
# In one step a PE accesses an element the first time once: all other accesses are local. With
# T = { [PE -> step] -> element } those first accesses,
#
#     T_local = T * { [p -> s] -> e : [p -> previous(s)] -> e in T },
#     T_neighbour = T * { [p -> s] -> e : [q -> previous(s)] -> e in T, q next to p } - T_local.

@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTraffic:
    """Numbers of accesses, by where the element comes from."""

    remote: int
    neighbour: int
    local: int

    @property
    def accesses(self) -> int:
        """The number of all accesses."""
        return self.remote + self.neighbour + self.local


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficAccesses:
    """What a layer accesses: where, when and which elements.

    `relations` are { statement[i] -> tensor[e] }, one for each reference; `placement` is
    { statement[i] -> PE[x, y] } and `times` { statement[i] -> [t] }, functions on all instances.
    The step of an instance is its time, or what `steps` { [PE[x, y] -> [t]] -> [PE[x, y] -> [s]] }
    makes of it for its statement: a clock of all PEs, in lexicographic order.
    """

    relations: tuple[isl.Map, ...]
    placement: isl.UnionMap
    times: isl.UnionMap
    steps: Mapping[str, isl.Map] = field(default_factory=dict)

    def of(self, tensor: str) -> tuple[isl.Map, ...]:
        """Return { PE[x, y] -> [statement[i] -> tensor[e]] } for each reference to a tensor."""
        found = []
        for relation in self.relations:
            if relation.get_tuple_name(isl.dim_type.out) == tensor:
                each = isl.UnionMap.from_map(relation.domain_map()).apply_range(self.placement)
                found.append(isl.Map.from_union_map(each.reverse()))
        return tuple(found)

    def first(self) -> dict[str, isl.Map]:
        """Return { [PE[x, y] -> [s]] -> tensor[e] }, each once however often it is, by tensor."""
        when = self.placement.range_product(self.times).reverse()
        found = isl.UnionMap("{ }")
        for relation in self.relations:
            used = when.apply_range(isl.UnionMap.from_map(relation))
            steps = self.steps.get(relation.get_tuple_name(isl.dim_type.in_))
            if steps is not None:
                used = used.apply_domain(isl.UnionMap.from_map(steps))
            found = found.union(used)
        return {m.get_tuple_name(isl.dim_type.out): m.coalesce() for m in list_maps(found)}

    def turns(self) -> isl.UnionSet:
        """Return { [PE[x, y] -> [t]] } of all times at which a PE runs an instance."""
        return self.placement.range_product(self.times).range()

    def every_step(self) -> isl.Set:
        """Return { [s] } of the steps in which some PE runs an instance."""
        found = isl.UnionSet("{ }")
        for times in list_maps(self.placement.range_product(self.times)):
            steps = self.steps.get(times.get_tuple_name(isl.dim_type.in_))
            points = times.range().coalesce()
            found = found.union(points if steps is None else points.apply(steps))
        return isl.Set.from_union_set(found.unwrap().range()).coalesce()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficSources:
    """The accesses of one tensor, and those of them that need no remote memory.

    `every` is { PE[x, y] -> [statement[i] -> tensor[e]] } of each reference; the others are
    { [PE[x, y] -> [s]] -> tensor[e] }: all first accesses of a step, and of these the elements that
    the PE itself, or else a neighbour, accessed in the previous step.
    """

    every: tuple[isl.Map, ...]
    first: isl.Map
    own: isl.Map
    of_neighbour: isl.Map

    def not_remote(self) -> int:
        """Return the number of first accesses that need no remote memory."""
        return _number(self.own, None) + _number(self.of_neighbour, None)

    def traffic(self, pes: isl.Set | None = None) -> LinkTraffic:
        """Return the numbers of accesses of some PEs, or of all."""
        every, first, own, passed = (
            sum(_number(relation, pes) for relation in relations)
            for relations in (self.every, (self.first,), (self.own,), (self.of_neighbour,))
        )
        return LinkTraffic(remote=first - own - passed, neighbour=passed, local=every - first + own)


def _number(relation: isl.Map, pes: isl.Set | None) -> int:
    """Return the number of pairs whose domain is, or starts with, one of the PEs."""
    if pes is None:
        return cardinality(relation.wrap())
    nested = relation.domain_is_wrapping()
    within = relation.curry() if nested else relation
    return cardinality(within.intersect_domain(pes).wrap())


def sources(accesses: TrafficAccesses, neighbours: isl.Map) -> dict[str, TrafficSources]:
    """Return the accesses by tensor; `neighbours` is { PE[x, y] -> PE[x', y'] }, symmetric."""
    before = previous(accesses.every_step())
    return {
        name: _of_tensor(accesses.of(name), first, before, neighbours)
        for name, first in accesses.first().items()
    }


def _of_tensor(
    every: tuple[isl.Map, ...], first: isl.Map, before: isl.Map, neighbours: isl.Map
) -> TrafficSources:
    itself = isl.Map.identity(neighbours.space)
    own = first.intersect(_a_step_later(first, before, itself))
    passed = first.intersect(_a_step_later(first, before, neighbours)).subtract(own)
    return TrafficSources(every=every, first=first, own=own, of_neighbour=passed)


def _a_step_later(first: isl.Map, before: isl.Map, near: isl.Map) -> isl.Map:
    """Return { [p -> s] -> e : [q -> previous(s)] -> e in first, q near p }."""
    return first.apply_domain(near.reverse().product(before.reverse()))


def previous(steps: isl.Set) -> isl.Map:
    """Return { [t] -> [t'] : t' is the last of the steps before t }; the first step has none."""
    before = isl.Map.lex_gt(steps.space).intersect_domain(steps).intersect_range(steps)
    return greatest(before).coalesce()


def total(parts: Iterable[LinkTraffic]) -> LinkTraffic:
    """Return the sum of traffics."""
    listed = tuple(parts)
    return LinkTraffic(
        remote=sum(part.remote for part in listed),
        neighbour=sum(part.neighbour for part in listed),
        local=sum(part.local for part in listed),
    )

# --- Memory for one iteration of a loop -----------------------------------------------------------
#
# Paper    M Sec. III.H

def footprint(
    times: isl.Map, place: isl.Map, accesses: Iterable[isl.Map], sizes: Mapping[str, int]
) -> int:
    """Return the bytes of the elements that a PE uses at one time, the most of any.

    `times` { S[i] -> [t...] } has the dimensions down to the loop; `sizes` gives the bytes of an
    element by tensor.
    """
    step = times.flat_range_product(place).compute_divs().reverse()
    return sum(
        sizes[access.get_tuple_name(OUT)] * count_most(step.apply_range(access))
        for access in accesses
    )
