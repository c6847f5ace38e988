"""The arrivals of a tensor: the streams in which it enters on each side, and their routes.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.layer.routes.arriving import Arriving, find_arriving, find_ports, name_parts
from lairmake.stages.layer.routes.carrying import (
    copy_or_forward,
    feed_back,
    replicate,
    route_inwards,
)
from lairmake.stages.layer.routes.passing import LineDemand, Way, choose_way, given_way
from lairmake.stages.layer.routes.placed import (
    Placed,
    Routed,
    Streams,
    find_adapters,
    find_feedback_depth,
    find_otherwise,
    is_sparse,
    join,
)
from lairmake.stages.layer.texts.isl_files import RoutesObject, named
from lairmake.stages.layer.texts.task_graph import Arrival, Outgoing, Side
from lairmake.stages.machine.scarcity import note_shortage
from lairmake.stages.movement.border import (
    beside,
    corner_line,
    corner_routes,
    find_feeding,
    port_line,
)
from lairmake.stages.movement.flow import spread_routes
from lairmake.stages.movement.gather import border_replicas
from lairmake.stages.poly.canonical import from_domain, map_from
from lairmake.stages.poly.cardinality import count_most
from lairmake.stages.poly.sides import (
    SIDES,
    at_places,
    find_index_filter,
    find_outer_box,
    on_side,
    taken_by,
    turn,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entering:
    """A stream that is about to be routed: its orders, and { tensor[e] -> PE } that take it."""

    name: str
    tensor: str
    side: str
    part: str | None
    taken: isl.Map
    flow: Arriving


def add_arrivals(tensor: str, streams: Streams) -> Streams:
    """Return the streams with those in which a tensor enters."""
    for entering in _entering(tensor, streams.placed):
        arrival, routed = _arrival(entering, streams)
        streams = replace(
            streams,
            arrivals={**streams.arrivals, entering.name: arrival},
            routed=join((streams.routed, routed)),
        )
    return streams


def _entering(tensor: str, placed: Placed) -> Iterator[Entering]:
    """Yield the streams of a tensor that PEs take, one a side, or one for each of its parts."""
    untaken = from_domain(placed.needed, tensor)
    relation = map_from(placed.adapted.arrivals, tensor)
    if relation is None or untaken.is_empty():
        return
    missing = isl.Map.from_union_map(untaken)
    sides = [s for s in SIDES if not on_side(relation, s, placed.core).is_empty()]
    for side in sides:
        base = tensor if len(sides) == 1 else f"{tensor}_{SIDES[side].word}"
        parts = name_parts(placed.adapted, tensor, side)
        for number, part in enumerate(parts or [None]):
            flow = find_arriving(placed.adapted, tensor, side, part)
            taken = missing.intersect(flow.everywhere.range_factor_domain())
            missing = missing.subtract(taken)
            if not taken.is_empty():
                name = f"{base}_stream{number}" if part else base
                yield Entering(
                    name=name, tensor=tensor, side=side, part=part, taken=taken, flow=flow
                )


def _arrival(entering: Entering, streams: Streams) -> tuple[Arrival, Routed]:
    """Return what tasks.yaml says of a stream, and its routes."""
    placed, name, tensor = streams.placed, entering.name, entering.tensor
    source = map_from(placed.adapted.sources, tensor)
    assert source is not None, "the tensor arrives"
    spread, sparse = _is_spread(entering, placed), is_sparse(tensor, placed)
    way = _choose_way(entering, spread, placed)
    routed = _routed(entering, spread, way, streams)
    ends = (f"{name}_source", name)
    arrival = Arrival(
        tensor=tensor,
        side=typing.cast(Side, entering.side),
        sparse=sparse,
        colour=name,
        source=ends[0] if spread else name,
        spread=spread,
        outer=tuple((low, high) for low, high in find_outer_box(source)),
        replicas=tuple(each for each in ends if routed.said.has(each, "then")),
        ways=way.cycles,
        feedback=placed.fed_back.get(tensor),
        part=entering.part,
        otherwise=find_otherwise(tensor, placed),
    )
    return arrival, routed


def _is_spread(entering: Entering, placed: Placed) -> bool:
    """Say whether adapters spread what PEs take; what goes around a corner always needs them."""
    if entering.tensor in placed.fed_back:
        collected = placed.adapted.collected
        return not from_domain(collected, entering.tensor).is_empty()
    return not entering.taken.is_subset(entering.flow.straight)


def _choose_way(entering: Entering, spread: bool, placed: Placed) -> Way:
    """Return how a stream comes to its PEs: what is fed back is passed on wherever it can be."""
    sparse, skew = is_sparse(entering.tensor, placed), placed.mapping.skew
    if placed.profile.multicast or entering.tensor in placed.fed_back:
        return given_way(entering.side, sparse, True)
    if skew is not None:
        return given_way(entering.side, sparse, skew)
    turned = turn(entering.side, placed.grid)
    inwards = _line_inwards(entering, turned)
    along = _line_along(entering, turned) if spread else None
    return choose_way(inwards, along, sparse, placed.profile)


def _line_inwards(entering: Entering, turned: isl.Map) -> LineDemand:
    """Return the line of PEs of a lane that take a stream."""
    taken = entering.taken
    on_lanes = isl.Map("{ [lane, depth] -> [lane] }").intersect_domain(taken.range().apply(turned))
    passing = at_places(entering.flow.everywhere, taken.range()).range_factor_domain()
    return LineDemand(
        pes=count_most(on_lanes.reverse()),
        elements=count_most(passing.reverse()),
        taken=count_most(taken.reverse()),
    )


def _line_along(entering: Entering, turned: isl.Map) -> LineDemand:
    """Return the line of adapters that get a stream from one port."""
    flow, taken = entering.flow, entering.taken
    feeds = find_feeding(flow.chosen, taken, turned)
    sent = flow.chosen.intersect_domain(taken.domain())
    lanes = taken.apply_range(turned).apply_range(isl.Map("{ [lane, depth] -> [lane] }"))
    return LineDemand(
        pes=count_most(feeds),
        elements=count_most(sent.reverse()),
        taken=count_most(lanes.reverse()),
    )


def _routed(entering: Entering, spread: bool, way: Way, streams: Streams) -> Routed:
    """Return the routes of a stream, along a border and inwards, and what else is said of it."""
    placed, name, side = streams.placed, entering.name, entering.side
    turned, takers = turn(side, placed.grid), entering.taken.range()
    lanes, parts = takers.apply(turned), []
    if spread:
        parts.append(_along(entering, way, streams))
        parts.append(Routed(objects={named(name, "adapters"): find_adapters(takers, turned)}))
    if entering.tensor in placed.fed_back and not spread:
        first = find_feedback_depth(entering.tensor, side, placed)
        parts.append(feed_back(name, lanes, side, first, placed))
    else:
        parts.append(
            route_inwards(name, lanes, side, placed, spread=spread, forwarded=way.inwards)
        )
    parts.append(Routed(objects={named(name, "taken"): entering.taken}))
    if is_sparse(entering.tensor, placed):
        parts.append(_filters(entering, spread, join((streams.routed, *parts)), placed))
    ports = find_ports(entering.flow, entering.taken, turned, spread)
    return join((*parts, Routed(objects={named(name, "ports"): ports})))


def _along(entering: Entering, way: Way, streams: Streams) -> Routed:
    """Route a stream along the border: from its ports, or if it is fed back, from where it is."""
    placed, side, name = streams.placed, entering.side, f"{entering.name}_source"
    if entering.tensor in placed.fed_back:
        return _route_feedback(entering, streams)
    turned = turn(side, placed.grid)
    feeds = find_feeding(entering.flow.chosen, entering.taken, turned)
    copied = spread_routes(feeds, side, turned)
    if placed.profile.multicast or way.along:
        return copy_or_forward(
            name, copied, lambda: port_line(feeds, side, turned), turned, None, placed
        )
    routed = replicate(name, border_replicas(feeds, side, turned), copied)
    reach: Mapping[str, RoutesObject] = {named(name, "reach"): beside(feeds, turned)}
    return join((routed, Routed(objects=reach)))


def _route_feedback(entering: Entering, streams: Streams) -> Routed:
    """Route what is fed back along the border.

    One PE sends all of it: the last of its departure, or of what collects that.
    """
    placed, name = streams.placed, f"{entering.name}_source"
    leaving: Mapping[str, Outgoing] = {**streams.departures, **streams.collections}
    away, found = next((n, s) for n, s in leaving.items() if s.out == name)
    last = streams.routed.said.pes(away, "last")
    way = (last, entering.taken.range(), found.side, entering.side, placed.grid)
    turned = turn(entering.side, placed.grid)
    return copy_or_forward(
        name, corner_routes(*way), lambda: corner_line(*way), turned, None, placed
    )


def _filters(entering: Entering, spread: bool, before: Routed, placed: Placed) -> Routed:
    """Let routers drop what their PEs do not want, where an interval of the index tells it."""
    flow, taken = entering.flow, entering.taken
    passing = at_places(flow.everywhere, taken.range())
    intervals = {entering.name: find_index_filter(passing, taken_by(flow.everywhere, taken))}
    if spread:
        wanted = taken_by(flow.heard, flow.sent.range_factor_domain())
        intervals[f"{entering.name}_source"] = find_index_filter(flow.heard, wanted)
    chosen = {
        colour: interval
        for colour, interval in intervals.items()
        if interval is not None and _has_filter(colour, before, placed)
    }
    copied = {colour: "_copied" if colour in before.forwarding else "" for colour in chosen}
    objects = {f"{colour}{copied[colour]}_filter": each for colour, each in chosen.items()}
    return Routed(objects=objects, filters=tuple(chosen))


def _has_filter(colour: str, before: Routed, placed: Placed) -> bool:
    """Say whether a PE has a filter free; adapters and computing PEs are never the same."""
    of_adapters = colour.endswith("_source")
    used = sum(other.endswith("_source") == of_adapters for other in before.filters)
    if used < placed.profile.filters:
        return True
    note_shortage("filters")
    return False
