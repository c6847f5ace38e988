"""Floorplan of a network on one fabric: parts, bridges and wires."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.fabric.coordinates import Place, move_order, shift
from lairmake.stages.fabric.grid import OPPOSITE, STEPS
from lairmake.stages.fabric.layout import FabricLayout, PortEntry, PortExit
from lairmake.stages.mapping.network_yaml import Network
from lairmake.stages.network.whole.joints import (
    Joint,
    Pair,
    all_of,
    find_leaving,
    find_ports,
    list_bridges,
)
from lairmake.stages.poly.sides import Rectangle, bounding_rectangle

# --- Places of parts ------------------------------------------------------------------------------
#
# A part without a place in network.yaml lies beside a part with which it exchanges a tensor, on the
# side on which that crosses, first port beside first port, with the bridges between: in a row from
# west to east, if tensors cross in that direction. Parts that are not joined to such a row lie
# south of it.

Places = dict[str, Place]


def place_parts(
    network: Network, layouts: Mapping[str, FabricLayout], joints: Sequence[Joint]
) -> Places:
    """Return the place of PE[0, 0] of each part. Raises UserError where two parts overlap."""
    places = {name: (each.x, each.y) for name, each in network.floorplan.items()}
    _place_joined(places, joints)
    for name in network.parts:
        if name not in places:
            joined = {name: (0, 0)}
            _place_joined(joined, joints)
            places |= _below(joined, places, layouts)
    if not network.floorplan:
        places = _from_zero(places, layouts)
    _check_overlaps(network, places, layouts)
    return places


def _place_joined(places: Places, joints: Sequence[Joint]) -> None:
    """Place all parts joined to parts with a place, at the least distance."""
    waiting = list(places)
    while waiting:
        name = waiting.pop(0)
        for joint in joints:
            x, y = _beside(joint, places[name], joint.bridges - 1)
            back = 2 * places[name][0] - x, 2 * places[name][1] - y
            for part, other, place in (
                (joint.source, joint.to, (x, y)), (joint.to, joint.source, back)
            ):
                if part == name and other not in places:
                    places[other] = place
                    waiting.append(other)


def _below(joined: Places, places: Places, layouts: Mapping[str, FabricLayout]) -> Places:
    """Return places of joined parts, moved south of all parts with a place."""
    bottom = max((find_rectangle(layouts[n], p).bottom for n, p in places.items()), default=-1)
    top = min(find_rectangle(layouts[name], place).top for name, place in joined.items())
    return {name: (x, y + bottom + 1 - top) for name, (x, y) in joined.items()}


def find_rectangle(layout: FabricLayout, place: Place) -> Rectangle:
    """Return the PEs of a part at a place."""
    own = bounding_rectangle(isl.Set(layout.grid))
    return Rectangle(
        left=own.left + place[0], right=own.right + place[0],
        top=own.top + place[1], bottom=own.bottom + place[1],
    )


def find_distance(joint: Joint, places: Mapping[str, Place]) -> int:
    """Return the number of PEs between the two parts of a joint, less one.

    Raises UserError for ports that are not in line, or without room for bridges.
    """
    place, source, least = places[joint.to], places[joint.source], joint.bridges - 1
    zero, (dx, dy) = _beside(joint, source, 0), STEPS[joint.side]
    off = place[0] - zero[0], place[1] - zero[1]
    distance = off[0] * dx + off[1] * dy
    if off != (distance * dx, distance * dy) or distance < least:
        x, y = _beside(joint, source, max(distance, least))
        raise UserError(
            f"{joint.to} is not beside {joint.source}, lane beside lane, with room for "
            f"{'a bridge' if least == 0 else 'two bridges'} between them", joint.crossing.span,
            f"what leaves {joint.source} arrives if it lies there: "
            f"`floorplan: {{{joint.to}: \"PE[{x}, {y}]\"}}`",
        )
    return distance


def _beside(joint: Joint, source: Place, distance: int) -> Place:
    """Return the place of the part that takes, `distance` PEs further than port on port."""
    (x, y), (dx, dy) = joint.offset, STEPS[joint.side]
    return source[0] + x + distance * dx, source[1] + y + distance * dy


def _from_zero(places: Places, layouts: Mapping[str, FabricLayout]) -> Places:
    """Return the same places with the first column and row at 0."""
    all_ = [find_rectangle(layouts[name], place) for name, place in places.items()]
    west, north = min(each.left for each in all_), min(each.top for each in all_)
    return {name: (x - west, y - north) for name, (x, y) in places.items()}


def overlap(one: Rectangle, other: Rectangle) -> bool:
    """Return whether two rectangles have a PE in common."""
    return (
        one.left <= other.right and other.left <= one.right
        and one.top <= other.bottom and other.top <= one.bottom
    )


def _check_overlaps(network: Network, places: Places, layouts: Mapping[str, FabricLayout]) -> None:
    taken = {name: find_rectangle(layouts[name], place) for name, place in places.items()}
    for one, other in itertools.combinations(taken, 2):
        if overlap(taken[one], taken[other]):
            raise UserError(
                f"{one} lies on {spell(taken[one])}, and {other} on {spell(taken[other])}",
                _span(network, one, other),
                f"place one of them elsewhere: `floorplan: {{{other}: \"PE[x, y]\"}}`",
            )


def _span(network: Network, one: str, other: str) -> Span:
    """Return the place in network.yaml that places one of two parts, or else names it."""
    placed = network.floorplan.get(other) or network.floorplan.get(one)
    return network.spans[other] if placed is None else placed.span


def spell(area: Rectangle) -> str:
    """Return a rectangle as people write it."""
    return f"PE[{area.left}:{area.right}, {area.top}:{area.bottom}]"

# --- Bridges and wires ----------------------------------------------------------------------------
#
# A tensor that crosses goes straight on from its part, on its colour, to a bridge: a PE beside the
# part of arrival, which sends the tensor on the colour that this part hears. Tensors that enter or
# leave the fabric go straight on between the part and the edge, on their colours.

@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeWay:
    """PEs outside of all parts that a tensor passes.

    `routes` are { [PE[x, y] -> from[]] -> to[] } by the number of a colour, `bridges` the PEs with
    a program, by the colours that they hear and send. Other tensors may pass the same PEs on other
    colours, unless there are bridges. `named` is the tensor, `span` its place in network.yaml.
    """

    named: str
    area: Rectangle
    routes: Mapping[int, isl.UnionMap]
    bridges: Mapping[Pair, isl.Set]
    span: Span


def cross(joint: Joint, places: Mapping[str, Place]) -> BridgeWay:
    """Return the way of a crossing.

    Raises UserError for places of the two parts between which its lanes do not go straight on.
    """
    distance, place = find_distance(joint, places), shift(places[joint.source])
    step = STEPS[joint.side]
    lanes = all_of(joint.leaving).apply(place)
    _check_lanes(joint, lanes, all_of(joint.arriving).apply(shift(places[joint.to])), distance)
    routes: dict[int, isl.UnionMap] = {}
    bridges: dict[Pair, isl.Set] = {}
    for (sent, heard), ports in joint.lanes.items():
        chain, here = list_bridges(sent, heard), ports.apply(place)
        wired = distance - len(chain)
        _add(routes, sent, _route(_go(here, step, 0, wired), OPPOSITE[joint.side], joint.side))
        for at, pair in enumerate(chain, start=wired + 1):
            pes = _go(here, step, at, at)
            _add(routes, pair[0], _route(pes, OPPOSITE[joint.side], "ramp"))
            _add(routes, pair[1], _route(pes, "ramp", joint.side))
            bridges[pair] = bridges[pair].union(pes) if pair in bridges else pes
    return BridgeWay(
        named=str(joint.crossing.to), routes=routes, bridges=bridges, span=joint.crossing.span,
        area=bounding_rectangle(_go(lanes, step, 0, distance)),
    )


def _check_lanes(joint: Joint, leaving: isl.Set, arriving: isl.Set, distance: int) -> None:
    dx, dy = STEPS[joint.side]
    if not leaving.apply(shift((distance * dx, distance * dy))).is_equal(arriving):
        raise UserError(
            f"the ports of {joint.crossing.given[0].end} are not those of {joint.crossing.to}",
            joint.crossing.span, "on one fabric each lane goes straight on",
        )


def _go(ports: isl.Set, step: Place, first: int, last: int) -> isl.Set:
    """Return the PEs from `first` to `last` steps behind the ports, inclusive."""
    moves = isl.Map(
        f"{{ PE[x, y] -> PE[x', y'] : exists t : {first} <= t <= {last} "
        f"and x' = x + {step[0]}t and y' = y + {step[1]}t }}"
    )
    return ports.apply(moves).coalesce()


def _route(pes: isl.Set, heard: str, sent: str) -> isl.UnionMap:
    """Return { [PE[x, y] -> heard[]] -> sent[] }."""
    hearing = isl.UnionMap.from_domain_and_range(
        isl.UnionSet(pes), isl.UnionSet(f"{{ {heard}[] }}"))
    return isl.UnionMap.from_domain_and_range(hearing.wrap(), isl.UnionSet(f"{{ {sent}[] }}"))


def _add(routes: dict[int, isl.UnionMap], number: int, more: isl.UnionMap) -> None:
    if not more.is_empty():
        routes[number] = routes[number].union(more) if number in routes else more


def enter(
    entry: PortEntry, layout: FabricLayout, grid: Rectangle, span: Span
) -> tuple[PortEntry, BridgeWay | None]:
    """Return the entry of a tensor at the edge of a grid, and its way from there, if it has one."""
    ports, number = find_ports(entry.order), layout.colours[entry.colour].number
    count = _to_edge(ports, entry.side, grid)
    routes: dict[int, isl.UnionMap] = {}
    _add(routes, number, _wire(ports, entry.side, count, inwards=True))
    order = _outwards(entry.order, entry.side, count)
    return replace(entry, order=order), _way(entry, ports, count, routes, span)


def leave(
    departure: PortExit, layout: FabricLayout, grid: Rectangle, span: Span
) -> tuple[PortExit, BridgeWay | None]:
    """Return the exit of a tensor at the edge of a grid, and its way there, if it has one."""
    ports = find_ports(departure.order)
    routes: dict[int, isl.UnionMap] = {}
    count = _to_edge(ports, departure.side, grid)
    for number, some in find_leaving(layout, departure).items():
        _add(routes, number, _wire(some, departure.side, count, inwards=False))
    order = _outwards(departure.order, departure.side, count)
    return replace(departure, order=order), _way(departure, ports, count, routes, span)


def _to_edge(ports: isl.Set, side: str, grid: Rectangle) -> int:
    """Return the number of PEs of the grid from the ports to its edge."""
    at = bounding_rectangle(ports)
    return {
        "N": at.top - grid.top, "S": grid.bottom - at.bottom, "W": at.left - grid.left,
        "E": grid.right - at.right,
    }[side] + 1


def _wire(ports: isl.Set, side: str, count: int, *, inwards: bool) -> isl.UnionMap:
    ends = (side, OPPOSITE[side]) if inwards else (OPPOSITE[side], side)
    return _route(_go(ports, STEPS[side], 0, count - 1), *ends)


def _outwards(order: str, side: str, count: int) -> str:
    dx, dy = STEPS[side]
    return move_order(order, (count * dx, count * dy)) if count else order


def _way(
    stream: PortEntry | PortExit, ports: isl.Set, count: int, routes: Mapping[int, isl.UnionMap],
    span: Span,
) -> BridgeWay | None:
    if not count:
        return None
    area = bounding_rectangle(_go(ports, STEPS[stream.side], 0, count - 1))
    return BridgeWay(named=stream.tensor, area=area, routes=routes, bridges={}, span=span)


def check_ways(ways: Sequence[BridgeWay], parts: Mapping[str, Rectangle]) -> Iterator[UserError]:
    """Yield an error for each way that meets a part, or another way on the same colour."""
    hint = "ways go straight on: place the parts elsewhere with `floorplan`"
    for way in ways:
        for name, area in parts.items():
            if overlap(way.area, area):
                yield UserError(
                    f"{way.named} would pass {spell(way.area)}, and {name} lies on "
                    f"{spell(area)}", way.span, hint,
                )
    for one, other in itertools.combinations(ways, 2):
        if overlap(one.area, other.area) and _meet(one, other):
            yield UserError(
                f"{one.named} and {other.named} would both pass {spell(other.area)}", other.span,
                hint,
            )


def _meet(one: BridgeWay, other: BridgeWay) -> bool:
    """Return whether two ways that overlap are in each other's way."""
    if one.bridges or other.bridges:
        return True
    shared = one.routes.keys() & other.routes.keys()
    return any(
        not one.routes[n].domain().unwrap().domain().is_disjoint(
            other.routes[n].domain().unwrap().domain()) for n in shared
    )
