"""The virtual machine, painted: transfers, sums, trees and the control row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lairmake.stages.program.sections.hops import RING
from lairmake.stages.program.vm.colours import (
    ARGS,
    ARGS_DIST,
    CHECKER,
    CTRL,
    CTRL_COORD,
    CTRL_DIST,
    GLOBAL_BROADCAST,
    REDUCTION_1,
    REDUCTION_2,
    REDUCTION_3,
    REDUCTION_4,
    REDUCTION_BROADCAST,
    Features,
    list_colours,
)
from lairmake.stages.program.vm.geometry import BETWEEN, Geometry, paint_roles
from lairmake.stages.program.vm.regions import (
    ALWAYS,
    PaintedRegion,
    alternate,
    hstack,
    hstackrep,
    paint_routes,
    paint_variable,
    place,
    split,
    tile,
    unite,
    vstack,
    vstackrep,
)

# --- Transfers between neighbours -----------------------------------------------------------------
#
# Two colours alternate like a checkerboard; switches turn through rings of up to four states. In a
# state a PE takes from one side, and sends to the opposite one. A PE has only states for its
# neighbours in the field: at borders its two switches have fewer states, and different ones.
#
# Paper    E Sec. 4.3, 6.2, Listing 10: worker_upper_checker_gen; without a moat

OPPOSITE = {"west": "east", "east": "west", "north": "south", "south": "north"}
LETTERS = {"west": "W", "east": "E", "north": "N", "south": "S"}


def paint_checker(geometry: Geometry) -> PaintedRegion:
    """Return the field in its two halves, with the rows between, which pass both colours on."""
    upper, lower = split(_paint_field(geometry.width, geometry.height), geometry.upper)
    middle = tile(geometry.width, BETWEEN)
    if geometry.upper:
        columns = [_paint_between(x + geometry.upper - 1) for x in range(2)]
        middle = hstackrep(hstack(*columns), geometry.width)
    return vstack(upper, middle, lower)


def _paint_field(width: int, height: int) -> PaintedRegion:
    """Return the field of workers, with its first row in the north."""
    return alternate(*(_paint_alike(width, height, even) for even in (True, False)))


def _paint_alike(width: int, height: int, even: bool) -> PaintedRegion:
    """Return the field as if x + y were even, or odd, for all workers."""
    if height == 1:
        return _paint_row(width, (), even)
    inner = _paint_row(width, ("north", "south"), even)
    return vstack(_paint_row(width, ("south",), even), vstackrep(inner, height - 2),
                  _paint_row(width, ("north",), even))


def _paint_row(width: int, around: tuple[str, ...], even: bool) -> PaintedRegion:
    """Return a row of the field; its PEs have neighbours on the sides `around`."""
    inner = _paint_worker(("west", "east", *around), even)
    return hstack(_paint_worker(("east", *around), even), hstackrep(inner, width - 2),
                  _paint_worker(("west", *around), even))


def _paint_worker(sides: tuple[str, ...], even: bool) -> PaintedRegion:
    """Return a PE of the field with neighbours on some sides."""
    # Neighbours differ by one in x + y: what one of them sends on, the others take. So
    # _paint_between has the colour of the worker from which wavelets come.
    taken, sent = CHECKER if even else reversed(CHECKER)
    taking = [f"{LETTERS[side]}>ramp" for side in RING if side in sides]
    sending = [f"ramp>{LETTERS[OPPOSITE[side]]}" for side in RING if OPPOSITE[side] in sides]
    worker = paint_routes(paint_routes(tile(), taken, *taking), sent, *sending)
    for side in sides:
        worker = paint_variable(worker, f"has_{side}")
    return paint_variable(worker, "even") if even else worker


def _paint_between(parity: int) -> PaintedRegion:
    """Return the rows between two workers of a column; `parity` is that of the upper worker."""
    south, north = CHECKER[1 - parity % 2], CHECKER[parity % 2]
    return paint_routes(paint_routes(tile(1, BETWEEN), south, "N>S"), north, "S>N")

# --- Control row ----------------------------------------------------------------------------------
#
# The number of a section goes outwards, its calls and arguments come inwards. The drain oscillates:
# behind its part a response PE lets PEs further out pass, and turns the merge PE to the other side;
# the outermost PE starts a new round.
#
# Paper    E Sec. 4.1, Fig. 3

def paint_control(geometry: Geometry) -> PaintedRegion:
    """Return the colours of the control row, and the geo-vars of response PEs."""
    row = unite(_paint_numbers(geometry.responses), _paint_variables(geometry.responses),
                *(_paint_drain(geometry.responses, each) for each in (ARGS_DIST, CTRL_DIST)))
    return place(row, geometry.merge - geometry.responses, geometry.control)


def _paint_numbers(responses: int) -> PaintedRegion:
    """Return the routes of the number of a section, from the executive to all response PEs."""
    west, east = (paint_routes(tile(), CTRL_COORD, each) for each in ("E>ramp,W", "W>ramp,E"))
    ends = [paint_routes(tile(), CTRL_COORD, each) for each in ("E>ramp", "W>ramp")]
    return hstack(
        ends[0], hstackrep(west, responses - 1), paint_routes(tile(), CTRL_COORD, "E>W"),
        paint_routes(tile(), CTRL_COORD, "ramp>W,E"), hstackrep(east, responses - 1), ends[1],
    )


def _paint_drain(responses: int, colour: str) -> PaintedRegion:
    """Return the routes of parts to the merge PE: right 1, left 1, right 2, left 2..."""
    merge = paint_routes(tile(), colour, "E>ramp", "W>ramp")
    executive = paint_routes(tile(), colour, "E>W")
    west, east = (_paint_side(responses, colour, *sides) for sides in (("E", "W"), ("W", "E")))
    return hstack(*reversed(west), merge, executive, *east)


def _paint_side(responses: int, colour: str, inwards: str, outwards: str) -> list[PaintedRegion]:
    """Return the response PEs of a side, the innermost first, which alone pops commands."""
    first, both = f"ramp>{inwards}", (f"ramp>{inwards}", f"{outwards}>{inwards}")
    if responses == 1:
        return [paint_routes(tile(), colour, first, ring=False, pop=ALWAYS)]
    inner = paint_routes(tile(), colour, *both, ring=False)
    return [
        paint_routes(tile(), colour, *both, ring=False, pop=ALWAYS),
        hstackrep(inner, responses - 2), paint_routes(tile(), colour, first, ring=False),
    ]


def _paint_variables(responses: int) -> PaintedRegion:
    """Return the geo-vars of response PEs: their part of each section, and the outermost ones."""
    outermost = paint_variable(tile(), "outermost")
    inner = tile(responses - 1)
    left = paint_variable(hstack(outermost, inner), "part", f"{2 * responses - 1} - 2x")
    right = paint_variable(hstack(inner, outermost), "part", "2x")
    return hstack(left, tile(2), right)

# --- Sums as drains -------------------------------------------------------------------------------
#
# Columns drain to the strips, strips to the inner PEs, and these to the upper right one. In a drain
# PEs send in turn on one colour, the nearest first: behind its value each PE lets those further
# away pass, and the farthest one starts a new round.
#
# Paper    E Sec. 4.2, Fig. 4

FARTHEST = "farthest"


def paint_sums(geometry: Geometry, to_executive: bool) -> PaintedRegion:
    """Return the colours and geo-vars of sums; results may also go to the executive."""
    width, upper = geometry.width, geometry.upper
    strips = vstack(_paint_strip(geometry, upper), tile(width),
                    _paint_strip(geometry, geometry.height - upper))
    return unite(
        _paint_columns(geometry), place(strips, 0, upper),
        place(_paint_inner(to_executive), geometry.merge, upper),
    )


def _paint_columns(geometry: Geometry) -> PaintedRegion:
    """Return the drains of the columns to the strips."""
    upper, lower = geometry.upper, geometry.height - geometry.upper
    column = vstack(
        *_paint_column_drain(upper, "S", "N"), _paint_end("N" if upper else ""), tile(),
        _paint_end("S"), *reversed(_paint_column_drain(lower, "N", "S")),
    )
    return hstackrep(column, geometry.width)


def _paint_column_drain(count: int, inwards: str, outwards: str) -> list[PaintedRegion]:
    """Return the workers of a column, the farthest first: each sends, then lets others pass."""
    if not count:
        return []
    return [_paint_farthest(REDUCTION_1, inwards),
            vstackrep(_paint_sender(REDUCTION_1, inwards, outwards), count - 1)]


def _paint_farthest(colour: str, inwards: str) -> PaintedRegion:
    return paint_variable(paint_routes(tile(), colour, f"ramp>{inwards}", ring=False), FARTHEST)


def _paint_sender(colour: str, inwards: str, outwards: str) -> PaintedRegion:
    return paint_routes(tile(), colour, f"ramp>{inwards}", f"{outwards}>{inwards}", ring=False)


def _paint_end(heard: str) -> PaintedRegion:
    return paint_routes(tile(), REDUCTION_1, f"{heard}>ramp") if heard else tile()


def _paint_strip(geometry: Geometry, rows: int) -> PaintedRegion:
    """Return a strip, whose PEs take values of `rows` rows."""
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


def _paint_inner(to_executive: bool) -> PaintedRegion:
    """Return the inner PEs, with the merge PE and the executive between them."""
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

# --- Trees from one PE to all workers -------------------------------------------------------------
#
# A tree runs along the row of its PE, and from there along all columns.
#
# Paper    E Sec. 4.1, Fig. 2 (b)

Rows = tuple[int, bool]
"""A number of rows, and whether their PEs take the value: others only send it on."""


def paint_trees(geometry: Geometry, colours: Sequence[str]) -> PaintedRegion:
    """Return the trees of the colours in use."""
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
) -> PaintedRegion:
    """Return a tree from PE[column, row]; `above` and `below` list rows from there outwards."""
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


def _paint_tree_columns(
    colour: str, width: int, heard: str, rows: Sequence[Rows]
) -> list[PaintedRegion]:
    """Return the rows of a tree from its trunk outwards; the last one ends it."""
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

# --- The whole virtual machine --------------------------------------------------------------------
#
# Paper    E Sec. 6.2, Listing 12

@lru_cache(maxsize=1)
def paint_machine(geometry: Geometry, features: Features) -> PaintedRegion:
    """Return the virtual machine for the features of a program.

    It needs at least 4 columns, and 1 response PE on each side. The last result is cached: `paint`
    writes it, and `lower` compares it with an edited painting.
    """
    painted = [paint_roles(geometry), paint_control(geometry),
               paint_trees(geometry, list_colours(features))]
    if features.neighbours:
        painted.append(paint_checker(geometry))
    if features.sums:
        painted.append(paint_sums(geometry, features.executive_sums))
    return unite(*painted)
