"""The transformation of the loops of a schedule that lets PEs lag behind each other.

Paper    M Sec. III.D, III.E, (4), (5)
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from lairmake.stages.poly.integers import Matrix, solve
from lairmake.stages.skewing.matrices import identity

IN = isl.dim_type.in_


def transformation(
    schedule: isl.Map, place: isl.Map, loops: Sequence[int], lag: Sequence[Sequence[int]]
) -> Matrix | None:
    """Return the matrix from the old to the new loops, a product of matrices 1 - a d, M (4).

    `lag` has a row for each of the loops; further ones are zeros. None where the coordinates of a
    PE are no combinations of loops, or schedule or placement is not linear.
    """
    old, places = _linear(schedule), _linear(place)
    if old is None or places is None:
        return None
    matrix = identity(len(old))
    columns = [list(column) for column in zip(*old, strict=True)]
    for loop, row in zip(loops, lag, strict=False):
        for factor, coordinate in zip(row, places, strict=True):
            found = solve(columns, coordinate, len(old)) if factor else identity(len(old))[0]
            if found is None:
                return None
            matrix[loop] = [a + factor * b for a, b in zip(matrix[loop], found, strict=True)]
    return matrix


def _linear(relation: isl.Map) -> Matrix | None:
    """Return the coefficients of a function { S[i] -> [...] }; None if it is not affine."""
    pieces: list[isl.MultiAff] = []
    relation.as_pw_multi_aff().foreach_piece(lambda _, function: pieces.append(function))
    rows = [pieces[0].get_at(k) for k in range(relation.dim(isl.dim_type.out))]
    if len(pieces) != 1 or any(row.dim(isl.dim_type.div) for row in rows):
        return None
    return [
        [row.get_coefficient_val(IN, k).to_python() for k in range(relation.dim(IN))]
        for row in rows
    ]
