"""Faults of a layout that can be seen before a run: routes that clash, end nowhere or go round.

A colour is a set of links. A link into a router is numbered [side][PE], by the side on which the
router hears it; the ramp is the link from the PE itself.

Source   that two inputs at once are not defined, and what a position may change: Cerebras SDK, CSL
         builtins, switching configuration semantics
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A colour that is looked through: `taken` as of `_taken`; by position a PE of a circle."""

    colour: str
    positions: Routes
    taken: Bools
    circles: Sequence[int | None]
    several: bool


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
        looked = Looked(
            colour=name,
            positions=positions,
            taken=_taken(reachable, grid, leaving, listening),
            circles=[find_circle(routes, grid) for routes in positions],
            several=bool(np.count_nonzero(positions.any(axis=(1, 2))) > 1),
        )
        said = [*_unheard(name, reachable, grid, entering)]
        if looked.several:
            last = colours.switches[:, number].astype(np.int64) >> LAST_BITS & 3
            said += [*_unable(name, number, positions, last, grid, profile),
                     *_mixed_rounds(looked, grid)]
        found += (Fault(said=text, place=("colours", name)) for text in said)
        found += (each for k in range(len(positions))
                  for each in _of_position(looked, k, grid, profile))
    return found


def _of_position(of: Looked, number: int, grid: Grid, profile: Profile) -> Iterator[Fault]:
    """Yield what is wrong with the routes of one position."""
    where = f" in position {number + 1}" if of.several else ""
    key: tuple[str | int, ...] = ("positions", number) if of.several else ("routes",)
    routes, place = of.positions[number], ("colours", of.colour, *key)
    for text in (*_clashes(of.colour, routes, grid),
                 *_dead_ends(of.colour, routes, of.taken, grid),
                 *_rounds(of.colour, of.circles[number], grid)):
        yield Fault(said=f"{text}{where}", place=place)
    if number > 0 and not profile.switch_both:
        for text in _both(of.colour, of.positions[0], routes, grid):
            said = f"{text}{where}; on {profile.name} only one of these changes"
            yield Fault(said=said, place=place)


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


def _dead_ends(colour: str, routes: Routes, taken: Bools, grid: Grid) -> Iterator[str]:
    """Say where a route goes to a router that has none, out of the grid, or to nobody."""
    out = np.bitwise_or.reduce(routes, axis=0)
    for side, word in enumerate(SIDES):
        lost = np.flatnonzero((out >> side & 1).astype(np.bool_) & ~taken[side])
        if lost.size and side == RAMP:
            yield f"colour {colour} reaches {_pe(lost[0], grid)}, where nobody reads it"
        elif lost.size:
            yield f"colour {colour} leaves {_pe(lost[0], grid)} on side {word} and ends nowhere"


def _taken(reachable: Routes, grid: Grid, outlets: Any, listening: Bools) -> Bools:
    """Return [side][PE] whether somebody takes what a router sends to a side, in some position."""
    number = np.arange(grid.size)
    result = np.zeros((len(SIDES), grid.size), dtype=np.bool_)
    for side, word in enumerate(SIDES[:RAMP]):
        inside, neighbour = find_neighbours(number, grid, word)
        heard = reachable[SIDES.index(OPPOSITE[word])] > 0
        result[side, inside] = heard[neighbour[inside]]
        result[side, outlets["node"][outlets["side"] == side]] = True
    result[RAMP] = listening
    return result


def _rounds(colour: str, through: int | None, grid: Grid) -> Iterator[str]:
    """Say where a route comes back to itself."""
    if through is not None:
        yield f"colour {colour} goes round in a circle through {_pe(through, grid)}"


def _mixed_rounds(of: Looked, grid: Grid) -> Iterator[str]:
    """Say where a route comes back to itself if routers are in different positions."""
    if any(through is not None for through in of.circles):
        return
    through = find_mixed_circle(of.positions, grid)
    if through is not None:
        yield (f"colour {of.colour} goes round in a circle through {_pe(through, grid)} when "
               "routers are in different positions")


def _pe(number: int, grid: Grid) -> str:
    x, y = coordinates(np.array(number), grid)
    return f"PE[{x}, {y}]"
