"""Routes around a corner: what a border has collected, or a lane sends, to adapters that spread it.

Lanes and depths are as in flow.py.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from lairmake.stages.movement.flow import Routes, make_routes, spread_routes
from lairmake.stages.movement.forwarding import Line, border_line
from lairmake.stages.poly.sides import SIDES, Rectangle, turn


def corner_routes(
    sender: isl.Set, takers: isl.Set, leaves: str, comes: str, grid: Rectangle
) -> Routes:
    """Return the routes from the one { PE } that sends towards a side to { PE } on another border.

    From its ramp, out to the border if it is no adapter, and along this: to both ends of it if the
    sides are the same, else to the corner, and from there along the other border.
    """
    feeds, source, before = _way(sender, takers, leaves, comes, grid)
    return spread_routes(feeds, comes, turn(comes, grid), source).union(before)


def corner_line(
    sender: isl.Set, takers: isl.Set, leaves: str, comes: str, grid: Rectangle
) -> Line:
    """Return the line of the takers, which forward what the one adapter sends on the same way."""
    feeds, source, before = _way(sender, takers, leaves, comes, grid)
    line = border_line(feeds, comes, turn(comes, grid), source)
    return replace(line, entry=line.entry.union(before))


def _way(
    sender: isl.Set, takers: isl.Set, leaves: str, comes: str, grid: Rectangle
) -> tuple[isl.Map, str, Routes]:
    """Return { [lane] -> [lane of a taker] } on the border on which a stream comes, and its way.

    From which side it enters that border, and the routes before.
    """
    here, there = turn(leaves, grid), turn(comes, grid)
    lanes = takers.apply(there).project_out(isl.dim_type.set, 1, 1)
    origin, border, outwards = _out(sender, leaves, here)
    if leaves == comes:
        port = border.project_out(isl.dim_type.set, 1, 1)
        return isl.Map.from_domain_and_range(port, lanes), origin, outwards
    towards = "<" if comes == SIDES[leaves].right else ">"
    corner = isl.Set("{ [lane, 0] }").apply(there.reverse()).apply(here)
    corner = corner.intersect(isl.Set("{ [lane, 0] }"))
    before = corner.apply(isl.Map(f"{{ [c, 0] -> [lane, 0] : lane {towards} c }}"))
    after = border.apply(isl.Map(f"{{ [s, 0] -> [lane, 0] : s {towards} lane }}"))
    far = SIDES[comes].far
    port = corner.apply(here.reverse()).apply(there).project_out(isl.dim_type.set, 1, 1)
    routes = make_routes(
        here, (border, origin, comes), (before.intersect(after), far, comes)
    )
    return isl.Map.from_domain_and_range(port, lanes), far, routes.union(outwards)


def _out(sender: isl.Set, leaves: str, here: isl.Map) -> tuple[str, isl.Set, Routes]:
    """Return from where the router on the border hears what { PE } sends, [lane, 0], and its way.

    On the border itself the ramp; farther in, routes lead from there to it.
    """
    places, far = sender.apply(here), SIDES[leaves].far
    border = places.apply(isl.Map("{ [lane, depth] -> [lane, 0] }"))
    inside = places.subtract(border)
    between = inside.apply(isl.Map("{ [lane, depth] -> [lane, d] : 0 < d < depth }"))
    way = make_routes(here, (inside, "ramp", leaves), (between, far, leaves))
    return ("ramp" if inside.is_empty() else far), border, way
