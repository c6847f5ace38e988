"""Integer matrices and systems of inequalities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import islpy as isl

from lairmake.stages.poly.canonical import letters

PARAM, SET, DIV = isl.dim_type.param, isl.dim_type.set, isl.dim_type.div

# --- Integer matrices and linear systems ----------------------------------------------------------

Matrix: TypeAlias = list[list[int]]
"""Rows of integers."""


def read_matrix(matrix: isl.Mat) -> Matrix:
    """Return the elements of an isl matrix."""
    return [
        [matrix.get_element_val(row, column).to_python() for column in range(matrix.cols())]
        for row in range(matrix.rows())
    ]


def make_matrix(rows: Sequence[Sequence[int]], width: int) -> isl.Mat:
    """Return a matrix of isl with the given rows, each `width` long."""
    matrix = isl.Mat.alloc(isl.DEFAULT_CONTEXT, len(rows), width)
    for row, entries in enumerate(rows):
        for column, entry in enumerate(entries):
            matrix = matrix.set_element_val(row, column, entry)
    return matrix


def hull_equalities(elements: isl.Set) -> tuple[Matrix, int]:
    """Return the equalities of a set's affine hull, and the number of their variables.

    Each row has the coefficients of the set's dimensions, of existentials as further variables,
    of the symbolic constants, and the constant term; the row's sum is 0 for every element.
    """
    lifted = elements.affine_hull().lift().flatten()
    equalities = lifted.equalities_matrix(SET, isl.dim_type.div, PARAM, isl.dim_type.cst)
    return read_matrix(equalities), lifted.dim(SET)


def hermite(rows: Sequence[Sequence[int]], width: int) -> tuple[Matrix, Matrix]:
    """Return (H, U) with A U = H, for the `rows` of A, each `width` long.

    U is unimodular and H in column echelon form: each row has at most one pivot, which is
    positive, the pivots' columns are 0, 1, ..., and the entries right of a pivot are 0.
    """
    echelon, unimodular, _ = make_matrix(rows, width).left_hermite(0)
    return read_matrix(echelon), read_matrix(unimodular)


def find_pivot_rows(echelon: Matrix) -> list[int]:
    """Return, for each pivot of a matrix in column echelon form, its row."""
    found: list[int] = []
    for row, entries in enumerate(echelon):
        if len(found) < len(entries) and entries[len(found)] != 0:
            found.append(row)
    return found


def find_independent_columns(rows: Matrix, width: int) -> Matrix:
    """Return a basis, as columns, of the lattice that the columns of a matrix span.

    Columns that are independent already are returned as they are.
    """
    echelon, _ = hermite(rows, width)
    rank = len(find_pivot_rows(echelon))
    return rows if rank == width else [row[:rank] for row in echelon]


def solve(rows: Matrix, right: Sequence[int], width: int) -> list[int] | None:
    """Return an integer solution x of `rows x = right`; None if there is none."""
    solution = find_solutions(rows, right, width)
    return None if solution is None else solution[0]


def find_solutions(
    rows: Sequence[Sequence[int]], right: Sequence[int], width: int
) -> tuple[list[int], Matrix] | None:
    """Return one integer solution x of `rows x = right`, and K: all of them are x + K y.

    None if there is none. K has a row for each of the `width` variables.
    """
    echelon, unimodular = hermite(rows, width)
    found: list[int] = []
    pivots = set(find_pivot_rows(echelon))
    for row, (entries, value) in enumerate(zip(echelon, right, strict=True)):
        rest = value - sum(a * y for a, y in zip(entries, found, strict=False))
        if row in pivots and rest % entries[len(found)] == 0:
            found.append(rest // entries[len(found)])
        elif rest != 0:
            return None
    solution = [sum(a * y for a, y in zip(row, found, strict=False)) for row in unimodular]
    return solution, [row[len(found) :] for row in unimodular]


def linear_map(rows: Sequence[Sequence[int]], width: int) -> isl.Map:
    """Return { [i] -> [A i] } for the `rows` of A, each `width` long."""
    names = letters(width)
    sums = [" + ".join(f"{a} {n}" for a, n in zip(row, names, strict=True)) for row in rows]
    return isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(each or '0' for each in sums)}] }}")

# --- Affine inequalities, and changes of their variables ------------------------------------------
#
# A row `(a, c)` says `a z + c >= 0` of the integer variables z. A change of variables is affine,
# `z = forms (y, 1)`, and maps the integer solutions y one to one onto the integer solutions z.

Row: TypeAlias = tuple[int, ...]
"""The coefficients of the variables, and the constant term."""

Rows: TypeAlias = tuple[Row, ...]
KINDS = (SET, DIV, PARAM, isl.dim_type.cst)


def list_rows(elements: isl.BasicSet) -> tuple[Rows, Rows, int]:
    """Return the equalities, the inequalities and the number of variables of a set without tuple.

    Floors are further variables, with one value for each element; all of them must be known.
    """
    floors = elements.dim(DIV)
    width = elements.dim(SET) + floors
    equalities, inequalities = _read(elements)
    found = [_remainder(elements.get_div(k), elements.dim(SET) + k) for k in range(floors)]
    return equalities, (*inequalities, *(row for pair in found for row in pair)), width


def _read(elements: isl.BasicSet) -> tuple[Rows, Rows]:
    matrices = elements.equalities_matrix(*KINDS), elements.inequalities_matrix(*KINDS)
    equalities, inequalities = (tuple(map(tuple, read_matrix(matrix))) for matrix in matrices)
    return equalities, inequalities


def _remainder(floor: isl.Aff, position: int) -> tuple[Row, Row]:
    """Return `0 <= a - d f` and `a - d f < d` for the variable f at a position, floor(a/d)."""
    divisor = floor.get_denominator_val()
    terms = [
        floor.get_coefficient_val(kind, k)
        for kind in (isl.dim_type.in_, DIV)
        for k in range(floor.dim(kind))
    ]
    row = [a.mul(divisor).to_python() for a in (*terms, floor.get_constant_val())]
    row[position] -= divisor.to_python()
    *others, last = row
    return tuple(row), (*(-a for a in others), divisor.to_python() - 1 - last)


def simplify(equalities: Rows, inequalities: Rows, width: int) -> tuple[Rows, Rows] | None:
    """Return equalities and inequalities without redundant ones; None if there is no solution."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, width)
    whole = isl.BasicSet.from_constraint_matrices(
        space, make_matrix(equalities, width + 1), make_matrix(inequalities, width + 1), *KINDS
    )
    whole = whole.detect_equalities().remove_redundancies()
    if whole.is_empty():
        return None
    found, rest = _read(whole)
    return found, tuple(sorted(rest))


