"""Sums: drains of columns to the strips, of strips to the inner PEs, of these to the upper right.

In a drain PEs send in turn on one colour, the nearest first: behind its value each lets those pass
that lie further away, and the farthest lets all begin anew.

Paper    E Sec. 4.2, Fig. 4
"""

from __future__ import annotations

from lairmake.stages.program.regions.properties import paint_routes, paint_variable
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
from lairmake.stages.program.vm.colours import (
    REDUCTION_1,
    REDUCTION_2,
    REDUCTION_3,
    REDUCTION_4,
)
from lairmake.stages.program.vm.geometry import BETWEEN, Geometry

FARTHEST = "farthest"


def paint_sums(geometry: Geometry, to_executive: bool) -> Region:
    """Return the colours and geo-vars of sums, whose result goes to the executive, too."""
    width, upper = geometry.width, geometry.upper
    strips = vstack(_paint_strip(geometry, upper), tile(width),
                    _paint_strip(geometry, geometry.height - upper))
    return unite(
        _paint_columns(geometry), place(strips, 0, upper),
        place(_paint_inner(to_executive), geometry.merge, upper),
    )


def _paint_columns(geometry: Geometry) -> Region:
    """Return the drains of the columns to the strips."""
    upper, lower = geometry.upper, geometry.height - geometry.upper
    column = vstack(
        *_paint_column_drain(upper, "S", "N"), _paint_end("N" if upper else ""), tile(),
        _paint_end("S"), *reversed(_paint_column_drain(lower, "N", "S")),
    )
    return hstackrep(column, geometry.width)


def _paint_column_drain(count: int, inwards: str, outwards: str) -> list[Region]:
    """Return the workers of a column, the farthest first: one sends, then others pass."""
    if not count:
        return []
    return [_paint_farthest(REDUCTION_1, inwards),
            vstackrep(_paint_sender(REDUCTION_1, inwards, outwards), count - 1)]


def _paint_farthest(colour: str, inwards: str) -> Region:
    return paint_variable(paint_routes(tile(), colour, f"ramp>{inwards}", ring=False), FARTHEST)


def _paint_sender(colour: str, inwards: str, outwards: str) -> Region:
    return paint_routes(tile(), colour, f"ramp>{inwards}", f"{outwards}>{inwards}", ring=False)


def _paint_end(heard: str) -> Region:
    return paint_routes(tile(), REDUCTION_1, f"{heard}>ramp") if heard else tile()


def _paint_strip(geometry: Geometry, rows: int) -> Region:
    """Return a strip, whose PEs take values of so many rows."""
    left, right = geometry.merge, geometry.width - geometry.executive - 1
    west, east = _paint_sender(REDUCTION_2, "E", "W"), _paint_sender(REDUCTION_2, "W", "E")
    strip = hstack(
        paint_variable(hstack(_paint_farthest(REDUCTION_2, "E"), hstackrep(west, left - 1)),
                       "columns", "0"),
        paint_variable(paint_routes(tile(), REDUCTION_2, "W>ramp"), "columns", str(left)),
        paint_variable(paint_routes(tile(), REDUCTION_2, "E>ramp"), "columns", str(right)),
        paint_variable(hstack(hstackrep(east, right - 1), _paint_farthest(REDUCTION_2, "W")),
                       "columns", "0"),
    )
    return paint_variable(strip, "rows", str(rows))


def _paint_inner(to_executive: bool) -> Region:
    """Return the inner PEs, and merge PE and executive between them."""
    corner = {name: paint_variable(tile(), name) for name in (
        "upper_left", "upper_right", "lower_left", "lower_right")}
    right = paint_routes(corner["upper_right"], REDUCTION_4, "W>ramp", "S>ramp", ring=False)
    executive = paint_routes(tile(), REDUCTION_4, "S>N")
    if to_executive:
        right = paint_routes(right, REDUCTION_3, "ramp>S")
        executive = paint_routes(executive, REDUCTION_3, "N>ramp")
    assert BETWEEN == 3
    return vstack(
        hstack(paint_routes(corner["upper_left"], REDUCTION_4, "ramp>E"), right),
        hstack(tile(), executive),
        hstack(paint_routes(corner["lower_left"], REDUCTION_4, "ramp>E"),
               paint_routes(corner["lower_right"], REDUCTION_4, "ramp>N", "W>N", ring=False)),
    )
