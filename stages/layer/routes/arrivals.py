"""Arrivals of tensors: broadcast, forwarding, replicas."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.layer.routes.lines import ArrivingLine, find_arriving, find_ports, name_parts
from lairmake.stages.layer.routes.placement import (
    PlacedLayer,
    Routed,
    Streams,
    colour_routes,
    find_adapters,
    find_depth,
    find_feedback_depth,
    find_otherwise,
    is_sparse,
    join,
)
from lairmake.stages.layer.texts.isl_files import RoutesObject, named
from lairmake.stages.layer.texts.task_graph import Arrival, Forwarding, Outgoing, Side
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_shortage
from lairmake.stages.movement.border import (
    BorderLine,
    beside,
    corner_line,
    corner_routes,
    feedback_line,
    find_feeding,
    inward_line,
    port_line,
)
from lairmake.stages.movement.flow import (
    Routes,
    column_routes,
    feedback_routes,
    parity,
    spread_routes,
)
from lairmake.stages.movement.gather import border_replicas, replica_routes
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

# --- Choice between passing on and replicas -------------------------------------------------------
#
# It goes by what pays, where routers do not copy:
#
#     passed on:  steps to the last PE + the time of one for all that comes
#     replicas:   for each PE, that of what comes, or longer of what it takes
#
# A step is the lag of the skewed schedule: two ramps and a hop, and for sparse elements the start
# of a task, as each element that comes takes. Passing on saves what the port would send again,
# which waits for the PE that takes it. The same holds along a border, from which adapters send
# inwards.
#
# Paper    M Sec. I, III.F
# Source   docs/multicast.md, where this is measured

NAMES = {
    (True, True): "forwarded", (False, False): "replicas",
    (True, False): "replicas_then_forwarded", (False, True): "forwarded_then_replicas",
}
"""Ways of a stream: is it passed on inwards, and is it passed on along the border?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDemand:
    """The largest demand of one line: `pes` want some of the `elements` that come, `taken` at most.
    """

    pes: int
    elements: int
    taken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalWay:
    """The way of a stream: is it passed on `inwards`, and `along` the border, if it is spread?

    `cycles` has, by NAMES, the expected cycles of each way; nothing if there is one way.
    """

    inwards: bool
    along: bool
    cycles: Mapping[str, int]


def given_way(side: str, sparse: bool, skew: bool | str) -> ArrivalWay:
    """Return the way that layer.yaml wants for what enters on a side.

    Adapters do not pass on what is sparse, if PEs get replicas: they need one for each themselves.
    """
    inwards, along = (skew in (True, "y" if s in "NS" else "x") for s in (side, SIDES[side].left))
    return ArrivalWay(inwards=inwards, along=along and (inwards or not sparse), cycles={})


def choose_way(
    inwards: LineDemand, along: LineDemand | None, sparse: bool, profile: Profile
) -> ArrivalWay:
    """Return the way of the fewest cycles, of those the one that passes on more.

    `along` is None for a stream that is not spread.
    """
    ways = [(True, True), (True, False), (False, False), (False, True)]
    if along is None:
        ways = [(True, True), (False, False)]
    elif sparse:
        ways.pop()
    cycles = {way: _cycles(way, inwards, along, sparse, profile) for way in ways}
    chosen = min(ways, key=lambda way: cycles[way])
    return ArrivalWay(
        inwards=chosen[0],
        along=chosen[1],
        cycles={NAMES[way]: number for way, number in cycles.items()},
    )


def _cycles(
    way: tuple[bool, bool],
    inwards: LineDemand,
    along: LineDemand | None,
    sparse: bool,
    profile: Profile,
) -> int:
    """Return the cycles until the last PE has what it takes.

    Of a sparse stream that comes inwards in replicas, adapters get as many as they send; a dense
    one they keep, and start an instruction for each.
    """
    wait, busy = _of_line(inwards, way[0], sparse, profile)
    if along is None:
        return wait + busy
    first, least = _of_line(along, way[1], sparse, profile)
    if not way[0]:
        again = along.pes * (least + 1) if sparse else _start(profile)
        first += (inwards.pes - 1) * again
    return wait + first + max(busy, least)


