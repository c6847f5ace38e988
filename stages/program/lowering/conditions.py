"""What programs ask of the place of their PE, as C of `pe->x` and `pe->y`: it is charged nothing.

Paper    E Sec. 6.2: geo-vars
"""

from __future__ import annotations

import functools

import islpy as isl

from stages.poly.bind import PE_NAMES, bind_domain, bind_set
from stages.poly.expressed import express, express_condition
from stages.poly.expression import Name, Number, Operation, Value
from stages.poly.function import find_function
from stages.program.lowering.lowered import Material

FIELDS = dict(zip(PE_NAMES, ("pe->x", "pe->y"), strict=True))
SIGNS = {"and": "&&", "or": "||"}


def write_geo_condition(material: Material, name: str, role: str) -> str:
    """Return whether a PE of a role is in the set of a geo-var: 1 or 0 where all or none are."""
    variable, pes = material.variables[name], material.roles[role]
    assert isinstance(variable, isl.Set), f"{name} is a set"
    here = bind_set(pes, PE_NAMES)
    condition = bind_set(variable, PE_NAMES)
    if condition.is_disjoint(here):
        return "0"
    value = express_condition(condition, here)
    return "1" if value is None else write_value(value)


def write_geo_number(material: Material, name: str, role: str) -> str:
    """Return the number that a geo-var { PE[x, y] -> [n] } has on a PE of a role."""
    variable = material.variables[name]
    assert isinstance(variable, isl.Map), f"{name} is a map"
    here = material.roles[role]
    function = find_function(bind_domain(variable.intersect_domain(here), PE_NAMES))
    return write_value(express(function.get_pw_aff(0), bind_set(here, PE_NAMES)))


def write_value(value: Value) -> str:
    """Return an expression of the coordinates of a PE in C."""
    return _write(value, is_inside=False)


def _write(value: Value, is_inside: bool) -> str:
    match value:
        case Number():
            return f"({value.value})" if is_inside and value.value < 0 else str(value.value)
        case Name():
            return FIELDS[value.name]
        case Operation():
            return _write_operation(value, is_inside)
    raise AssertionError(f"{value} is no expression of isl")


def _write_operation(value: Operation, is_inside: bool) -> str:
    parts = [_write(each, is_inside=True) for each in value.arguments]
    if value.sign in ("max", "min", "floord"):
        text = functools.reduce(lambda a, b: f"{value.sign}({a}, {b})", parts)
        return f"(int){text}"
    if value.sign == "negative":
        text = f"-{parts[0]}"
    elif value.sign == "?":
        text = f"{parts[0]} ? {parts[1]} : {parts[2]}"
    else:
        text = f" {SIGNS.get(value.sign, value.sign)} ".join(parts)
    return f"({text})" if is_inside else text
