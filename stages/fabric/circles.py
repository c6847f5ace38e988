"""Circles of a colour: routes on which a wavelet comes back to a link that it took.

Links are numbered side * PEs + PE, by the side on which the router of a PE hears them.

What is found: every circle of one position; and, of routers in different positions, every circle
that passes no router which circles enter on two sides. Such a router has the two in different
positions, so that a wavelet which needs both goes round only if the switch turns under way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.grid import OPPOSITE, SIDES, Grid, find_neighbours
from lairmake.stages.fabric.thinned import Thinned

Routes = NDArray[np.uint8]
"""The sides that a link goes on to, as bits: [side][PE]."""


def may_go_round(routes: Routes, thinned: Thinned) -> bool:
    """Return whether there may be a circle, of routes of all positions [side][PE that is kept].

    There is none if whoever goes on turns only so often: a circle of the whole grid turns, and so
    does its picture in which rows and columns that are alike are one.
    """
    size = thinned.grid.size
    links = list(_links(routes, thinned.grid))
    goes = np.concatenate([each for each, _ in links])
    heard = np.concatenate([each for _, each in links])
    straight = goes // size == heard // size
    goes, heard = (each // size * size + thinned.alike[each % size] for each in (goes, heard))
    reached = np.ones(len(SIDES) * size, dtype=np.bool_)
    while True:
        found = _reach(heard[~straight & reached[goes]], len(reached))
        new = found
        while new.any():
            new = _reach(heard[straight & new[goes]], len(reached)) & ~found
            found = found | new
        if np.array_equal(found, reached):
            return bool(found.any())
        reached = found


def _reach(links: Ints, count: int) -> Bools:
    result = np.zeros(count, dtype=np.bool_)
    result[links] = True
    return result


def find_circle(routes: Routes, grid: Grid) -> int | None:
    """Return a PE on a circle of the routes of one position, in which a router hears one side."""
    upstream = np.full(len(SIDES) * grid.size, -1, dtype=np.int64)
    for goes, heard in _links(routes, grid):
        upstream[heard] = goes
    for _ in range(int(upstream.size).bit_length()):
        upstream = np.where(upstream >= 0, upstream[upstream], -1)
    turning = np.flatnonzero(upstream >= 0)
    return int(turning[0]) % grid.size if turning.size else None


def find_mixed_circle(positions: Routes, grid: Grid) -> int | None:
    """Return a PE on a circle of routers that are in one position each, of [position][side][PE]."""
    upstream = np.full((len(SIDES) * grid.size, len(SIDES)), -1, dtype=np.int64)
    downstream = np.full_like(upstream, -1)
    for goes, heard in _links(np.bitwise_or.reduce(positions, axis=0), grid):
        upstream[heard, goes // grid.size] = goes
        downstream[goes, heard // grid.size] = heard
    kept = np.ones(len(upstream), dtype=np.bool_)
    _drop_ends(kept, upstream, downstream)
    _drop_ends(kept, downstream, upstream)
    several = kept.reshape(len(SIDES), grid.size).sum(axis=0) > 1
    kept &= ~np.tile(several, len(SIDES))
    _drop_ends(kept, upstream, downstream)
    turning = np.flatnonzero(kept)
    return int(turning[0]) % grid.size if turning.size else None


def _links(routes: Routes, grid: Grid) -> Iterator[tuple[Ints, Ints]]:
    """Yield links, and those that they go on to."""
    for source in range(len(SIDES)):
        for side, word in enumerate(SIDES[:-1]):
            goes = np.flatnonzero(routes[source] >> side & 1)
            inside, neighbour = find_neighbours(goes, grid, word)
            heard = SIDES.index(OPPOSITE[word]) * grid.size + neighbour[inside]
            yield source * grid.size + goes[inside], heard


def _drop_ends(kept: Bools, before: Ints, after: Ints) -> None:
    """Drop, again and again, links that are kept and come from none that is."""
    count = ((before >= 0) & kept[before]).sum(axis=1)
    ends = np.flatnonzero(kept & (count == 0))
    while ends.size:
        kept[ends] = False
        following = after[ends]
        following = following[following >= 0]
        np.subtract.at(count, following, 1)
        ends = np.unique(following[kept[following] & (count[following] == 0)])
