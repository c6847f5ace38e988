"""Streams that PEs forward to each other, where the routers of a machine do not copy.

    forwarding: {x: {colours: [x_even, x_odd], enters: x_even, parity: ...}}

Every stream of arrivals, and of what is fed back, has a line of PEs: stages/movement/border.py.
That no PE waits for ever: of the PEs in the earliest invocation, the last one of a line takes what
comes, since nothing blocks a stream, nor a chunk, before its end, and so does each before it, since
it may forward; what a PE may not take yet keeps none of its other streams, nor its tasks, from
going on. What is fed back is taken once the PE has done its part of it, for which it needs only
what came before.

With `skew: false` the replicas for one PE come after those for another: a PE takes all of its own,
of each stream, whatever has come of the others.

Source   M
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.texts.isl_files import named
from lairmake.stages.layer.texts.task_graph import Forwarding
from lairmake.stages.movement.border import Line
from lairmake.stages.movement.flow import Routes, parity

SWAP = "{ [lane, depth] -> [depth, lane] }"


def name_positions(name: str) -> list[str]:
    """Return the names in routes.isl of the positions that the routes of a stream may have."""
    return [name, *(f"{name}_then{number}" for number in ("", 2, 3))]


def find_line_routes(name: str, line: Line) -> dict[str, Routes]:
    """Return the routes of the colours of a line that have any."""
    routes = zip(name_line_colours(name), (line.even, line.odd, line.entry), strict=True)
    return {colour: routes for colour, routes in routes if not routes.is_empty()}


def name_line_colours(name: str) -> list[str]:
    """Return the names of the colours that a line may have."""
    return [f"{name}_even", f"{name}_odd", f"{name}_in"]


def describe_line_objects(name: str, line: Line) -> dict[str, isl.Set]:
    """Return what routes.isl says of the PEs of a line."""
    return {
        named(name, "line"): line.members,
        named(name, "forwarding"): line.forwarding,
        named(name, "between"): line.between,
        named(name, "nearest"): line.nearest,
    }


def describe_line(name: str, line: Line, turned: isl.Map, first: int | None) -> Forwarding:
    """Return what tasks.yaml says of a line inwards from depth `first`, else along a border."""
    even, odd, enters = name_line_colours(name)
    if line.enters is not None:
        enters = (even, odd)[line.enters]
    along = turned.apply_range(isl.Map(SWAP)) if first is None else turned
    return Forwarding(colours=(even, odd), enters=enters, parity=parity(along))
