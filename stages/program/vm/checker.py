"""Between neighbours: two colours in the manner of a checkerboard, and rings of up to four states.

In a state a PE takes from one side, and sends to the opposite one. It has the states in which there
is a neighbour of the field: at borders its two switches have fewer, and other ones.

Paper    E Sec. 4.3, 6.2, Listing 10: worker_upper_checker_gen; without a moat
"""

from __future__ import annotations

from lairmake.stages.program.regions.properties import paint_routes, paint_variable
from lairmake.stages.program.regions.region import (
    Region,
    alternate,
    hstack,
    hstackrep,
    split,
    tile,
    vstack,
    vstackrep,
)
from lairmake.stages.program.sections.hops import RING
from lairmake.stages.program.vm.colours import CHECKER
from lairmake.stages.program.vm.geometry import BETWEEN, Geometry

OPPOSITE = {"west": "east", "east": "west", "north": "south", "south": "north"}
LETTERS = {"west": "W", "east": "E", "north": "N", "south": "S"}


def paint_checker(geometry: Geometry) -> Region:
    """Return the field in its two halves, and the rows between, which pass both colours on."""
    upper, lower = split(_paint_field(geometry.width, geometry.height), geometry.upper)
    middle = tile(geometry.width, BETWEEN)
    if geometry.upper:
        columns = [_paint_between(x + geometry.upper - 1) for x in range(2)]
        middle = hstackrep(hstack(*columns), geometry.width)
    return vstack(upper, middle, lower)


def _paint_field(width: int, height: int) -> Region:
    """Return the field of workers, its first row in the north."""
    return alternate(*(_paint_alike(width, height, even) for even in (True, False)))


def _paint_alike(width: int, height: int, even: bool) -> Region:
    """Return the field as if x + y were even, or odd, of all of its workers."""
    if height == 1:
        return _paint_row(width, (), even)
    inner = _paint_row(width, ("north", "south"), even)
    return vstack(_paint_row(width, ("south",), even), vstackrep(inner, height - 2),
                  _paint_row(width, ("north",), even))


def _paint_row(width: int, around: tuple[str, ...], even: bool) -> Region:
    """Return a row of the field, whose PEs have neighbours on the sides `around`."""
    inner = _paint_worker(("west", "east", *around), even)
    return hstack(_paint_worker(("east", *around), even), hstackrep(inner, width - 2),
                  _paint_worker(("west", *around), even))


def _paint_worker(sides: tuple[str, ...], even: bool) -> Region:
    """Return a PE of the field with neighbours on some sides."""
    taken, sent = CHECKER if even else reversed(CHECKER)
    taking = [f"{LETTERS[side]}>ramp" for side in RING if side in sides]
    sending = [f"ramp>{LETTERS[OPPOSITE[side]]}" for side in RING if OPPOSITE[side] in sides]
    worker = paint_routes(paint_routes(tile(), taken, *taking), sent, *sending)
    for side in sides:
        worker = paint_variable(worker, f"has_{side}")
    return paint_variable(worker, "even") if even else worker


def _paint_between(parity: int) -> Region:
    """Return what lies between two workers of a column; `parity` is that of the upper one."""
    south, north = CHECKER[1 - parity % 2], CHECKER[parity % 2]
    return paint_routes(paint_routes(tile(1, BETWEEN), south, "N>S"), north, "S>N")