def _of_line(line: LineDemand, passed: bool, sparse: bool, profile: Profile) -> tuple[int, int]:
    """Return the cycles until the last PE gets something, and those that it takes then.

    A control wavelet ends each replica.
    """
    each = profile.dispatch + 2 * profile.scalar if sparse else 1
    if not passed:
        own = max(line.elements, line.taken * each)
        return (line.pes - 1) * (own + 1), own
    task = profile.dispatch + profile.scalar if sparse else 0
    send = profile.scalar if sparse else 0
    return (line.pes - 1) * (2 * profile.ramp + profile.hop + task), line.elements * (each + send)


def _start(profile: Profile) -> int:
    return profile.dispatch + profile.vector_start_up + 3 * profile.scalar

# --- Streams that PEs forward to each other -------------------------------------------------------
#
# The routers of the machine do not copy.
#
#     forwarding: {x: {colours: [x_even, x_odd], enters: x_even, parity: ...}}
#
# Every stream of arrivals, and of what is fed back, has a line of PEs: stages/movement/border.py.
# No PE waits for ever. Of the PEs in the earliest invocation, the last one of a line takes what
# comes: nothing blocks a stream, nor a chunk, before its end. So does each PE before it, since it
# may forward. An element that a PE may not take yet keeps none of its other streams, nor its tasks,
# from going on. A stream that is fed back is taken once the PE has done its part of it, for which
# the PE needs only what came before.
#
# With `skew: false` the replicas for one PE come after those for another: a PE takes all of its
# own, of each stream, whatever has come of the others.
#
# Source   M

SWAP = "{ [lane, depth] -> [depth, lane] }"


def name_positions(name: str) -> list[str]:
    """Return the names in routes.isl of the positions that the routes of a stream may have."""
    return [name, *(f"{name}_{end}" for end in ("then", "then2", "then3", "turned"))]


def find_line_routes(name: str, line: BorderLine) -> dict[str, Routes]:
    """Return the routes of the colours of a line that have any."""
    routes = zip(name_line_colours(name), (line.even, line.odd, line.entry), strict=True)
    return {colour: routes for colour, routes in routes if not routes.is_empty()}


def name_line_colours(name: str) -> list[str]:
    """Return the names of the colours that a line may have."""
    return [f"{name}_even", f"{name}_odd", f"{name}_in"]


def describe_line_objects(name: str, line: BorderLine) -> dict[str, isl.Set]:
    """Return what routes.isl says of the PEs of a line."""
    return {
        named(name, "line"): line.members,
        named(name, "forwarding"): line.forwarding,
        named(name, "between"): line.between,
        named(name, "nearest"): line.nearest,
    }


def describe_line(name: str, line: BorderLine, turned: isl.Map, first: int | None) -> Forwarding:
    """Return what tasks.yaml says of a line inwards from depth `first`, else along a border."""
    even, odd, enters = name_line_colours(name)
    if line.enters is not None:
        enters = (even, odd)[line.enters]
    along = turned.apply_range(isl.Map(SWAP)) if first is None else turned
    return Forwarding(colours=(even, odd), enters=enters, parity=parity(along))

# --- Streams on their way to takers ---------------------------------------------------------------
#
# Routers copy a stream, PEs forward it, or each PE has a replica of its own.
#
# Paper    V Sec. 4.2

def route_inwards(
    name: str, takers: isl.Set, side: str, placed: PlacedLayer, *, spread: bool, forwarded: bool
) -> Routed:
    """Route a stream along its lanes from a side to { [lane, depth] }, or from its border."""
    turned, first = turn(side, placed.grid), find_depth(side, placed)
    copied = column_routes(takers, side, turned, spread=spread)
    if not (placed.profile.multicast or forwarded):
        return replicate(name, replica_routes(takers, side, turned, spread=spread), copied)

    def line() -> BorderLine:
        return inward_line(takers, side, turned, first, spread=spread)

    return copy_or_forward(name, copied, line, turned, first, placed)


