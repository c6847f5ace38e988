"""Regions of PEs with properties, and sets of PEs as rectangles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import pairwise, product

import islpy as isl

from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import find_example

SET, DIV = isl.dim_type.set, isl.dim_type.div

# --- Sets of PEs as rectangles --------------------------------------------------------------------
#
# A rectangle has all of its PEs, those of a checkerboard, or those of stripes. isl may describe two
# single PEs, or two columns, by one conjunction: `y = 1 + x//5`. Here the plane is cut where a
# conjunction begins or ends, and the cells are joined again.

Residues = int
"""PEs out of four side by side, as bits: bit (x mod 2) + 2 (y mod 2)."""
Cells = dict[tuple[int, int], Residues]
"""The PEs of each cell that are not covered yet, by its column and row."""
Intervals = list[tuple[int, int]]

ALL: Residues = 0b1111
PATTERNS: dict[Residues, str] = {
    ALL: "", 0b1001: "(x + y) mod 2 = 0", 0b0110: "(x + y) mod 2 = 1",
    0b0101: "x mod 2 = 0", 0b1010: "x mod 2 = 1",
}
FEWEST = 3
"""Fewest PEs of a pattern; fewer are listed one by one."""
APART = [isl.Set(f"{{ PE[x, y] : x mod 2 = {x} and y mod 2 = {y} }}")
         for y, x in product(range(2), range(2))]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaintedRectangle:
    """PE[x, y] with `x[0] <= x <= x[1]` and `y[0] <= y <= y[1]` in a pattern."""

    x: tuple[int, int]
    y: tuple[int, int]
    pattern: Residues


def find_rectangles(pes: isl.Set) -> list[PaintedRectangle] | None:
    """Return rectangles whose union is a bounded set { PE[x, y] }, from north to south.

    Returns None for sets of other shapes.
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


def spell_rectangle(rectangle: PaintedRectangle) -> str:
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


def _bound(part: isl.BasicSet) -> PaintedRectangle:
    """Return the rectangle around a conjunction, with the pattern of its PEs."""
    plain = isl.Set.from_basic_set(part)
    ends = bounding_box(plain)
    pattern = ALL
    if part.dim(DIV):
        pattern = sum(1 << k for k, each in enumerate(APART) if not plain.is_disjoint(each))
    return PaintedRectangle(x=ends[0], y=ends[1], pattern=pattern)


def _cut(intervals: Intervals) -> Intervals:
    """Return the intervals between all places where one begins or ends."""
    places = sorted({low for low, _ in intervals} | {high + 1 for _, high in intervals})
    return [(low, high - 1) for low, high in pairwise(places)]


def _find_residues(x: tuple[int, int], y: tuple[int, int]) -> Residues:
    """Return the PEs out of four that a rectangle has."""
    columns = ALL if x[0] < x[1] else 0b0101 << x[0] % 2
    rows = ALL if y[0] < y[1] else 0b0011 << 2 * (y[0] % 2)
    return columns & rows


def _cover(
    cells: Cells, columns: Intervals, rows: Intervals, patterns: Sequence[Residues]
) -> Iterator[PaintedRectangle]:
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
) -> Iterator[tuple[PaintedRectangle, list[tuple[int, int]]]]:
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


def _trim(x: tuple[int, int], y: tuple[int, int], pattern: Residues) -> PaintedRectangle:
    """Return a rectangle without columns and rows at its ends that have no PE of its pattern."""
    def has_column(column: int) -> bool:
        return bool(_find_residues((column, column), y) & pattern)

    def has_row(row: int) -> bool:
        return bool(_find_residues(x, (row, row)) & pattern)

    x = x[0] + (not has_column(x[0])), x[1] - (not has_column(x[1]))
    y = y[0] + (not has_row(y[0])), y[1] - (not has_row(y[1]))
    return PaintedRectangle(x=x, y=y, pattern=pattern)


