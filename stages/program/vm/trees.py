"""Trees: what one PE sends along its row, and from there along all columns, to all workers.

Paper    E Sec. 4.1, Fig. 2 (b)
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.program.regions.properties import paint_routes
from lairmake.stages.program.regions.region import (
    Region,
    hstack,
    hstackrep,
    place,
    tile,
    unite,
    vstack,
    vstackrep,
)
from lairmake.stages.program.vm.colours import ARGS, CTRL, GLOBAL_BROADCAST, REDUCTION_BROADCAST
from lairmake.stages.program.vm.geometry import Geometry

Rows = tuple[int, bool]
"""How many rows of PEs, and whether they take what comes: others only send it on."""


def paint_trees(geometry: Geometry, colours: Sequence[str]) -> Region:
    """Return the trees of the colours that are used."""
    upper, lower = (geometry.upper, True), (geometry.height - geometry.upper, True)
    strip, passing = (1, True), (1, False)
    trees = {
        ARGS: (geometry.merge, geometry.control, [strip, upper], [strip, lower]),
        CTRL: (geometry.merge, geometry.control, [strip, upper], [strip, lower]),
        REDUCTION_BROADCAST: (
            geometry.executive, geometry.upper, [upper], [passing, passing, lower]),
        GLOBAL_BROADCAST: (
            geometry.executive, geometry.control, [passing, upper], [passing, lower]),
    }
    return unite(*(_paint_tree(colour, geometry.width, *tree)
                   for colour, tree in trees.items() if colour in colours))


def _paint_tree(
    colour: str, width: int, column: int, row: int, above: Sequence[Rows], below: Sequence[Rows]
) -> Region:
    """Return a tree from PE[column, row]; rows above and below are given from there outwards."""
    north, south = _paint_tree_columns(colour, width, "S>", above), _paint_tree_columns(
        colour, width, "N>", below)
    branches = ["N"] * bool(north) + ["S"] * bool(south)
    trunk = hstack(
        paint_routes(tile(), colour, ",".join([f"E>{branches[0]}", *branches[1:]])),
        hstackrep(paint_routes(tile(), colour, ",".join(["E>W", *branches])), column - 1),
        paint_routes(tile(), colour, ",".join(["ramp>W", "E", *branches])),
        hstackrep(paint_routes(tile(), colour, ",".join(["W>E", *branches])), width - column - 2),
        paint_routes(tile(), colour, ",".join([f"W>{branches[0]}", *branches[1:]])),
    )
    rows = vstack(*reversed(north), trunk, *south)
    return place(rows, 0, row - sum(each.height for each in north))


def _paint_tree_columns(colour: str, width: int, heard: str, rows: Sequence[Rows]) -> list[Region]:
    """Return the rows that a tree reaches, from its trunk outwards; the last one ends it."""
    on = "N" if heard == "S>" else "S"
    reached = [each for each in rows if each[0] > 0]
    while reached and not reached[-1][1]:
        reached.pop()
    result = []
    for number, (count, takes) in enumerate(reached):
        is_last = number == len(reached) - 1
        inner = paint_routes(tile(width), colour, f"{heard}ramp,{on}" if takes else heard + on)
        end = paint_routes(tile(width), colour, f"{heard}ramp")
        result += [vstackrep(inner, count - is_last), *[end] * is_last]
    return result
