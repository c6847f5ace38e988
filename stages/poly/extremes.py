"""The least and the greatest value of a dimension of a set, and of a function.

isl searches for these by halves, and adds the bounds of each half to the set itself where that has
room for further constraints (`add_bounds` of isl_ilp.c has no copy of its own; islpy 2026.2.2). Of
sets that have equalities, such as `c mod 2 = 0`, it has been seen to return a value that is there,
but is not the last one. So what lies beyond is asked for, until nothing does: whether a set is
empty is found in another way.

All return a number; isl's infinity where there is no bound, and what isl says of nothing at all.
Symbolic constants may have any value.
"""

from __future__ import annotations

import islpy as isl

SET = isl.dim_type.set


def find_least(elements: isl.Set, position: int) -> isl.Val:
    """Return the least value of the dimension at a position."""
    value = elements.dim_min_val(position)
    while value.is_int():
        elements = elements.upper_bound_val(SET, position, value.sub(1))
        if elements.is_empty():
            break
        value = elements.dim_min_val(position)
    return value


def find_greatest(elements: isl.Set, position: int) -> isl.Val:
    """Return the greatest value of the dimension at a position."""
    value = elements.dim_max_val(position)
    while value.is_int():
        elements = elements.lower_bound_val(SET, position, value.add(1))
        if elements.is_empty():
            break
        value = elements.dim_max_val(position)
    return value


def least_value(function: isl.PwAff) -> isl.Val:
    """Return the least value of an integral function, wherever it has one."""
    return greatest_value(function.neg()).neg()


def greatest_value(function: isl.PwAff) -> isl.Val:
    """Return the greatest value of an integral function, wherever it has one."""
    value = function.max_val()
    while value.is_rat():
        function = _beyond(function, value)
        if function.domain().is_empty():
            break
        value = function.max_val()
    return value


def _beyond(function: isl.PwAff, value: isl.Val) -> isl.PwAff:
    """Return the function where it is greater than a value."""
    space = function.domain().get_space()
    beyond = function.gt_set(isl.PwAff.from_aff(isl.Aff.val_on_domain_space(space, value)))
    if beyond.is_params():
        return function.intersect_params(beyond)
    return function.intersect_domain(beyond)
