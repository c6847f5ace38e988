"""The function in a set with one point for each value of the symbolic constants."""

from __future__ import annotations

import islpy as isl


def find_function(point: isl.Set) -> isl.PwMultiAff:
    """Return f of `[n] -> { [x] : x = f(n) }`, everywhere where the set has a point.

    Raises isl.Error if there are several points. isl loses points where equalities with a stride
    meet integer divisions: there the least point is taken, which is the only one.
    """
    function = isl.PwMultiAff.from_set(point)
    if isl.Set.from_pw_multi_aff(function).is_equal(point):
        return function
    return point.lexmin_pw_multi_aff()


def find_function_in(relation: isl.Map) -> isl.PwMultiAff:
    """Return the function that a relation is, as `find_function`. Raises isl.Error for none."""
    function = relation.as_pw_multi_aff()
    if isl.Map.from_pw_multi_aff(function).is_equal(relation):
        return function
    return relation.lexmin_pw_multi_aff()


def is_affine_function(function: isl.PwAff, context: isl.Set) -> bool:
    """Return whether [p] -> { [f(p)] } has one piece in the context, and no division."""
    simple = function.gist(context).coalesce()
    if not simple.isa_aff():
        return False
    found = simple.as_aff()
    return bool(found.get_denominator_val().is_one()) and found.dim(isl.dim_type.div) == 0
