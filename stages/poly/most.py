"""The most elements that one point has in a relation."""

from __future__ import annotations

from math import prod

import islpy as isl

from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.extents import find_shape
from lairmake.stages.poly.least import least
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

MOST_FOR_COUNT = 2_000_000
"""What counting the elements may take in isl's own unit."""


def count_most(relation: isl.Map) -> int:
    """Return how many elements { [p] -> T[e] } one point p has, the most of any, or some more.

    These are { e - first(p) }, of all points together: as many as each has where all are alike.
    Where isl needs long, or that is no fewer, those of the largest box around the elements of one.
    """
    box = prod(find_shape(relation.reverse().apply_range(relation).deltas()))
    try:
        with limit_operations(MOST_FOR_COUNT):
            every = least(relation).range_product(relation).range().unwrap().deltas()
            return min(box, cardinality(every))
    except (TooManyOperations, ArithmeticError, ValueError):
        return box
