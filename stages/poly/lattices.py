"""Lattice of a set, bases, linear accesses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, gcd, prod

import islpy as isl

from lairmake.stages.poly.box import bound_set, box_hull
from lairmake.stages.poly.functions import find_function, project_names, simplify
from lairmake.stages.poly.integers import (
    Matrix,
    find_pivot_rows,
    hermite,
    hull_equalities,
    linear_map,
    solve,
)

PARAM, IN, OUT, SET, DIV = (
    isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div,
)

# --- Lattice of a set -----------------------------------------------------------------------------
#
# Paper    V Sec. 5.2, Ex. 5.7, goes without this
#
# The affine hull of { d' - d }, symbolic constants projected out, is a lattice L = { B k } through
# 0. So for each value p of the constants the set lies in r(p) + L.  Columns of B are in echelon
# form (pivots h), and r is made unique by 0 <= r < h where there is a pivot: then d = r(p) + B k.
# A pivot that is not 1 is a stride; a missing one an equality, even one that is not written in the
# set, or not in the same way in all its disjuncts.

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
    # A pivot of 1 in every dimension: L has all whole numbers, and nothing is to be taken out. None
    # never says that no lattice was found: there is one for every set that has elements.
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

# --- Bases for sets that may be boxes -------------------------------------------------------------
#
# Source   Verdoolaege, Seghir, Beyls, Loechner, Bruynooghe, Counting integer points in parametric
#          polytopes using Barvinok's rational functions, Algorithmica 48, 2007, Sec. 7
#
# A set is a box { low <= U i < low + size } only if each row of U is the direction of two of its
# facets, parallel to each other.

MOST_TRIED = 1000
"""The most ways in which directions are joined to bases."""

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

# --- Linear form of an access ---------------------------------------------------------------------
#
# Paper    V Sec. 3 and Sec. 5, condition 4
#
# For two instances d and d' of one task invocation let delta = d' - d.  An access f is linear with
# coefficients A iff f(d') - f(d) = A delta for all pairs.  A follows from a basis of the lattice of
# the pairs (d, f(d)).  The constant f(d) - A d then has one value for each value of the symbolic
# constants.

@dataclass(frozen=True, slots=True, kw_only=True)
class LinearForm:
    """An access `T[d] -> U[constant(p) + coefficients d]`.

    `coefficients` has one row per dimension of U and one column per dimension of T; `constant`
    has one piecewise quasi-affine function of the symbolic constants per dimension of U.  They
    are simplified with respect to the symbolic constants for which the access is not empty, and
    hold only there.
    """

    coefficients: tuple[tuple[int, ...], ...]
    constant: tuple[isl.PwAff, ...]


def linear_form(access: isl.Map, context: isl.Set) -> LinearForm | None:
    """Return the linear form of a single-valued access within the context; None if it has none.

    A dimension with one value per invocation has coefficient 0.
    Ensures that the form is equal to the access on the access's domain.
    """
    known = access.intersect_params(context)
    width, height = known.dim(IN), known.dim(OUT)
    basis = directions(known.wrap().flatten())
    coefficients = [
        solve([row[:width] for row in basis], [row[width + out] for row in basis], width)
        for out in range(height)
    ]
    found = [row for row in coefficients if row is not None]
    return _with_constant(known, found) if len(found) == height else None


def _with_constant(access: isl.Map, coefficients: Matrix) -> LinearForm | None:
    """Return the form with constant `f(d) - A d`; None if that depends on d."""
    linear = _linear_function(access.space, coefficients)
    rest = access.sum(isl.Map.from_multi_aff(linear.neg())).range()
    if not isl.Map.from_range(rest).is_single_valued():
        return None
    domain = rest.params()
    constants = find_function(rest)
    return LinearForm(
        coefficients=tuple(tuple(row) for row in coefficients),
        constant=tuple(
            simplify(constants.get_pw_aff(position), domain)
            for position in range(access.dim(OUT))
        ),
    )


def _linear_function(space: isl.Space, coefficients: Matrix) -> isl.MultiAff:
    """Return `{ T[d] -> U[A d] }`."""
    result = isl.MultiAff.zero(space)
    for out, row in enumerate(coefficients):
        term = result.get_at(out)
        for position, factor in enumerate(row):
            term = term.set_coefficient_val(IN, position, factor)
        result = result.set_at(out, term)
    return result
