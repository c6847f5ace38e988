"""Integer matrices of spaces, and of transformations that eliminate broadcasts.

Paper    M Sec. III.A, III.D
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from lairmake.stages.poly.integers import Matrix, hermite


def rank(rows: Iterable[Sequence[int]]) -> int:
    """Return the rank of a matrix; 0 of one without rows."""
    left, found = [list(row) for row in rows if any(row)], 0
    while left:
        pivot = left.pop()
        column = next(k for k, entry in enumerate(pivot) if entry)
        reduced = [_without(row, pivot, column) for row in left]
        left, found = [row for row in reduced if any(row)], found + 1
    return found


def _without(row: list[int], pivot: list[int], column: int) -> list[int]:
    """Return a combination of two rows that is 0 in a column."""
    if not row[column]:
        return row
    combined = [a * pivot[column] - b * row[column] for a, b in zip(row, pivot, strict=True)]
    shared = gcd(*combined)
    return [entry // shared for entry in combined] if shared else combined


def identity(width: int) -> Matrix:
    """Return the matrix with ones on its diagonal."""
    return [[int(row == column) for column in range(width)] for row in range(width)]


def is_unimodular(matrix: Matrix) -> bool:
    """Say whether a square matrix has an inverse of integers."""
    echelon, _ = hermite(matrix, len(matrix))
    return all(echelon[k][k] == 1 for k in range(len(matrix)))


def is_lower_triangular(matrix: Matrix) -> bool:
    """Say whether a matrix is lower triangular with ones on its diagonal (Sec. III.D)."""
    return all(
        entry == int(row == column)
        for row, entries in enumerate(matrix)
        for column, entry in enumerate(entries)
        if column >= row
    )
