"""Sets of PEs as rectangles: of all PEs in them, of a checkerboard, or of stripes.

isl may describe two single PEs, or two columns, by one conjunction: `y = 1 + x//5`. Here lines are
drawn where a conjunction begins or ends, and the cells between them are put together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import islpy as isl

from lairmake.stages.poly.box import bounding_box

DIV, SET = isl.dim_type.div, isl.dim_type.set
Residues = int
"""Which of four PEs side by side: bit (x mod 2) + 2 (y mod 2)."""
Cells = dict[tuple[int, int], Residues]
"""The PEs of each cell that are still to be covered, by its column and row."""
Intervals = list[tuple[int, int]]

ALL: Residues = 0b1111
PATTERNS: dict[Residues, str] = {
    ALL: "", 0b1001: "(x + y) mod 2 = 0", 0b0110: "(x + y) mod 2 = 1",
    0b0101: "x mod 2 = 0", 0b1010: "x mod 2 = 1",
}
FEWEST = 3
"""So many PEs make a pattern; fewer are told one by one."""
APART = [isl.Set(f"{{ PE[x, y] : x mod 2 = {x} and y mod 2 = {y} }}")
         for y, x in product(range(2), range(2))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """PE[x, y] with `x[0] <= x <= x[1]` and `y[0] <= y <= y[1]` in a pattern."""

    x: tuple[int, int]
    y: tuple[int, int]
    pattern: Residues


def find_rectangles(pes: isl.Set) -> list[Rectangle] | None:
    """Return rectangles of which a bounded set { PE[x, y] } is the union, from north to south.

    None where it has other shapes.
    """
    parts = [_bound(each) for each in pes.get_basic_sets()]
    columns, rows = (_cut([getattr(part, axis) for part in parts]) for axis in "xy")
    cells = {(i, j): 0 for j in range(len(rows)) for i in range(len(columns))}
    for (i, j), part in product(cells, parts):
        if part.x[0] <= columns[i][0] <= part.x[1] and part.y[0] <= rows[j][0] <= part.y[1]:
            cells[i, j] |= part.pattern & _find_residues(columns[i], rows[j])
    patterns = [each for each in PATTERNS
                if each == ALL or any(part.pattern != ALL for part in parts)]
    found = list(_cover(cells, columns, rows, patterns))
    whole = isl.Set("{ " + "; ".join(["PE[x, y] : false", *map(spell_rectangle, found)]) + " }")
    return found if whole.is_equal(pes) else None


def spell_rectangle(rectangle: Rectangle) -> str:
    """Return the PEs of a rectangle, `PE[x, 3] : 0 <= x <= 5`."""
    ends = {"x": rectangle.x, "y": rectangle.y}
    names = [str(low) if low == high else axis for axis, (low, high) in ends.items()]
    pattern = PATTERNS[rectangle.pattern]
    for axis, (low, high) in ends.items():
        if low == high and "+" in pattern:
            other, parity = "yx"["xy".index(axis)], int(pattern[-1])
            pattern = f"{other} mod 2 = {(parity - low) % 2}"
        elif low == high and pattern.startswith(axis):
            pattern = ""
    bounds = [f"{low} <= {axis} <= {high}" for axis, (low, high) in ends.items() if low < high]
    said = " and ".join(filter(None, [pattern, *bounds]))
    return f"PE[{', '.join(names)}]" + (f" : {said}" if said else "")


def _bound(part: isl.BasicSet) -> Rectangle:
    """Return the rectangle around a conjunction, and which PEs of four are in it."""
    plain = isl.Set.from_basic_set(part)
    ends = bounding_box(plain)
    pattern = ALL
    if part.dim(DIV):
        pattern = sum(1 << k for k, each in enumerate(APART) if not plain.is_disjoint(each))
    return Rectangle(x=ends[0], y=ends[1], pattern=pattern)


def _cut(intervals: Intervals) -> Intervals:
    """Return the intervals between all places where one begins or ends."""
    places = sorted({low for low, _ in intervals} | {high + 1 for _, high in intervals})
    return [(low, high - 1) for low, high in pairwise(places)]


def _find_residues(x: tuple[int, int], y: tuple[int, int]) -> Residues:
    """Return which PEs of four there are in a rectangle."""
    columns = ALL if x[0] < x[1] else 0b0101 << x[0] % 2
    rows = ALL if y[0] < y[1] else 0b0011 << 2 * (y[0] % 2)
    return columns & rows


def _cover(
    cells: Cells, columns: Intervals, rows: Intervals, patterns: Sequence[Residues]
) -> Iterator[Rectangle]:
    """Yield rectangles until all of the cells are covered, a large one from each cell on."""
    for cell in cells:
        while cells[cell]:
            grown = [each for pattern in patterns if pattern & cells[cell]
                     for each in _grow(cells, columns, rows, cell, pattern)]
            if not grown:
                return
            rectangle, covered = max(grown, key=lambda each: _count(each[0]))
            for each in covered:
                cells[each] &= ~rectangle.pattern
            yield rectangle


def _grow(
    cells: Cells, columns: Intervals, rows: Intervals, first: tuple[int, int], pattern: Residues
) -> Iterator[tuple[Rectangle, list[tuple[int, int]]]]:
    """Yield rectangles around a cell, and their cells: one grown in its row first, one southwards.

    What each cell has of the pattern must be there, and not be covered yet.
    """
    def has_room(i: int, j: int) -> bool:
        if (i, j) not in cells:
            return False
        wanted = pattern & _find_residues(columns[i], rows[j])
        return wanted & cells[i, j] == wanted

    if not has_room(*first):
        return
    for order in ("EWS", "SEW"):
        west = east = first[0]
        south = first[1]
        for side in order:
            if side == "E":
                while all(has_room(east + 1, j) for j in range(first[1], south + 1)):
                    east += 1
            elif side == "W":
                while all(has_room(west - 1, j) for j in range(first[1], south + 1)):
                    west -= 1
            else:
                while all(has_room(i, south + 1) for i in range(west, east + 1)):
                    south += 1
        x, y = (columns[west][0], columns[east][1]), (rows[first[1]][0], rows[south][1])
        covered = product(range(west, east + 1), range(first[1], south + 1))
        yield _trim(x, y, pattern), list(covered)


def _trim(x: tuple[int, int], y: tuple[int, int], pattern: Residues) -> Rectangle:
    """Return a rectangle without columns and rows at its ends that have no PE of a pattern."""
    def has_column(column: int) -> bool:
        return bool(_find_residues((column, column), y) & pattern)

    def has_row(row: int) -> bool:
        return bool(_find_residues(x, (row, row)) & pattern)

    x = x[0] + (not has_column(x[0])), x[1] - (not has_column(x[1]))
    y = y[0] + (not has_row(y[0])), y[1] - (not has_row(y[1]))
    return Rectangle(x=x, y=y, pattern=pattern)


def _count(rectangle: Rectangle) -> float:
    """Return how many PEs a rectangle has; patterns of few PEs count for little."""
    (left, right), (top, bottom) = rectangle.x, rectangle.y
    area = (right - left + 1) * (bottom - top + 1)
    if rectangle.pattern == ALL:
        return area
    pes = (area + 1) // 2 if area > 1 else 1
    return pes if pes >= FEWEST else 0.5