def feed_back(name: str, takers: isl.Set, side: str, first: int, placed: PlacedLayer) -> Routed:
    """Route a stream inwards along its lanes from the PEs at depth `first`, which send it."""
    turned = turn(side, placed.grid)
    copied = feedback_routes(takers, side, turned, first)

    def line() -> BorderLine:
        return feedback_line(takers, side, turned, first)

    return copy_or_forward(name, copied, line, turned, first, placed)


def copy_or_forward(
    name: str,
    copied: Routes,
    line: Callable[[], BorderLine],
    turned: isl.Map,
    first: int | None,
    placed: PlacedLayer,
) -> Routed:
    """Route a stream by routers that copy, else along a line of PEs that forward it.

    The line leads inwards from depth `first`, or along a border.
    """
    if placed.profile.multicast:
        return colour_routes(name, copied)
    return _forwarded(name, line(), copied, turned, first)


def _forwarded(
    name: str, line: BorderLine, copied: Routes, turned: isl.Map, first: int | None
) -> Routed:
    """Let PEs forward a stream; `copied` is what its routes would be if routers copied."""
    found = find_line_routes(name, line)
    routes = join(colour_routes(colour, each) for colour, each in found.items())
    objects = {**routes.objects, named(name, "copied"): copied, **describe_line_objects(name, line)}
    return replace(
        routes,
        objects=objects,
        forwarding={name: describe_line(name, line, turned, first)},
        ways={} if line.forwarding.is_empty() else {name: line.way()},
        copied={name: copied},
    )


def replicate(name: str, positions: tuple[Routes, ...], copied: Routes) -> Routed:
    """Route a stream so that each PE of a lane, or of a border, gets a replica of its own."""
    routes = colour_routes(name, functools.reduce(isl.UnionMap.union, positions))
    each = dict(zip(name_positions(name), positions, strict=False))
    objects = {**routes.objects, **each, named(name, "copied"): copied}
    return replace(routes, objects=objects, copied={name: copied})

# --- Arrivals of a tensor -------------------------------------------------------------------------
#
# Paper    V Sec. 4.2

@dataclass(frozen=True, slots=True, kw_only=True)
class Entering:
    """A stream that is about to be routed: its orders, and { tensor[e] -> PE } that take it."""

    name: str
    tensor: str
    side: str
    part: str | None
    taken: isl.Map
    flow: ArrivingLine


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


def _entering(tensor: str, placed: PlacedLayer) -> Iterator[Entering]:
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


def _is_spread(entering: Entering, placed: PlacedLayer) -> bool:
    """Say whether adapters spread what PEs take; what goes around a corner always needs them."""
    if entering.tensor in placed.fed_back:
        collected = placed.adapted.collected
        return not from_domain(collected, entering.tensor).is_empty()
    return not entering.taken.is_subset(entering.flow.straight)


def _choose_way(entering: Entering, spread: bool, placed: PlacedLayer) -> ArrivalWay:
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


def _routed(entering: Entering, spread: bool, way: ArrivalWay, streams: Streams) -> Routed:
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


def _along(entering: Entering, way: ArrivalWay, streams: Streams) -> Routed:
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


def _filters(entering: Entering, spread: bool, before: Routed, placed: PlacedLayer) -> Routed:
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


def _has_filter(colour: str, before: Routed, placed: PlacedLayer) -> bool:
    """Say whether a PE has a filter free; adapters and computing PEs are never the same."""
    of_adapters = colour.endswith("_source")
    used = sum(other.endswith("_source") == of_adapters for other in before.filters)
    if used < placed.profile.filters:
        return True
    note_shortage("filters")
    return False
