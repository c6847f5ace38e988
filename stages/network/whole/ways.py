"""What lies between parts on one fabric: bridges and wires.

A tensor that crosses goes straight on from the part that it leaves, on its colour, to a bridge: a
PE beside the part at which it arrives, that sends it on the colour on which that hears it. What
enters or leaves the fabric goes straight on between the part and the edge, on its colour.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.fabric.grid import OPPOSITE, STEPS, Place, move_order, shift
from lairmake.stages.fabric.layout import Entry, Exit, Layout
from lairmake.stages.network.whole.floorplan import find_distance, overlap, spell
from lairmake.stages.network.whole.joints import (
    Joint,
    Pair,
    all_of,
    find_leaving,
    find_ports,
    list_bridges,
)
from lairmake.stages.poly.sides import Rectangle, bounding_rectangle


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """PEs that lie outside of all parts, and that a tensor passes.

    `routes` are { [PE[x, y] -> from[]] -> to[] } by the number of a colour, `bridges` the PEs that
    have a program by what it hears and sends. Other tensors may pass the same PEs, on other
    colours, unless there are bridges. `named` is the tensor, `span` its place in network.yaml.
    """

    named: str
    area: Rectangle
    routes: Mapping[int, isl.UnionMap]
    bridges: Mapping[Pair, isl.Set]
    span: Span


def cross(joint: Joint, places: Mapping[str, Place]) -> Way:
    """Return the way of a crossing.

    Raises UserError where the two parts do not lie so that its lanes go straight on.
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
    return Way(
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
    """Return the PEs from so many steps behind the ports to so many, the last one included."""
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


def enter(entry: Entry, layout: Layout, grid: Rectangle, span: Span) -> tuple[Entry, Way | None]:
    """Return how a tensor enters at the edge of a grid, and its way from there, if it has one."""
    ports, number = find_ports(entry.order), layout.colours[entry.colour].number
    count = _to_edge(ports, entry.side, grid)
    routes: dict[int, isl.UnionMap] = {}
    _add(routes, number, _wire(ports, entry.side, count, inwards=True))
    order = _outwards(entry.order, entry.side, count)
    return replace(entry, order=order), _way(entry, ports, count, routes, span)


def leave(departure: Exit, layout: Layout, grid: Rectangle, span: Span) -> tuple[Exit, Way | None]:
    """Return how a tensor leaves at the edge of a grid, and its way there, if it has one."""
    ports = find_ports(departure.order)
    routes: dict[int, isl.UnionMap] = {}
    count = _to_edge(ports, departure.side, grid)
    for number, some in find_leaving(layout, departure).items():
        _add(routes, number, _wire(some, departure.side, count, inwards=False))
    order = _outwards(departure.order, departure.side, count)
    return replace(departure, order=order), _way(departure, ports, count, routes, span)


def _to_edge(ports: isl.Set, side: str, grid: Rectangle) -> int:
    """Return how many PEs of the grid lie from the ports on to its edge."""
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
    stream: Entry | Exit, ports: isl.Set, count: int, routes: Mapping[int, isl.UnionMap],
    span: Span,
) -> Way | None:
    if not count:
        return None
    area = bounding_rectangle(_go(ports, STEPS[stream.side], 0, count - 1))
    return Way(named=stream.tensor, area=area, routes=routes, bridges={}, span=span)


def check_ways(ways: Sequence[Way], parts: Mapping[str, Rectangle]) -> Iterator[UserError]:
    """Yield an error for each way that meets a part, or another one on the same colour."""
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


def _meet(one: Way, other: Way) -> bool:
    """Whether two ways that overlap are in each other's way."""
    if one.bridges or other.bridges:
        return True
    shared = one.routes.keys() & other.routes.keys()
    return any(
        not one.routes[n].domain().unwrap().domain().is_disjoint(
            other.routes[n].domain().unwrap().domain()) for n in shared
    )
