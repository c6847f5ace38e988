"""The parts of the grid that differ in how many neighbours a PE has: edges, corners, inside."""

from __future__ import annotations

import itertools

import islpy as isl

from lairmake.stages.poly.sides import Rectangle, bounding_rectangle


def regions(pes: isl.Set) -> dict[str, isl.Set]:
    """Return the parts of { PE[x, y] } by name, `north_west` to `inside`, those that have PEs.

    A grid of one row is all north, one of one column all west.
    """
    around = bounding_rectangle(pes)
    found = {
        "_".join(filter(None, (row, column))) or "inside": part.as_set().intersect(pes)
        for (row, top, bottom), (column, left, right) in itertools.product(
            _bands("north", "south", around.top, around.bottom),
            _bands("west", "east", around.left, around.right),
        )
        for part in [Rectangle(left=left, top=top, right=right, bottom=bottom)]
    }
    return {name: part for name, part in found.items() if not part.is_empty()}


def _bands(first: str, last: str, low: int, high: int) -> list[tuple[str, int, int]]:
    """Return the names and bounds of the first coordinate, those between, and the last one."""
    bands = [(first, low, low), ("", low + 1, high - 1), (last, high, high)]
    return bands[:1] if low == high else bands
