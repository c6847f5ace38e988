"""Bases in which a set may be a box: unimodular matrices of the directions of its facets.

Source   Verdoolaege, Seghir, Beyls, Loechner, Bruynooghe, Counting integer points in parametric
         polytopes using Barvinok's rational functions, Algorithmica 48, 2007, Sec. 7

A set is a box { low <= U i < low + size } only if each row of U is the direction of two of its
facets, parallel to each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import comb, gcd, prod

import islpy as isl

from lairmake.stages.poly.box_hull import box_hull
from lairmake.stages.poly.integers import hermite, linear_map

SET, DIV = isl.dim_type.set, isl.dim_type.div
MOST_TRIED = 1000
"""Directions are joined to bases in at most so many ways."""

Direction = tuple[int, ...]


def bases(elements: isl.Set, context: isl.Set) -> Iterator[isl.Map]:
    """Yield { [i] -> [U i] } for unimodular U of facets' directions, those of small boxes first.

    A direction counts only if the set has a fixed size along it. Bases of unit vectors are left
    out.
    """
    width = elements.dim(SET)
    sizes = {d: n for d in _directions(elements) if (n := _size(elements, d, context)) is not None}
    chosen = sorted(sizes, key=lambda d: (sizes[d], d))
    while comb(len(chosen), width) > MOST_TRIED:
        chosen.pop()
    found = [rows for rows in itertools.combinations(chosen, width) if _is_basis(rows)]
    for rows in sorted(found, key=lambda rows: prod(sizes[d] for d in rows)):
        yield linear_map(rows, width)


def _directions(elements: isl.Set) -> list[Direction]:
    """Return the directions of the facets of all disjuncts, and the unit vectors."""
    width = elements.dim(SET)
    found = {tuple(int(k == position) for k in range(width)) for position in range(width)}
    for basic in elements.remove_divs().get_basic_sets():
        for constraint in basic.get_constraints():
            row = [constraint.get_coefficient_val(SET, k).to_python() for k in range(width)]
            if any(row):
                found.add(_primitive(row))
    return sorted(found)


def _primitive(row: list[int]) -> Direction:
    """Return a direction without common factor, its first entry but zeros positive."""
    sign = 1 if next(entry for entry in row if entry) > 0 else -1
    return tuple(sign * entry // gcd(*row) for entry in row)


def _size(elements: isl.Set, direction: Direction, context: isl.Set) -> int | None:
    """Return the fixed size of a set along a direction; None if it has none."""
    hull = box_hull(elements.apply(linear_map([direction], len(direction))), context)
    return None if hull is None else hull.size[0]


def _is_basis(rows: tuple[Direction, ...]) -> bool:
    """Are the rows a unimodular matrix, and not just unit vectors?"""
    echelon, _ = hermite(rows, len(rows))
    unimodular = all(echelon[k][k] == 1 for k in range(len(rows)))
    return unimodular and any(sum(map(abs, row)) > 1 for row in rows)
