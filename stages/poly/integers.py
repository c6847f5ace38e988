"""Integer matrices: equalities of a set, left Hermite normal form, linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import islpy as isl

from lairmake.stages.poly.bind import PARAM
from lairmake.stages.poly.naming import letters

SET = isl.dim_type.set

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
