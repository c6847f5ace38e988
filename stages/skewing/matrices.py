"""Integer matrices of transformations that eliminate broadcasts.

Paper    M Sec. III.A, III.D
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from stages.poly.integers import Matrix, hermite, pivot_rows

Vector = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution:
    """The normal `old` of a reuse space becomes `old + step`."""

    old: Vector
    step: Vector


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


def kernel(rows: Sequence[Sequence[int]], width: int) -> Matrix:
    """Return a basis of the integer x with `rows x = 0`, one vector a row."""
    if not rows:
        return identity(width)
    echelon, unimodular = hermite(rows, width)
    free = range(len(pivot_rows(echelon)), width)
    return [[row[column] for row in unimodular] for column in free]


def substitutions(
    reuse: Sequence[Sequence[int]], placement: Sequence[Sequence[int]], width: int, sign: int = -1
) -> list[Substitution]:
    """Return which normals of a reuse space change, and how, by the general method of Sec. III.A.

    A normal that depends on those of the placement space and on those before it gets a vector of
    the kernel of all of them, with the given sign. Each reduces the broadcast space by one.
    """
    free = kernel([*reuse, *placement], width)
    visited = [list(row) for row in placement]
    found: list[Substitution] = []
    for row in reuse:
        changed = list(row)
        if rank([*visited, changed]) == rank(visited) and free:
            step = tuple(sign * entry for entry in free.pop(0))
            found.append(Substitution(old=tuple(row), step=step))
            changed = [a + b for a, b in zip(row, step, strict=True)]
        visited.append(changed)
    return found


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
