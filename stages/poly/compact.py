"""Coordinates in which a set has few holes: along its lattice, along its strips, or along both.

Paper    V Sec. 4.3 and 5.2, go without this

The box hull of a set holds what lies between its elements as well: of { [i] : i mod 8 = p }, seven
elements of eight.  Each change of coordinates is a function { [k] -> T[x] } that reaches all
elements of the set once; the box hull of the k is smaller.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import islpy as isl

from lairmake.stages.poly.box_hull import box_hull, count_hull, local_map
from lairmake.stages.poly.compression import Compressed
from lairmake.stages.poly.lattices import along_lattice
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.strips import along_strips

MOST_FOR_COMPACTING = 300_000
"""How much isl may work for a lattice, in its own unit: half a second."""


def compact(elements: isl.Set) -> isl.Map | None:
    """Return [p] -> { [k] -> T[x] } on which the box hull of a set is smallest.

    None if it is not smaller than that of the set, or isl needs long to tell. Ensures that the map
    is injective for each p, and that every element of the set is in its range.
    """
    best, strips = None, along_strips(elements)
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_FOR_COMPACTING):
        best = _smallest(elements, _changes(elements, strips))
    return strips if best is None else best


def fit(elements: isl.Set, name: str) -> tuple[tuple[int, ...], isl.Map]:
    """Return the size of a box, and [p] -> { T[x] -> name[k(x) - offset] } that puts a set in it.

    Size and offset are those of the fixed-size box hull, V (8) (9): of the set, or of a compact
    one, whose coordinates k(x) then are. Otherwise k(x) = x. The set must be bounded.
    """
    change = compact(elements)
    inner = elements if change is None else elements.apply(change.reverse())
    hull = box_hull(inner, quasi_affine=True)
    assert hull is not None, "a bounded set has a hull"
    local = local_map(hull, name)
    return hull.size, local if change is None else change.reverse().apply_range(local)


def drop_holes(compressed: Compressed) -> Compressed:
    """Return a compression to the coordinates of strips, where the box hull is smaller in them."""
    change = along_strips(compressed.set)
    if change is None:
        return compressed
    relation = change.apply_range(compressed.map)
    return Compressed(map=relation, set=compressed.set.apply(change.reverse()).coalesce())


def _smallest(elements: isl.Set, changes: Sequence[isl.Map]) -> isl.Map | None:
    """Return the change on which the box hull is smallest; None if that of the set is as small."""
    best, fewest = None, count_hull(elements) if changes else None
    for change in changes:
        number = count_hull(elements.apply(change.reverse()))
        if number is not None and (fewest is None or number < fewest):
            best, fewest = change, number
    return best


def _changes(elements: isl.Set, strips: isl.Map | None) -> list[isl.Map]:
    """Return the strips, the lattice, and the strips along the lattice, if there are any."""
    found, lattice = [] if strips is None else [strips], along_lattice(elements)
    if lattice is not None:
        within = along_strips(elements.apply(lattice.reverse()))
        found += [lattice] if within is None else [lattice, within.apply_range(lattice)]
    return found
