"""The lattice of a set: the differences between its elements for the same symbolic constants.

Paper    V Sec. 5.2, Ex. 5.7, goes without this

The affine hull of { d' - d }, symbolic constants projected out, is a lattice L = { B k } through 0.
So for each value p of the constants the set lies in r(p) + L.  Columns of B are in echelon form
(pivots h), and r is made unique by 0 <= r < h where there is a pivot: then d = r(p) + B k.  A pivot
that is not 1 is a stride; a missing one an equality, even one that is not written in the set, or
not in the same way in all its disjuncts.
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.poly.bind import PARAM, project_names
from lairmake.stages.poly.bounds import bound_set
from lairmake.stages.poly.integers import (
    Matrix,
    find_pivot_rows,
    hermite,
    hull_equalities,
    linear_map,
)
from lairmake.stages.poly.simple import simplify

SET = isl.dim_type.set


def directions(elements: isl.Set) -> Matrix:
    """Return a basis of the lattice of a set, one direction a row; none if the set is empty."""
    if elements.is_empty():
        return []
    deltas = isl.Map.from_domain_and_range(elements, elements).deltas()
    projected = project_names(deltas, deltas.get_var_names_not_none(PARAM))
    equalities, width = hull_equalities(projected)
    echelon, unimodular = hermite([row[:width] for row in equalities], width)
    rank = len(find_pivot_rows(echelon))
    columns = [row[rank:] for row in unimodular[: elements.dim(SET)]]
    return [list(direction) for direction in zip(*columns, strict=True)]


def along_lattice(elements: isl.Set) -> isl.Map | None:
    """Return [p] -> { [k] -> [r(p) + B k] }, on which the set has neither strides nor equalities.

    None if it has none as it is, or is empty. Ensures that the map is injective for each p, and
    that every element of the set is in its range.
    """
    size = elements.dim(SET)
    if size == 0 or elements.is_empty():
        return None
    rows = [list(row) for row in zip(*directions(elements), strict=True)] or [[]] * size
    echelon, _ = hermite(rows, len(rows[0]))
    pivots = find_pivot_rows(echelon)
    basis = [row[: len(pivots)] for row in echelon]
    heights = {row: basis[row][column] for column, row in enumerate(pivots)}
    if heights == dict.fromkeys(range(size), 1):
        return None
    steps = _linear(elements.space, basis, len(pivots))
    residue = _residue(elements, steps.range(), heights)
    from_residue = isl.Map.from_domain_and_range(steps.domain(), residue)
    return from_residue.sum(steps.align_params(residue.space))


def _linear(space: isl.Space, basis: Matrix, width: int) -> isl.Map:
    """Return { [k] -> [B k] }, into the tuple of the space."""
    found, name = linear_map(basis, width), space.get_tuple_name(SET)
    return found if name is None else found.set_tuple_name(isl.dim_type.out, name)


def _residue(elements: isl.Set, lattice: isl.Set, heights: dict[int, int]) -> isl.Set:
    """Return [p] -> { [r] : r in elements + L, 0 <= r < h where there is a pivot h }."""
    near = isl.Set.universe(lattice.space)
    for position, height in heights.items():
        near = near.lower_bound_val(SET, position, 0).upper_bound_val(SET, position, height - 1)
    residue = elements.sum(lattice.align_params(elements.space)).intersect(near)
    return bound_set(residue, [_value(residue, k) for k in range(residue.dim(SET))])


def _value(residue: isl.Set, position: int) -> isl.PwAff:
    return simplify(residue.dim_min(position), residue.params())
