"""Rectangles of PEs with properties, put together as Paint does; nothing goes through their PEs.

A property is a relation `{ PE[x, y] -> value[...] }`. Stacks and repetitions move such relations,
so what they take does not grow with the sizes of regions, which are whole numbers.

Paper    E Sec. 6.2: tiles, stacks, place and union; names are those of Paint
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce

import islpy as isl

from lairmake.stages.poly.canonical import find_example


class ClashError(ValueError):
    """Two regions have another value for a property of one PE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """`width` x `height` PEs from PE[0, 0] on: x grows to the east, y to the south.

    `painted` has by property what is painted on which PEs, all of them inside.
    """

    width: int
    height: int
    painted: Mapping[str, isl.UnionMap] = field(default_factory=dict)

    @property
    def pes(self) -> isl.UnionSet:
        """{ PE[x, y] : 0 <= x < width and 0 <= y < height }."""
        return _list_pes(self.width, self.height)


@lru_cache(maxsize=1024)
def _list_pes(width: int, height: int) -> isl.UnionSet:
    return isl.UnionSet(f"{{ PE[x, y] : 0 <= x < {width} and 0 <= y < {height} }}")


@lru_cache(maxsize=1024)
def _read_values(text: str) -> isl.UnionMap:
    return isl.UnionMap(f"{{ {text} }}")


def tile(width: int = 1, height: int = 1) -> Region:
    """Return a region on which nothing is painted yet."""
    return Region(width=width, height=height)


def paint(region: Region, properties: Mapping[str, str]) -> Region:
    """Return a region with further properties: `{name: "PE[x, y] -> [2x]"}`.

    Raises ClashError where one is painted already, with another value.
    """
    painted = {name: _read_values(text).intersect_domain(region.pes)
               for name, text in properties.items()}
    return unite(region, Region(width=region.width, height=region.height, painted=painted))


def place(region: Region, x: int, y: int) -> Region:
    """Return a region moved to PE[x, y], neither less than 0: nothing is painted before it."""
    moved = _map_painted(region, isl.UnionMap(f"{{ PE[x, y] -> PE[x + {x}, y + {y}] }}"))
    return Region(width=x + region.width, height=y + region.height, painted=moved)


def unite(*regions: Region) -> Region:
    """Return regions above each other.

    Raises ClashError with property and PE where two have another value for one.
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
    return Region(width=max((each.width for each in regions), default=0),
                  height=max((each.height for each in regions), default=0), painted=painted)


def hstack(*regions: Region) -> Region:
    """Return regions beside each other, the first one in the west."""
    return reduce(lambda left, right: unite(left, place(right, left.width, 0)), regions)


def vstack(*regions: Region) -> Region:
    """Return regions below each other, the first one in the north."""
    return reduce(lambda upper, lower: unite(upper, place(lower, 0, upper.height)), regions)


def hstackrep(region: Region, width: int) -> Region:
    """Return a region repeated to the east until it fills a width; the last one may be cut."""
    filled = Region(width=width, height=region.height)
    return _repeat(region, f"PE[x', y] : exists k : k >= 0 and x' = x + {region.width}k", filled)


def vstackrep(region: Region, height: int) -> Region:
    """Return a region repeated to the south until it fills a height; the last one may be cut."""
    filled = Region(width=region.width, height=height)
    return _repeat(region, f"PE[x, y'] : exists k : k >= 0 and y' = y + {region.height}k", filled)


def alternate(first: Region, second: Region) -> Region:
    """Return a checkerboard of two regions of one size: of the first where x + y is even."""
    def choose(region: Region, parity: int) -> Region:
        pes = region.pes.intersect(isl.UnionSet(f"{{ PE[x, y] : (x + y) mod 2 = {parity} }}"))
        return _cut_region(region.painted, region, pes)

    return unite(choose(first, 0), choose(second, 1))


def split(region: Region, rows: int) -> tuple[Region, Region]:
    """Return the first rows of a region, and the others."""
    upper = Region(width=region.width, height=min(rows, region.height))
    lower = Region(width=region.width, height=region.height - upper.height)
    moved = _map_painted(region, isl.UnionMap(f"{{ PE[x, y] -> PE[x, y - {upper.height}] }}"))
    return _cut_region(region.painted, upper, upper.pes), _cut_region(moved, lower, lower.pes)


def _repeat(region: Region, to: str, filled: Region) -> Region:
    """{ PE[x, y] -> PE[x + width k, y] : k >= 0 }, as far as PEs lie in what is to be filled."""
    moves = isl.UnionMap(f"{{ PE[x, y] -> {to} }}")
    return _cut_region(_map_painted(region, moves), filled, filled.pes)


def _cut_region(painted: Mapping[str, isl.UnionMap], like: Region, pes: isl.UnionSet) -> Region:
    """Return what is painted on some PEs, as a region as large as another."""
    kept = {name: values.intersect_domain(pes) for name, values in painted.items()}
    return Region(width=like.width, height=like.height, painted={
        name: values for name, values in kept.items() if not values.is_empty()})


def _map_painted(region: Region, moves: isl.UnionMap) -> dict[str, isl.UnionMap]:
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

