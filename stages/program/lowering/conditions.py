"""What programs ask of the place of their PE, as C of `pe->x` and `pe->y`: it is charged nothing.

Paper    E Sec. 6.2: geo-vars
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import islpy as isl

from stages.poly.bind import PE_NAMES, bind_domain, bind_set
from stages.poly.expressed import express, express_condition
from stages.poly.expression import Name, Number, Operation, Value
from stages.poly.function import find_function
from stages.program.lowering.lowered import Material

FIELDS = dict(zip(PE_NAMES, ("pe->x", "pe->y"), strict=True))
SIGNS = {"and": "&&", "or": "||"}
OR, AND, COMPARISON, SUM, PRODUCT, ALONE = range(1, 7)
LEVELS = {
    "?": 0, "or": OR, "and": AND, **dict.fromkeys(("==", "!=", "<=", "<", ">=", ">"), COMPARISON),
    "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "negative": ALONE,
}
"""How strongly operations of C bind."""


def write_geo_condition(material: Material, name: str, role: str) -> str:
    """Return whether a PE of a role is in the set of a geo-var: 1 or 0 where all or none are."""
    variable, pes = material.variables[name], material.roles[role]
    assert isinstance(variable, isl.Set), f"{name} is a set"
    if variable.is_disjoint(pes):
        return "0"
    here, simple = bind_set(pes, PE_NAMES), bind_set(_widen(variable, pes), PE_NAMES)
    value = express_condition(simple, here)
    return "1" if value is None else write_value(value)


def _widen(condition: isl.Set, pes: isl.Set) -> isl.Set:
    """Return a condition that holds on the same of some PEs: of fewer axes, or convex."""
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


def write_geo_number(material: Material, name: str, role: str) -> str:
    """Return the number that a geo-var { PE[x, y] -> [n] } has on a PE of a role."""
    variable = material.variables[name]
    assert isinstance(variable, isl.Map), f"{name} is a map"
    pes = material.roles[role]
    variable = inside = variable.intersect_domain(pes)
    for k in range(2):
        wider = variable.eliminate(isl.dim_type.in_, k, 1)
        if wider.intersect_domain(pes).is_equal(inside):
            variable = wider
    function = find_function(bind_domain(variable, PE_NAMES))
    return write_value(express(function.get_pw_aff(0), bind_set(pes, PE_NAMES)))


def write_value(value: Value) -> str:
    """Return an expression of the coordinates of a PE in C, with the brackets that it needs."""
    return _write(value, 0)


def _write(value: Value, level: int) -> str:
    """Return an expression where operations below a level need brackets."""
    match value:
        case Number():
            return f"({value.value})" if level and value.value < 0 else str(value.value)
        case Name():
            return FIELDS[value.name]
        case Operation():
            return _write_operation(value, level)
    raise AssertionError(f"{value} is no expression of isl")


def _write_operation(value: Operation, level: int) -> str:
    if value.sign in ("max", "min", "floord"):
        parts = [_write(each, 0) for each in value.arguments]
        return "(int)" + functools.reduce(lambda a, b: f"{value.sign}({a}, {b})", parts)
    own = LEVELS[value.sign]
    if value.sign == "?":
        condition = _write(value.arguments[0], COMPARISON)
        then, otherwise = (_write(each, OR) for each in value.arguments[1:])
        text = f"{condition} ? {then} : {otherwise}"
    elif value.sign == "negative":
        text = f"-{_write(value.arguments[0], ALONE + 1)}"
    else:
        first, *others = value.arguments
        is_flat = value.sign in ("and", "or", "+")
        parts = [_write(first, own + (own == COMPARISON)),
                 *(_write(each, own if is_flat else own + 1) for each in others)]
        text = f" {SIGNS.get(value.sign, value.sign)} ".join(parts)
    is_mixed = value.sign == "and" and level == OR
    return f"({text})" if own < level or is_mixed else text
