"""How a stream comes to the PEs that take it: routers copy it, PEs forward it, or each has its own.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from lairmake.stages.layer.routes.forwarded import (
    describe_line,
    describe_line_objects,
    find_line_routes,
    name_positions,
)
from lairmake.stages.layer.routes.placed import Placed, Routed, colour_routes, find_depth, join
from lairmake.stages.layer.texts.isl_files import named
from lairmake.stages.movement.border import Line, feedback_line, inward_line
from lairmake.stages.movement.flow import Routes, column_routes, feedback_routes
from lairmake.stages.movement.gather import replica_routes
from lairmake.stages.poly.sides import turn


def route_inwards(
    name: str, takers: isl.Set, side: str, placed: Placed, *, spread: bool, forwarded: bool
) -> Routed:
    """Route a stream along its lanes from a side to { [lane, depth] }, or from its border."""
    turned, first = turn(side, placed.grid), find_depth(side, placed)
    copied = column_routes(takers, side, turned, spread=spread)
    if not (placed.profile.multicast or forwarded):
        return replicate(name, replica_routes(takers, side, turned, spread=spread), copied)

    def line() -> Line:
        return inward_line(takers, side, turned, first, spread=spread)

    return copy_or_forward(name, copied, line, turned, first, placed)


def feed_back(name: str, takers: isl.Set, side: str, first: int, placed: Placed) -> Routed:
    """Route a stream inwards along its lanes from the PEs at depth `first`, which send it."""
    turned = turn(side, placed.grid)
    copied = feedback_routes(takers, side, turned, first)

    def line() -> Line:
        return feedback_line(takers, side, turned, first)

    return copy_or_forward(name, copied, line, turned, first, placed)


def copy_or_forward(
    name: str,
    copied: Routes,
    line: Callable[[], Line],
    turned: isl.Map,
    first: int | None,
    placed: Placed,
) -> Routed:
    """Route a stream by routers that copy, else along a line of PEs that forward it.

    The line leads inwards from depth `first`, or along a border.
    """
    if placed.profile.multicast:
        return colour_routes(name, copied)
    return _forwarded(name, line(), copied, turned, first)


def _forwarded(name: str, line: Line, copied: Routes, turned: isl.Map, first: int | None) -> Routed:
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
    """Let each PE of a lane, or of a border, get a stream of its own."""
    routes = colour_routes(name, functools.reduce(isl.UnionMap.union, positions))
    each = dict(zip(name_positions(name), positions, strict=False))
    objects = {**routes.objects, **each, named(name, "copied"): copied}
    return replace(routes, objects=objects, copied={name: copied})
