"""Faults of a layout that can be seen before a run: routes that clash, end nowhere or go round.

A colour is a set of links. A link into a router is numbered [side][PE], by the side on which the
router hears it; the ramp is the link from the PE itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from stages.fabric.elements import Bools, Ints
from stages.fabric.grid import SIDES, STEPS, Colours, Grid, coordinates, members
from stages.fabric.layout_yaml import Layout
from stages.fabric.library import INLET, OUTLET

RAMP = SIDES.index("ramp")
OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
Routes = NDArray[np.uint8]
"""The sides that a link goes on to, as bits: [side][PE]."""


def find_faults(
    layout: Layout, grid: Grid, colours: Colours, inlets: Any, outlets: Any
) -> list[str]:
    """Return what is wrong with a layout, a sentence each; empty if nothing is.

    `inlets` and `outlets` are records of library.INLET and OUTLET. What goes to a router must be
    heard there in one of its positions; clashes and rounds are looked for in each of them.
    """
    assert inlets.dtype == INLET and outlets.dtype == OUTLET
    found: list[str] = []
    for number, name in enumerate(colours.names):
        entering = inlets[inlets["colour"] == number]
        leaving = outlets[outlets["colours"] >> number & 1 == 1]
        listening = _listening(layout, grid, name)
        reachable = np.bitwise_or.reduce(colours.routes[:, number], axis=0)
        found += _unheard(name, reachable, grid, entering)
        found += _dead_ends(name, reachable, grid, leaving, listening)
        several = np.count_nonzero(colours.routes[:, number].any(axis=(1, 2))) > 1
        for position, routes in enumerate(colours.routes[:, number], 1):
            where = f" in position {position}" if several else ""
            found += (f"{fault}{where}" for fault in _clashes(name, routes, grid))
            found += (f"{fault}{where}" for fault in _rounds(name, routes, grid))
    return found


def _listening(layout: Layout, grid: Grid, colour: str) -> Bools:
    """Return, by PE, whether its program takes wavelets of a colour."""
    result = np.zeros(grid.size, dtype=np.bool_)
    for role in layout.roles.values():
        if role.listens is None or colour in role.listens:
            result |= members(isl.Set(role.at), grid).reshape(-1)
    return result


def _clashes(colour: str, routes: Routes, grid: Grid) -> Iterator[str]:
    """Say where a router hears a colour on two sides at once, in one position."""
    several = np.flatnonzero((routes > 0).sum(axis=0) > 1)
    if several.size:
        sides = [SIDES[k] for k in np.flatnonzero(routes[:, several[0]])]
        yield f"colour {colour} enters {_pe(several[0], grid)} on the sides {' and '.join(sides)}"


def _unheard(colour: str, routes: Routes, grid: Grid, inlets: Any) -> Iterator[str]:
    """Say where a port sends into a router that has no route for it."""
    lost = inlets[routes[inlets["side"], inlets["node"]] == 0]
    if lost.size:
        side = SIDES[lost["side"][0]]
        yield f"colour {colour} enters {_pe(lost['node'][0], grid)} from {side}, and has no route"


def _dead_ends(
    colour: str, routes: Routes, grid: Grid, outlets: Any, listening: Bools
) -> Iterator[str]:
    """Say where a route goes to a router that has none, out of the grid, or to nobody."""
    out = np.bitwise_or.reduce(routes, axis=0)
    for side, word in enumerate(SIDES):
        goes = (out >> side & 1).astype(np.bool_)
        taken = listening if side == RAMP else _taken(routes, grid, word, outlets)
        lost = np.flatnonzero(goes & ~taken)
        if lost.size and side == RAMP:
            yield f"colour {colour} reaches {_pe(lost[0], grid)}, where nobody reads it"
        elif lost.size:
            yield f"colour {colour} leaves {_pe(lost[0], grid)} on side {word} and ends nowhere"


def _taken(routes: Routes, grid: Grid, side: str, outlets: Any) -> Bools:
    """Return, by PE, whether somebody takes what its router sends to a side."""
    number = np.arange(grid.size)
    inside, neighbour = _neighbour(number, grid, side)
    result = np.zeros(grid.size, dtype=np.bool_)
    result[inside] = routes[SIDES.index(OPPOSITE[side]), neighbour[inside]] > 0
    result[outlets["node"][outlets["side"] == SIDES.index(side)]] = True
    return result


def _rounds(colour: str, routes: Routes, grid: Grid) -> Iterator[str]:
    """Say where a route comes back to itself: follow every link upstream, in doubling steps."""
    upstream = _upstream(routes, grid)
    for _ in range(int(upstream.size).bit_length()):
        upstream = np.where(upstream >= 0, upstream[upstream], -1)
    turning = np.flatnonzero(upstream >= 0)
    if turning.size:
        yield f"colour {colour} goes round in a circle through {_pe(turning[0] % grid.size, grid)}"


def _upstream(routes: Routes, grid: Grid) -> Ints:
    """Return, for each link [side * PEs + PE], the link that it comes from, -1 if a source."""
    result = np.full(len(SIDES) * grid.size, -1, dtype=np.int64)
    for source in range(len(SIDES)):
        for side, word in enumerate(SIDES[:RAMP]):
            goes = np.flatnonzero(routes[source] >> side & 1)
            inside, neighbour = _neighbour(goes, grid, word)
            heard = SIDES.index(OPPOSITE[word]) * grid.size + neighbour[inside]
            result[heard] = source * grid.size + goes[inside]
    return result


def _neighbour(numbers: Ints, grid: Grid, side: str) -> tuple[Bools, Ints]:
    """Return which PEs have a neighbour on a side, and its number."""
    column, row = numbers % grid.width + STEPS[side][0], numbers // grid.width + STEPS[side][1]
    inside = (column >= 0) & (column < grid.width) & (row >= 0) & (row < grid.height)
    return inside, row * grid.width + column


def _pe(number: int, grid: Grid) -> str:
    x, y = coordinates(np.array(number), grid)
    return f"PE[{x}, {y}]"
