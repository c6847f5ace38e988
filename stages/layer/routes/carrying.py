"""How a stream comes to the PEs that take it: routers copy it, PEs forward it, or each has its own.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from stages.layer.routes.forwarded import described, line_objects, line_routes, position_names
from stages.layer.routes.placed import Placed, Routed, coloured, depth_of, joined
from stages.layer.texts.routes_text import named
from stages.poly.flow import Routes, column_routes, feedback_routes
from stages.poly.forwarding import Line, feedback_line, inward_line
from stages.poly.replication import replica_routes
from stages.poly.side import turn


def inwards(
    name: str, takers: isl.Set, side: str, placed: Placed, *, spread: bool, forwarded: bool
) -> Routed:
    """Route a stream along its lanes from a side to { [lane, depth] }, or from its border."""
    turned, first = turn(side, placed.grid), depth_of(side, placed)
    copied = column_routes(takers, side, turned, spread=spread)
    if not (placed.profile.multicast or forwarded):
        return replicated(name, replica_routes(takers, side, turned, spread=spread), copied)

    def line() -> Line:
        return inward_line(takers, side, turned, first, spread=spread)

    return copied_or_forwarded(name, copied, line, turned, first, placed)


def feed_back(name: str, takers: isl.Set, side: str, first: int, placed: Placed) -> Routed:
    """Route a stream inwards along its lanes from the PEs at depth `first`, which send it."""
    turned = turn(side, placed.grid)
    copied = feedback_routes(takers, side, turned, first)

    def line() -> Line:
        return feedback_line(takers, side, turned, first)

    return copied_or_forwarded(name, copied, line, turned, first, placed)


def copied_or_forwarded(
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
        return coloured(name, copied)
    return _forwarded(name, line(), copied, turned, first)


def _forwarded(name: str, line: Line, copied: Routes, turned: isl.Map, first: int | None) -> Routed:
    """Let PEs forward a stream; `copied` is what its routes would be if routers copied."""
    routes = joined(coloured(colour, each) for colour, each in line_routes(name, line).items())
    objects = {**routes.objects, named(name, "copied"): copied, **line_objects(name, line)}
    return replace(
        routes,
        objects=objects,
        forwarding={name: described(name, line, turned, first)},
        ways={} if line.forwarding.is_empty() else {name: line.way()},
        copied={name: copied},
    )


def replicated(name: str, positions: tuple[Routes, ...], copied: Routes) -> Routed:
    """Let each PE of a lane, or of a border, get a stream of its own."""
    routes = coloured(name, functools.reduce(isl.UnionMap.union, positions))
    each = dict(zip(position_names(name), positions, strict=False))
    objects = {**routes.objects, **each, named(name, "copied"): copied}
    return replace(routes, objects=objects, copied={name: copied})
