"""Faults of a layout that can be seen before a run: routes that clash, end nowhere or go round.

A colour is a set of links. A link into a router is numbered [side][PE], by the side on which the
router hears it; the ramp is the link from the PE itself.

Source   that two inputs at once are not defined, and what a position may change: Cerebras SDK, CSL
         builtins, switching configuration semantics
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from stages.fabric.circles import find_circle, find_mixed_circle
from stages.fabric.elements import Bools, Ints
from stages.fabric.grid import (
    OPPOSITE,
    SIDES,
    Colours,
    Grid,
    coordinates,
    find_neighbours,
    members,
)
from stages.fabric.layout_yaml import Layout
from stages.fabric.library import INLET, OUTLET
from stages.fabric.switches import LAST_BITS
from stages.machine.profile import Profile

RAMP = SIDES.index("ramp")
Routes = NDArray[np.uint8]
"""The sides that a link goes on to, as bits: [side][PE]; of several positions [position] first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a layout, and the keys of its text under which that stands."""

    said: str
    place: tuple[str | int, ...]


def find_faults(
    layout: Layout, grid: Grid, colours: Colours, inlets: Any, outlets: Any, profile: Profile
) -> list[Fault]:
    """Return what is wrong with a layout, a sentence each; empty if nothing is.

    `inlets` and `outlets` are records of library.INLET and OUTLET. What goes to a router must be
    heard there in one of its positions; clashes are looked for in each of them, and rounds in each
    and in routers of different positions (circles.py says which). Raises nothing.
    """
    assert inlets.dtype == INLET and outlets.dtype == OUTLET
    found: list[Fault] = []
    for number, name in enumerate(colours.names):
        entering = inlets[inlets["colour"] == number]
        leaving = outlets[outlets["colours"] >> number & 1 == 1]
        listening = _listening(layout, grid, name)
        positions = colours.routes[:, number]
        reachable = np.bitwise_or.reduce(positions, axis=0)
        several = bool(np.count_nonzero(positions.any(axis=(1, 2))) > 1)
        said = [*_unheard(name, reachable, grid, entering),
                *_dead_ends(name, reachable, grid, leaving, listening)]
        if several:
            last = colours.switches[:, number].astype(np.int64) >> LAST_BITS & 3
            said += [*_unable(name, number, positions, last, grid, profile),
                     *_mixed_rounds(name, positions, grid)]
        found += (Fault(said=text, place=("colours", name)) for text in said)
        found += (each for k in range(len(positions))
                  for each in _of_position(name, k, positions, grid, profile, several))
    return found


def _of_position(
    colour: str, number: int, positions: Routes, grid: Grid, profile: Profile, several: bool
) -> Iterator[Fault]:
    """Yield what is wrong with the routes of one position."""
    where = f" in position {number + 1}" if several else ""
    key: tuple[str | int, ...] = ("positions", number) if several else ("routes",)
    routes = positions[number]
    for text in (*_clashes(colour, routes, grid), *_rounds(colour, routes, grid)):
        yield Fault(said=f"{text}{where}", place=("colours", colour, *key))
    if number > 0 and not profile.switch_both:
        for text in _both(colour, positions[0], routes, grid):
            yield Fault(said=f"{text}{where}; on {profile.name} only one of these changes",
                        place=("colours", colour, *key))


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


def _both(colour: str, first: Routes, routes: Routes, grid: Grid) -> Iterator[str]:
    """Say where a router has another input, and other outputs, than in the first position."""
    heard = (first > 0).any(axis=0) & (routes > 0).any(axis=0)
    inputs = (first > 0).argmax(axis=0) != (routes > 0).argmax(axis=0)
    outputs = np.bitwise_or.reduce(first, axis=0) != np.bitwise_or.reduce(routes, axis=0)
    wrong = np.flatnonzero(heard & inputs & outputs)
    if wrong.size:
        yield f"colour {colour} has at {_pe(wrong[0], grid)} another input and other outputs"


def _unable(
    colour: str, number: int, positions: Routes, last: Ints, grid: Grid,
    profile: Profile,
) -> Iterator[str]:
    """Say where a router has more positions than the machine has for a colour."""
    most = 1 if number in profile.unswitched else profile.positions
    turning = np.zeros(grid.size, dtype=np.bool_)
    for k in range(1, len(positions)):
        turning |= (last >= k) & (positions[k] != positions[0]).any(axis=0)
    wrong = np.flatnonzero(turning & (last >= most))
    if wrong.size:
        yield (f"colour {colour} has {last[wrong[0]] + 1} positions at {_pe(wrong[0], grid)}; "
               f"routers of {profile.name} have {most} for number {number}")


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
    inside, neighbour = find_neighbours(number, grid, side)
    result = np.zeros(grid.size, dtype=np.bool_)
    result[inside] = routes[SIDES.index(OPPOSITE[side]), neighbour[inside]] > 0
    result[outlets["node"][outlets["side"] == SIDES.index(side)]] = True
    return result


def _rounds(colour: str, routes: Routes, grid: Grid) -> Iterator[str]:
    """Say where a route comes back to itself."""
    through = find_circle(routes, grid)
    if through is not None:
        yield f"colour {colour} goes round in a circle through {_pe(through, grid)}"


def _mixed_rounds(colour: str, positions: Routes, grid: Grid) -> Iterator[str]:
    """Say where a route comes back to itself if routers are in different positions."""
    if any(find_circle(routes, grid) is not None for routes in positions):
        return
    through = find_mixed_circle(positions, grid)
    if through is not None:
        yield (f"colour {colour} goes round in a circle through {_pe(through, grid)} when routers "
               "are in different positions")


def _pe(number: int, grid: Grid) -> str:
    x, y = coordinates(np.array(number), grid)
    return f"PE[{x}, {y}]"
