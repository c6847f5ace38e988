"""Where the critical path leads on the grid: along the links that its wavelets took, as lines.

Of a colour whose routers have switches the routes of all positions count, and of several ways the
shortest one: which one a wavelet took is not recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.grid import OPPOSITE, SIDES, STEPS, Grid, coordinates, read_colours
from lairmake.stages.fabric.layout import Layout
from lairmake.stages.fabric.outcome import DEEDS
from lairmake.stages.picture.figures import Line
from lairmake.stages.picture.packing import pack

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun

Array = NDArray[Any]
MOST_LINES = 10_000
"""Of more journeys the last ones are drawn."""
ROUTED_LINKS, ROUTERS, PORT = map(DEEDS.index, ("links", "routers", "port"))
RAMP = SIDES.index("ramp")
TURNED = np.array([SIDES.index(OPPOSITE.get(side, side)) for side in SIDES])
AHEAD = np.array([STEPS[side] for side in SIDES])


@dataclass(frozen=True, slots=True, kw_only=True)
class Journeys:
    """Journeys of wavelets, [journey]: from a PE to one, by number, on the colour of a number.

    It `enters` beside the first PE, from a port, or `leaves` beside the last one; it takes at most
    `most` hops. `before` is the colour of what came to the first PE before, -1 for none.
    """

    source: Array
    target: Array
    colour: Array
    before: Array
    enters: Array
    leaves: Array
    most: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Which router hears a journey from which side, [place]; `onward` is its place in those after.

    Of the last ones that is the side on which it leaves, or the ramp.
    """

    journey: Array
    node: Array
    side: Array
    onward: Array


def follow_path(run: FabricRun, layout: Layout) -> Line:
    """Return the lines of the critical path of a recorded run, from the last output back."""
    assert run.recorded is not None, "the run was recorded"
    journeys, left_out = find_journeys(run.recorded.path, bool(layout.departures))
    numbers = set(journeys.colour.tolist())
    used = {name: each for name, each in layout.colours.items() if each.number in numbers}
    routes = np.bitwise_or.reduce(read_colours(used, run.grid).routes, axis=0)
    journey, x, y = find_corners(journeys, routes, run.grid)
    return Line(
        x=pack(x), y=pack(y), corners=pack(np.bincount(journey, minlength=len(journeys.colour))),
        colour=pack(journeys.colour), before=pack(journeys.before), left_out=left_out,
    )


def find_journeys(path: Array, has_outlets: bool) -> tuple[Journeys, int]:
    """Return the last journeys of a critical path, from the last one back, each once, and how many
    there are before.

    Of each the path has that it waited in routers, before that that it was on links, and before
    that what its sender did, or the port.
    """
    deed, node, colour = path["deed"], path["node"], path["colour"]
    is_one = (deed[:-1] == ROUTERS) & (deed[1:] == ROUTED_LINKS)
    is_one &= (node[:-1] == node[1:]) & (colour[:-1] == colour[1:])
    under_way = (deed == ROUTED_LINKS) | (deed == ROUTERS)
    under_way[1:] &= ~is_one
    end = np.flatnonzero(under_way[:-1])
    sent = end + 1 + is_one[end]
    end, sent = end[sent < len(path)], sent[sent < len(path)]
    found = np.stack([
        node[sent], node[end], colour[end], np.append(colour[end[1:]], -1)[: len(end)],
        deed[sent] == PORT, (end == 0) & has_outlets, path["end"][end] - path["end"][sent],
    ])
    _, first = np.unique(found[:-1], axis=1, return_index=True)
    source, target, colours, before, enters, leaves, most = found[:, np.sort(first)[:MOST_LINES]]
    return Journeys(
        source=source, target=target, colour=colours, before=before, enters=enters > 0,
        leaves=leaves > 0, most=most,
    ), max(0, len(first) - MOST_LINES)


def find_corners(journeys: Journeys, routes: Array, grid: Grid) -> tuple[Array, Array, Array]:
    """Return of which journey each corner is, and its x and y; where one begins and ends is one.

    `routes` [colour][side from][PE] are the sides to go to, as bits.
    """
    journey, x, y = _list_places(journeys, routes, grid)
    dx, dy, same = np.diff(x), np.diff(y), np.diff(journey) == 0
    straight = (dx[1:] == dx[:-1]) & (dy[1:] == dy[:-1]) & same[1:] & same[:-1]
    corner = np.ones(len(journey), bool)
    corner[1:-1] = ~straight
    return journey[corner], x[corner], y[corner]


