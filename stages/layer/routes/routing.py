"""The streams of a layer: what enters and leaves on a side, by which routes.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from lairmake.stages.layer.routes.departing import add_departures
from lairmake.stages.layer.routes.entering import add_arrivals
from lairmake.stages.layer.routes.forwarded import name_line_colours
from lairmake.stages.layer.routes.ordering import Ordering
from lairmake.stages.layer.routes.placed import Streams, placed_of
from lairmake.stages.layer.texts.isl_files import Adapted
from lairmake.stages.movement.flow import Routes
from lairmake.stages.skewing.statements import Scheduled


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
    return _with_orders(scheduled, streams)


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
