"""Borders peeled off the target for adapters, so that all data flows along rows or columns.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, eqs. (5) (6) (10)
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.routes.arriving import MOST_PARTS
from lairmake.stages.layer.routes.collection import must_turn
from lairmake.stages.layer.routes.demand import (
    Demand,
    Direction,
    find_computed,
    find_delivered,
    find_needed,
    find_parts,
    find_span,
    is_in_the_way,
)
from lairmake.stages.layer.routes.feedback import Way, choose_way, order_arrival, order_departure
from lairmake.stages.mapping.ports import read_ports
from lairmake.stages.poly.canonical import find_set, list_maps, list_sets
from lairmake.stages.poly.sides import SIDES, Rectangle, on_side


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptation:
    """One layer's arrivals and departures, { tensor[e] -> [port -> index] }, and their adapters.

    `spread` is, by tensor and side, what adapters there must spread, { tensor[e] -> PE }, and
    `collected` the sides on which they collect what leaves. `ways` are those of what is fed back;
    `kept` are the outputs that stay in memory.
    """

    demand: Demand
    sources: Mapping[str, isl.Map]
    departures: Mapping[str, isl.Map]
    spread: Mapping[str, Mapping[str, isl.Map]]
    collected: Mapping[str, Sequence[str]]
    ways: Mapping[str, Way]
    kept: tuple[str, ...]


def choose_adaptation(demand: Demand) -> Adaptation:
    """Read the ports and decide which sides are peeled off. Raises UserError.

    A tensor that is fed back departs and arrives like others.
    """
    written, lair = _names(demand.lair.writes.range()), demand.lair
    read = [tensor for tensor in _names(lair.tensors) if tensor not in written]
    sources, departures = _ports("arrives", read, demand), _ports("leaves", written, demand)
    internal = _names(lair.internal)
    ways = {back: _way(back, demand) for back in _fed_back(demand)}
    needed = {back: find_needed(back, demand) for back in ways}
    by_border = {back: way for back, way in ways.items() if not way.straight}
    target = demand.target
    return Adaptation(
        demand=demand,
        sources=sources | {b: order_arrival(needed[b], way, target) for b, way in ways.items()},
        departures=departures
        | {b: order_departure(needed[b], way, target) for b, way in ways.items()},
        spread={t: _spread_from(t, source, demand) for t, source in sources.items()}
        | {b: {ways[b].comes: needed[b]} if b in by_border else {} for b in ways},
        collected={t: _collected_on(t, ports, demand) for t, ports in departures.items()}
        | {b: [ways[b].leaves] if b in by_border else [] for b in ways},
        ways=ways,
        kept=tuple(t for t in written if t not in departures and t not in internal),
    )


def find_peeled_sides(adaptation: Adaptation) -> set[str]:
    """Return the sides on which adapters need a border."""
    turning = (*adaptation.spread.values(), *adaptation.collected.values())
    return {side for sides in turning for side in sides}


def _names(elements: isl.UnionSet) -> list[str]:
    return [each.get_tuple_name() for each in list_sets(elements)]


def _fed_back(demand: Demand) -> Iterator[str]:
    """Yield the names with which tensors come back."""
    for each in list_maps(demand.feedback):
        yield each.get_tuple_name(isl.dim_type.in_)


def _ports(direction: Direction, tensors: Sequence[str], demand: Demand) -> dict[str, isl.Map]:
    found = {}
    for tensor in tensors:
        elements = typing.cast(isl.Set, find_set(demand.lair.tensors, tensor))
        ports = read_ports(demand.mapping, tensor, direction, elements, demand.target)
        if ports is not None:
            found[tensor] = ports
    return found


def _way(back: str, demand: Demand) -> Way:
    """Choose the way of a tensor that is fed back."""
    computed, needed = find_computed(back, demand), find_needed(back, demand)
    computed = computed.intersect_domain(needed.domain())
    return choose_way(computed, needed, demand.target, lambda side: not is_in_the_way(side, demand))


def _spread_from(tensor: str, source: isl.Map, demand: Demand) -> dict[str, isl.Map]:
    """Return, by side, what its border must spread: { tensor[e] -> PE }, none where all flows.

    Of the sides of an element that must be spread, one where no instance is in the way spreads
    it; a side that spreads brings nothing straight, so that what it brought is looked at again.
    """
    here = {side: on_side(source, side, demand.target) for side in SIDES}
    sides = [side for side in SIDES if not here[side].is_empty()]
    sides.sort(key=lambda side: is_in_the_way(side, demand))
    spread: dict[str, isl.Map] = {}
    needed = find_needed(tensor, demand)
    if needed.is_empty():
        return spread
    needed = needed.intersect_domain(source.domain())
    missing = _not_delivered(needed, source, sides, demand.target)
    while not missing.is_empty():
        side = _side_of(missing, here, [s for s in sides if s not in spread])
        spread[side] = missing
        straight = [s for s in sides if s not in spread]
        missing = _not_delivered(needed, source, straight, demand.target)
        for chosen in spread:
            spread[chosen] = missing.intersect_domain(here[chosen].domain())
            missing = missing.subtract(spread[chosen])
    return spread


def _side_of(missing: isl.Map, here: Mapping[str, isl.Map], sides: Sequence[str]) -> str:
    """Return the first side at which all missing elements arrive, else some of them."""
    wanted = missing.domain()
    for side in sides:
        if wanted.is_subset(here[side].domain()):
            return side
    return next(s for s in sides if not wanted.is_disjoint(here[s].domain()))


def _not_delivered(
    needed: isl.Map, source: isl.Map, sides: Sequence[str], target: Rectangle
) -> isl.Map:
    """Return what flows to no PE that needs it from the given sides: { tensor[e] -> PE }."""
    for side in sides:
        needed = needed.subtract(find_delivered(source, side, target))
    return needed


def _collected_on(tensor: str, ports: isl.Map, demand: Demand) -> list[str]:
    """Return the sides on which adapters must collect what leaves there."""
    computed, target = find_computed(tensor, demand), demand.target
    here = {side: on_side(ports, side, target) for side in SIDES}
    return [side for side in SIDES if must_turn(computed, here[side], side, target)]


def find_streams(tensor: str, side: str, adaptation: Adaptation) -> list[isl.Map]:
    """Return { t[e] -> port } of each stream in which adapters on a side hear a tensor.

    Raises UserError if these are too many.
    """
    demand, source = adaptation.demand, adaptation.sources[tensor]
    here = on_side(source, side, demand.target)
    parts = find_parts(here, adaptation.spread[tensor][side], side, demand)
    if parts is None:
        raise UserError(
            f"{tensor} arrives at PEs of the {SIDES[side].word} that feed the same "
            f"{'columns' if side in 'NS' else 'rows'}, and needs more than {MOST_PARTS} "
            "streams",
            find_span(tensor, "arrives", demand),
            "let it arrive at one PE, or at the PEs that need it",
        )
    return parts
