"""The streams of a layer and their colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping as Dict, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.routes.arrivals import add_arrivals, name_line_colours, name_positions
from lairmake.stages.layer.routes.departures import Ordering, add_departures
from lairmake.stages.layer.routes.halos import add_moves, explain_around
from lairmake.stages.layer.routes.placement import Streams, placed_of
from lairmake.stages.layer.texts.isl_files import Adapted
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.movement.flow import Routes, find_busiest_router, find_routers, share
from lairmake.stages.poly.sides import Rectangle
from lairmake.stages.skewing.statements import Scheduled

if TYPE_CHECKING:
    from lairmake.stages.layer.texts.isl_files import RoutesObject
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.layer_yaml import LayerMapping

# --- Streams of a layer ---------------------------------------------------------------------------
#
# Paper    V Sec. 4.2

def route_streams(scheduled: Scheduled, adapted: Adapted) -> Streams:
    """Return the streams of a layer. What is fed back arrives after it has left."""
    placed = placed_of(scheduled, adapted)
    streams = Streams(placed=placed)
    for tensor in placed.layer.inputs:
        streams = add_arrivals(tensor.name, streams)
    for tensor in (*placed.layer.outputs, *placed.layer.fed_back):
        streams = add_departures(tensor.name, streams)
    for back in placed.fed_back:
        streams = add_arrivals(back, streams)
    return explain_around(add_moves(_with_orders(scheduled, streams)))


def _with_orders(scheduled: Scheduled, streams: Streams) -> Streams:
    """Return the streams with the order of the skewed schedule in which PEs forward each."""
    if not streams.routed.ways:
        return streams
    ordering = Ordering(scheduled, streams.placed.adapted.placement)
    forwarding = dict(streams.routed.forwarding)
    for name, line, taken in _lines(streams):
        source = taken.get_tuple_name(isl.dim_type.in_)
        times = ordering.of(source, taken, streams.routed.ways[line], lanes=line == name)
        forwarding[line] = replace(forwarding[line], order=times.order, otherwise=times.otherwise)
    return replace(streams, routed=replace(streams.routed, forwarding=forwarding))


def _lines(streams: Streams) -> Iterator[tuple[str, str, isl.Map]]:
    """Yield the arrivals that PEs forward, their lines, and { tensor[e] -> PE } that take them."""
    for name, arrival in streams.arrivals.items():
        source = arrival.feedback or arrival.tensor
        taken = streams.routed.said.relation(name, "taken")
        for line in (name, f"{name}_source"):
            if line in streams.routed.ways:
                yield name, line, taken.set_tuple_name(isl.dim_type.in_, source)


def route_if_copied(streams: Streams) -> dict[str, Routes]:
    """Return the routes of all colours if routers copied what PEs forward."""
    routed = streams.routed
    lines = {colour for name in routed.forwarding for colour in name_line_colours(name)}
    others = {colour: routes for colour, routes in routed.colours.items() if colour not in lines}
    return {**routed.copied, **others}

# --- Colours of a layer's streams -----------------------------------------------------------------
#
# They are within the numbers that the machine has. Streams of which routers turn, since PEs get
# replicas of their own, have numbers that switch.
#
# Source   design, The machine; Cerebras SDK white paper, p. 4

Group = str | tuple[str, ...]
FORWARD = "with `skew: true` PEs forward what others need, and no router turns"


def share_colours(
    streams: Dict[str, Routes], objects: Dict[str, RoutesObject], grid: Rectangle, profile: Profile,
    mapping: LayerMapping,
) -> tuple[Group, ...]:
    """Return the streams of each colour, by number: one, while there are colours enough.

    Else streams that pass no router together share one. A number that nobody has is (). `objects`
    of routes.isl say which streams turn. Raises UserError if the machine has not enough.
    """
    turning = {name: _count_positions(name, objects) for name in streams}
    turning = {name: count for name, count in turning.items() if count > 1}
    able = [k for k in range(profile.colours) if k not in profile.unswitched]
    _check_positions(turning, profile, mapping)
    if len(streams) <= profile.colours and len(turning) <= len(able):
        return _number([(name,) for name in streams], turning, able)
    routers = {name: find_routers(routes) for name, routes in streams.items()}
    shared = share(routers)
    if len(shared) > profile.colours:
        in_target = isl.UnionMap(f"{{ PE[x, y] -> PE[x - ({grid.left}), y - ({grid.top})] }}")
        pe, meeting = find_busiest_router({n: pes.apply(in_target) for n, pes in routers.items()})
        raise UserError(
            f"the routes need {len(shared)} colours, {profile.name} has {profile.colours}"
            f"{note_grade(profile, 'colours')}: on {pe} meet {', '.join(meeting)}",
            mapping.key_span("tensors"),
            "let fewer tensors arrive and leave there",
        )
    groups = [tuple(group) for group in shared]
    needed = [group for group in groups if not turning.keys().isdisjoint(group)]
    if len(needed) > len(able):
        raise UserError(
            f"colours that switch: the routes need {len(needed)} "
            f"({', '.join(name for group in needed for name in group)}), "
            f"{profile.name} has {len(able)}{note_grade(profile, 'unswitched')}",
            mapping.key_span("tensors"), FORWARD,
        )
    return _number(groups, turning, able)


def _check_positions(turning: Dict[str, int], profile: Profile, mapping: LayerMapping) -> None:
    """Raise UserError where a stream needs more positions than the machine's routers have."""
    for name, count in turning.items():
        if count > profile.positions:
            raise UserError(
                f"routers need {count} positions for {name}, {profile.name} has "
                f"{profile.positions}{note_grade(profile, 'positions')}",
                mapping.key_span("tensors"), FORWARD,
            )


def _count_positions(stream: str, objects: Dict[str, RoutesObject]) -> int:
    return sum(name in objects for name in name_positions(stream)[1:]) + 1


def _number(
    groups: Sequence[tuple[str, ...]], turning: Dict[str, int], able: Sequence[int]
) -> tuple[Group, ...]:
    """Return groups by number: in their order, or those first that turn, if they must."""
    turns = [not turning.keys().isdisjoint(group) for group in groups]
    order = dict(enumerate(groups))
    if not all(k in able for k, does in enumerate(turns) if does):
        first = [group for group, does in zip(groups, turns, strict=True) if does]
        others = [group for group, does in zip(groups, turns, strict=True) if not does]
        order = dict(zip(able, first, strict=False))
        free = [k for k in range(len(groups) + len(able)) if k not in order]
        order |= dict(zip(free, others, strict=False))
    numbered = [order.get(k, ()) for k in range(max(order, default=-1) + 1)]
    return tuple(group[0] if len(group) == 1 else group for group in numbered)
