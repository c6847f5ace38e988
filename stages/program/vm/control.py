"""The control row: the number of a section goes outwards, its calls and arguments come inwards.

The drain oscillates: behind its part a response PE lets those pass that lie further out, and turns
the merge PE to the other side; the outermost one lets all begin anew.

Paper    E Sec. 4.1, Fig. 3
"""

from __future__ import annotations

from lairmake.stages.program.regions.properties import ALWAYS, paint_routes, paint_variable
from lairmake.stages.program.regions.region import Region, hstack, hstackrep, place, tile, unite
from lairmake.stages.program.vm.colours import ARGS_DIST, CTRL_COORD, CTRL_DIST
from lairmake.stages.program.vm.geometry import Geometry


def paint_control(geometry: Geometry) -> Region:
    """Return the colours of the control row, and the geo-vars of response PEs."""
    row = unite(_paint_numbers(geometry.responses), _paint_variables(geometry.responses),
                *(_paint_drain(geometry.responses, each) for each in (ARGS_DIST, CTRL_DIST)))
    return place(row, geometry.merge - geometry.responses, geometry.control)


def _paint_numbers(responses: int) -> Region:
    """Return how the number of a section goes from the executive to all response PEs."""
    west, east = (paint_routes(tile(), CTRL_COORD, each) for each in ("E>ramp,W", "W>ramp,E"))
    ends = [paint_routes(tile(), CTRL_COORD, each) for each in ("E>ramp", "W>ramp")]
    return hstack(
        ends[0], hstackrep(west, responses - 1), paint_routes(tile(), CTRL_COORD, "E>W"),
        paint_routes(tile(), CTRL_COORD, "ramp>W,E"), hstackrep(east, responses - 1), ends[1],
    )


def _paint_drain(responses: int, colour: str) -> Region:
    """Return how parts come to the merge PE: right 1, left 1, right 2, left 2..."""
    merge = paint_routes(tile(), colour, "E>ramp", "W>ramp")
    executive = paint_routes(tile(), colour, "E>W")
    west, east = (_paint_side(responses, colour, *sides) for sides in (("E", "W"), ("W", "E")))
    return hstack(*reversed(west), merge, executive, *east)


def _paint_side(responses: int, colour: str, inwards: str, outwards: str) -> list[Region]:
    """Return the response PEs of a side, the innermost one first, which alone pops commands."""
    first, both = f"ramp>{inwards}", (f"ramp>{inwards}", f"{outwards}>{inwards}")
    if responses == 1:
        return [paint_routes(tile(), colour, first, ring=False, pop=ALWAYS)]
    inner = paint_routes(tile(), colour, *both, ring=False)
    return [
        paint_routes(tile(), colour, *both, ring=False, pop=ALWAYS),
        hstackrep(inner, responses - 2), paint_routes(tile(), colour, first, ring=False),
    ]


def _paint_variables(responses: int) -> Region:
    """Return which part of each section a response PE has, and which PEs are the outermost."""
    outermost = paint_variable(tile(), "outermost")
    inner = tile(responses - 1)
    left = paint_variable(hstack(outermost, inner), "part", f"{2 * responses - 1} - 2x")
    right = paint_variable(hstack(inner, outermost), "part", "2x")
    return hstack(left, tile(2), right)