def _count(rectangle: PaintedRectangle) -> float:
    """Return the number of PEs of a rectangle; small patterns count as half a PE."""
    (left, right), (top, bottom) = rectangle.x, rectangle.y
    area = (right - left + 1) * (bottom - top + 1)
    if rectangle.pattern == ALL:
        return area
    pes = (area + 1) // 2 if area > 1 else 1
    return pes if pes >= FEWEST else 0.5

# --- Regions with properties ----------------------------------------------------------------------
#
# Regions are put together as in Paint; no loop runs over their PEs. A property is a relation `{
# PE[x, y] -> value[...] }`. Stacks and repetitions move such relations, so their cost does not grow
# with the sizes of regions, which are whole numbers.
#
# Paper    E Sec. 6.2: tiles, stacks, place and union; names are those of Paint

class ClashError(ValueError):
    """Two regions with different values of a property for one PE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaintedRegion:
    """`width` x `height` PEs from PE[0, 0] on: x grows to the east, y to the south.

    `painted` has the relation of each property; all of its PEs are inside of the region.
    """

    width: int
    height: int
    painted: Mapping[str, isl.UnionMap] = field(default_factory=dict)

    @property
    def pes(self) -> isl.UnionSet:
        """Return { PE[x, y] : 0 <= x < width and 0 <= y < height }."""
        return _list_pes(self.width, self.height)


@lru_cache(maxsize=1024)
def _list_pes(width: int, height: int) -> isl.UnionSet:
    return isl.UnionSet(f"{{ PE[x, y] : 0 <= x < {width} and 0 <= y < {height} }}")


@lru_cache(maxsize=1024)
def _read_values(text: str) -> isl.UnionMap:
    return isl.UnionMap(f"{{ {text} }}")


def tile(width: int = 1, height: int = 1) -> PaintedRegion:
    """Return a region without properties."""
    return PaintedRegion(width=width, height=height)


def paint(region: PaintedRegion, properties: Mapping[str, str]) -> PaintedRegion:
    """Return a region with further properties, such as `{name: "PE[x, y] -> [2x]"}`.

    Raises ClashError for a property that has another value already.
    """
    painted = {name: _read_values(text).intersect_domain(region.pes)
               for name, text in properties.items()}
    return unite(region, PaintedRegion(width=region.width, height=region.height, painted=painted))


def place(region: PaintedRegion, x: int, y: int) -> PaintedRegion:
    """Return a region moved to PE[x, y] (x, y >= 0), with unpainted PEs before it."""
    moved = _map_painted(region, isl.UnionMap(f"{{ PE[x, y] -> PE[x + {x}, y + {y}] }}"))
    return PaintedRegion(width=x + region.width, height=y + region.height, painted=moved)


def unite(*regions: PaintedRegion) -> PaintedRegion:
    """Return regions on top of each other.

    Raises ClashError, with the property and the PE, where two regions have different values.
    """
    painted: dict[str, isl.UnionMap] = {}
    for region in regions:
        for name, values in region.painted.items():
            known = painted.get(name)
            if known is None:
                painted[name] = values
                continue
            _check_same(name, known, values)
            painted[name] = known.union(values)
    return PaintedRegion(width=max((each.width for each in regions), default=0),
                  height=max((each.height for each in regions), default=0), painted=painted)


def hstack(*regions: PaintedRegion) -> PaintedRegion:
    """Return regions beside each other, the first one in the west."""
    return reduce(lambda left, right: unite(left, place(right, left.width, 0)), regions)


def vstack(*regions: PaintedRegion) -> PaintedRegion:
    """Return regions below each other, the first one in the north."""
    return reduce(lambda upper, lower: unite(upper, place(lower, 0, upper.height)), regions)


def hstackrep(region: PaintedRegion, width: int) -> PaintedRegion:
    """Return a region repeated to the east until it fills a width; the last one may be cut."""
    filled = PaintedRegion(width=width, height=region.height)
    return _repeat(region, f"PE[x', y] : exists k : k >= 0 and x' = x + {region.width}k", filled)


def vstackrep(region: PaintedRegion, height: int) -> PaintedRegion:
    """Return a region repeated to the south until it fills a height; the last one may be cut."""
    filled = PaintedRegion(width=region.width, height=height)
    return _repeat(region, f"PE[x, y'] : exists k : k >= 0 and y' = y + {region.height}k", filled)


def alternate(first: PaintedRegion, second: PaintedRegion) -> PaintedRegion:
    """Return a checkerboard of two regions of one size: of the first where x + y is even."""
    def choose(region: PaintedRegion, parity: int) -> PaintedRegion:
        pes = region.pes.intersect(isl.UnionSet(f"{{ PE[x, y] : (x + y) mod 2 = {parity} }}"))
        return _cut_region(region.painted, region, pes)

    return unite(choose(first, 0), choose(second, 1))


def split(region: PaintedRegion, rows: int) -> tuple[PaintedRegion, PaintedRegion]:
    """Return the first rows of a region, and the others."""
    upper = PaintedRegion(width=region.width, height=min(rows, region.height))
    lower = PaintedRegion(width=region.width, height=region.height - upper.height)
    moved = _map_painted(region, isl.UnionMap(f"{{ PE[x, y] -> PE[x, y - {upper.height}] }}"))
    return _cut_region(region.painted, upper, upper.pes), _cut_region(moved, lower, lower.pes)


def _repeat(region: PaintedRegion, to: str, filled: PaintedRegion) -> PaintedRegion:
    """Return a region repeated by { PE[x, y] -> `to` : k >= 0 }, cut to the size of `filled`."""
    moves = isl.UnionMap(f"{{ PE[x, y] -> {to} }}")
    return _cut_region(_map_painted(region, moves), filled, filled.pes)


def _cut_region(
    painted: Mapping[str, isl.UnionMap], like: PaintedRegion, pes: isl.UnionSet
) -> PaintedRegion:
    """Return the properties of some PEs, as a region of the size of another."""
    kept = {name: values.intersect_domain(pes) for name, values in painted.items()}
    return PaintedRegion(width=like.width, height=like.height, painted={
        name: values for name, values in kept.items() if not values.is_empty()})


def _map_painted(region: PaintedRegion, moves: isl.UnionMap) -> dict[str, isl.UnionMap]:
    return {name: values.apply_domain(moves) for name, values in region.painted.items()}


def _check_same(name: str, known: isl.UnionMap, values: isl.UnionMap) -> None:
    """Raise ClashError where both are defined on a PE, and differ."""
    both = known.domain().intersect(values.domain())
    if both.is_empty():
        return
    known, values = known.intersect_domain(both), values.intersect_domain(both)
    if known.is_equal(values):
        return
    wrong = known.subtract(values).union(values.subtract(known)).domain()
    place = isl.UnionSet.from_point(wrong.sample_point())
    first, second = (find_example(place.apply(each)) for each in (known, values))
    said = f"{name} of {find_example(place)} is painted {first} and {second}"
    raise ClashError(said)

# --- Properties: code, routes and geo-vars --------------------------------------------------------
#
#     code           { PE[x, y] -> worker[] }
#     COLOUR_0..3    { PE[x, y] -> [W[] -> ramp[]] }: what the router does in each position
#     COLOUR_counts  { PE[x, y] -> [n] }: how many positions its switch has
#     COLOUR_ring    { PE[x, y] -> [1] }: whether the first position follows the last
#     COLOUR_pop     { PE[x, y] -> [n] }: when the router pops a command, as layouts say it
#     geo_NAME       { PE[x, y] -> [] } for a condition, { PE[x, y] -> [n] } for a number
#
# Paper    E Sec. 6.2: code, let and ring, geo-vars; `R>C` of the paper is `E>ramp` here

CODE = "code"
GEO = "geo_"
COUNTS, RING, POP = "counts", "ring", "pop"
NEVER, ALWAYS = 0, 1
"""The values of `pop`: whether the router pops a command that it obeyed."""


def paint_code(region: PaintedRegion, role: str) -> PaintedRegion:
    """Return a region whose PEs run the program of a role."""
    return paint(region, {CODE: f"PE[x, y] -> {role}[]"})


def paint_routes(
    region: PaintedRegion, colour: str, *positions: str, ring: bool = True, pop: int = NEVER
) -> PaintedRegion:
    """Return a region whose routers send a colour on; a position is as `W>ramp,E`.

    Routers begin in the first position, and an advance takes them to the next one; with a `ring`
    the first position follows the last. Raises ClashError where the colour has other routes.
    """
    painted = {f"{colour}_{k}": _spell_routes(each) for k, each in enumerate(positions)}
    painted[f"{colour}_{COUNTS}"] = f"PE[x, y] -> [{len(positions)}]"
    painted[f"{colour}_{RING}"] = f"PE[x, y] -> [{int(ring)}]"
    painted[f"{colour}_{POP}"] = f"PE[x, y] -> [{pop}]"
    return paint(region, painted)


def paint_variable(
    region: PaintedRegion, name: str, value: str = "", where: str = ""
) -> PaintedRegion:
    """Return a region with a geo-var: a condition, or a number such as `2x + 1`.

    `where` is on which PEs, in x and y of the region: all of them if nothing is said.
    """
    constraint = f" : {where}" if where else ""
    return paint(region, {f"{GEO}{name}": f"PE[x, y] -> [{value}]{constraint}"})


def _spell_routes(position: str) -> str:
    heard, to = position.split(">")
    return "; ".join(f"PE[x, y] -> [{heard}[] -> {each}[]]" for each in to.split(","))

# --- Statements of paint.isl ----------------------------------------------------------------------
#
#     role_worker := { PE[x, y] : ... };
#     args_dist_0 := { [PE[x, y] -> E[]] -> ramp[] : ...; ... };     in each of its positions
#     args_dist_counts, args_dist_ring, args_dist_pop := { PE[x, y] -> [n] : ... };
#     geo_even := { PE[x, y] : ... };
#     geo_rows := { PE[x, y] -> [8] : ... };
#
# PEs are those of the fabric. Counts, ring and pop have the meaning of these keys in layouts; they
# are left out where a PE has all positions, a ring, and never pops.
#
# Geo-vars are facts about its PE that a program has when it is compiled. A geo-var is painted if
# the program uses its feature: a set for a condition, a relation for a number.
#
# of workers, if there are neighbours (Features.neighbours)
#     even         x + y of the field is even: sends on C1, takes on C0
#     has_west, has_east, has_north, has_south
#                  has that neighbour in the field: the taking switch has the states of these sides,
#                  the sending switch those whose opposite side is one of these
# of workers and reduction PEs, if there are sums (Features.sums)
#     farthest     of workers: sends last in its column (reduction_1); of reduction PEs: sends last
#                  in its strip (reduction_2). Sends a quiet [RESET] behind its value; others turn
# of reduction PEs, if there are sums
#     rows         [n]: number of values that it takes on reduction_1. With 0 (the upper strip of
#                  a field of one row) it begins with the neutral value, and takes part as all do
#     columns      [n]: number of values that it takes on reduction_2 beside its own: 0 but for
#                  inner PEs
#     upper_left, upper_right, lower_left, lower_right
#                  the four inner PEs. upper_right takes 3 values on reduction_4: upper_left sends
#                  its value and a quiet [ADVANCE], lower_right its value turning its own router,
#                  lower_left its value and a quiet [RESET]
# of response PEs, always
#     part         [n]: its part of each section: right 1, left 1, right 2...
#     outermost    sends last: [RESET, ADVANCE] behind its part, others [ADVANCE, ADVANCE]
#
# Paper    E Sec. 6.2: geo-vars such as reduction_reset_mask

ROLE = "role_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Painted:
    """A colour: its routes in each position, and its switches, as layouts spell them."""

    positions: tuple[str, ...]
    counts: str | None = None
    ring: str | None = None
    pop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Painting:
    """The content of paint.isl: PEs of each role, colours in order of numbers, and geo-vars.

    Geo-vars have names without `geo_`; a geo-var is a set { PE[x, y] }, or a map { PE[x, y] -> [n]
    }.
    """

    roles: Mapping[str, isl.Set]
    colours: Mapping[str, Painted]
    variables: Mapping[str, isl.Set | isl.Map]