def _list_places(journeys: Journeys, routes: Array, grid: Grid) -> tuple[Array, Array, Array]:
    """Return of which journey each PE, or port, on its way is, from its source on, and x and y."""
    levels, begins = _search(journeys, routes, grid)
    onward, passed = np.zeros(0, np.int64), []
    for level, begin in zip(reversed(levels), reversed(begins), strict=True):
        enters = begin[journeys.enters[level.journey[begin]]]
        passed.append(_place(level, enters, level.side[enters], grid))
        at = np.concatenate([onward, begin])
        passed.append(_place(level, at, RAMP, grid))
        onward = level.onward[at]
    leaves = journeys.leaves[level.journey[at]]
    passed.append(_place(level, at[leaves], onward[leaves], grid))
    journey, x, y = (np.concatenate(each) for each in zip(*passed, strict=True))
    order = np.argsort(journey, kind="stable")
    return journey[order], x[order], y[order]


def _place(level: Places, at: Array, side: Array | int, grid: Grid) -> tuple[Array, Array, Array]:
    """Return the journeys of places, and x and y of what lies on a side of them."""
    x, y = coordinates(level.node[at], grid)
    dx, dy = AHEAD[side].T
    return level.journey[at], x + dx, y + dy


def _search(journeys: Journeys, routes: Array, grid: Grid) -> tuple[list[Places], list[Array]]:
    """Return places from the targets back, by the hops to these, and which of them are the first
    of a journey."""
    levels: list[Places] = []
    begins: list[Array] = []
    level = _find_last(journeys, routes, grid)
    searched = np.ones(len(journeys.target), bool)
    while len(level.journey) or not levels:
        inside, node = _beside(level.node, level.side, grid)
        is_first = np.where(journeys.enters[level.journey], ~inside, level.side == RAMP)
        is_first &= level.node == journeys.source[level.journey]
        begin = np.flatnonzero(is_first)
        begin = begin[np.unique(level.journey[begin], return_index=True)[1]]
        levels.append(level)
        begins.append(begin)
        searched[level.journey[begin]] = False
        searched &= journeys.most > len(levels)
        going = np.flatnonzero(searched[level.journey] & inside & (level.side != RAMP))
        level = _go_back(level, going, node[going], journeys, routes)
    return levels, begins


def _find_last(journeys: Journeys, routes: Array, grid: Grid) -> Places:
    """Return where journeys are heard by the routers of their targets."""
    outward = sum(
        (~_beside(journeys.target, side, grid)[0]).astype(np.uint8) << side for side in range(RAMP)
    )
    wanted = np.where(journeys.leaves, outward, 1 << RAMP)
    goes = routes[journeys.colour, :, journeys.target] & wanted[:, None]
    journey, side = np.nonzero(goes)
    goes = goes[journey, side]
    onward = (goes[:, None] >> np.arange(len(SIDES)) & 1).argmax(axis=1)
    return Places(journey=journey, node=journeys.target[journey], side=side, onward=onward)


def _go_back(
    level: Places, going: Array, node: Array, journeys: Journeys, routes: Array
) -> Places:
    """Return from which sides the routers before places hear what goes on to these, each once."""
    colour = journeys.colour[level.journey[going]]
    goes = routes[colour, :, node] >> TURNED[level.side[going], None] & 1
    at, side = np.nonzero(goes)
    journey, before = level.journey[going[at]], node[at]
    places = np.stack([journey, before, side])
    _, each = np.unique(places, axis=1, return_index=True)
    return Places(
        journey=journey[each], node=before[each], side=side[each], onward=going[at][each]
    )


def _beside(node: Array, side: Array | int, grid: Grid) -> tuple[Array, Array]:
    """Return whether there is a PE beside each on a side, and its number; the ramp is that of one.
    """
    dx, dy = AHEAD[side].T
    column, row = node % grid.width + dx, node // grid.width + dy
    inside = (column >= 0) & (column < grid.width) & (row >= 0) & (row < grid.height)
    return inside, row * grid.width + column