def along(equalities: Rows, width: int) -> Rows | None:
    """Return the change to variables free of equalities; None if no integers solve them."""
    right = [-row[-1] for row in equalities]
    solution = find_solutions([row[:-1] for row in equalities], right, width)
    if solution is None:
        return None
    return tuple((*row, at) for at, row in zip(*solution, strict=True))


def change_variables(rows: Rows, forms: Rows, width: int) -> Rows:
    """Return rows in `width` new variables, the old ones being affine forms of them."""
    return tuple(
        tuple(
            sum(a * form[column] for a, form in zip(row[:-1], forms, strict=True))
            + (row[-1] if column == width else 0)
            for column in range(width + 1)
        )
        for row in rows
    )


def identity(width: int) -> list[list[int]]:
    """Return the change of variables that changes nothing."""
    return [[int(k == column) for k in range(width + 1)] for column in range(width)]


def shorten(rows: Rows, width: int) -> Rows | None:
    """Return a change that makes the sum of absolute coefficients smaller; None if none is found.

    Changes are tried that make a variable of `a z`, where its value lies within two bounds and some
    coefficient of a is 1 or -1 and another is neither: of a remainder of a floor, for example.
    """
    directions = {row[:-1] for row in rows}
    size = _size(rows)
    for row in sorted(directions):
        bounded = tuple(-a for a in row) in directions
        if bounded and max(map(abs, row)) > 1:
            for position in (k for k, a in enumerate(row) if abs(a) == 1):
                forms = _as_variable(row, position, width)
                if _size(change_variables(rows, forms, width)) < size:
                    return forms
    return None


def _as_variable(row: Row, position: int, width: int) -> Rows:
    """Return the change that makes `row z` the variable at a position, of coefficient 1 or -1."""
    forms = identity(width)
    forms[position] = [*(-row[position] * a for a in row), 0]
    forms[position][position] = 1
    return tuple(map(tuple, forms))


def parts(rows: Rows, width: int) -> list[Rows]:
    """Return the rows by variables that no row ties to others, each part in its variables only.

    A variable without rows is a part without rows.
    """
    group = list(range(width))
    for row in rows:
        tied = {group[k] for k, a in enumerate(row[:-1]) if a}
        group = [min(tied) if g in tied else g for g in group]
    found = []
    for each in sorted(set(group)):
        inside = [k for k, g in enumerate(group) if g == each]
        found.append(tuple(
            (*(row[k] for k in inside), row[-1]) for row in rows if any(row[k] for k in inside)
        ))
    return found


def _size(rows: Rows) -> int:
    return sum(abs(a) for row in rows for a in row[:-1])
