"""Functions that are the same number everywhere."""

from __future__ import annotations

import islpy as isl

from lairmake.stages.poly.extremes import greatest_value, least_value


def find_same(function: isl.PwAff) -> int | None:
    """Return the number that a function is wherever it has a value; None for other functions.

    isl's `is_cst` holds of functions of which each piece is a constant, one of its own.
    """
    if not function.is_cst():
        return None
    least, most = least_value(function.floor()), greatest_value(function.floor())
    return most.to_python() if least.eq(most) else None
