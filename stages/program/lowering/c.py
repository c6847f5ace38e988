"""Geo-vars as expressions of PE_X and PE_Y, which cost a PE no cycles.

Paper    E Sec. 6.2: geo-vars
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from lairmake.stages.poly.expression import Number, Value, express, express_condition
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, bind_set, find_function
from lairmake.stages.program.lowering.lowered import Material


def find_geo_condition(material: Material, name: str, role: str) -> Value:
    """Return whether a PE of a role is in the set of a geo-var; 1 or 0 if all or none are."""
    variable, pes = material.variables[name], material.roles[role]
    assert isinstance(variable, isl.Set), f"{name} is a set"
    if variable.is_disjoint(pes):
        return Number(0)
    here, simple = bind_set(pes, PE_NAMES), bind_set(_widen(variable, pes), PE_NAMES)
    value = express_condition(simple, here)
    return Number(1) if value is None else value


def _widen(condition: isl.Set, pes: isl.Set) -> isl.Set:
    """Return a simpler condition that holds on the same ones of `pes`: of fewer axes, or convex."""
    condition = inside = condition.intersect(pes)
    for widen in (_without_axis(0), _without_axis(1), _hull):
        wider = widen(condition)
        if wider.intersect(pes).is_equal(inside):
            condition = wider
    return condition


def _without_axis(k: int) -> Callable[[isl.Set], isl.Set]:
    return lambda condition: condition.eliminate(isl.dim_type.set, k, 1)


def _hull(condition: isl.Set) -> isl.Set:
    return isl.Set.from_basic_set(condition.unshifted_simple_hull())


def find_geo_number(material: Material, name: str, role: str) -> Value:
    """Return the value that a geo-var { PE[x, y] -> [n] } has on a PE of a role."""
    variable = material.variables[name]
    assert isinstance(variable, isl.Map), f"{name} is a map"
    pes = material.roles[role]
    variable = inside = variable.intersect_domain(pes)
    for k in range(2):
        wider = variable.eliminate(isl.dim_type.in_, k, 1)
        if wider.intersect_domain(pes).is_equal(inside):
            variable = wider
    function = find_function(bind_domain(variable, PE_NAMES))
    return express(function.get_pw_aff(0), bind_set(pes, PE_NAMES))
