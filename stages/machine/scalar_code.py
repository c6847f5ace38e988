"""Scalar code: the kinds of its operations, and what each costs on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lairmake.stages.machine.types import is_integer

SCALAR_KINDS: Mapping[str, str | None] = {
    "loop": None,
    "scalar": None,
    "address": None,
    **dict.fromkeys((
        "integer_product", "constant_division", "wide_integer", "wide_product",
        "float_operation", "division", "square_root", "exponential", "power",
    ), "scalar"),
    "load": None,
    "store": None,
    "branch": None,
}
"""The kinds, in the order of `KINDS` in pe.h, as docs/machines.md explains them. A machine without
a figure of the name charges for one by another figure, or nothing."""

OWN: Sequence[str] = ("loop", "scalar", "address")
"""Kinds of which every profile has the figure."""

FUNCTION_KINDS = {
    **dict.fromkeys(("/", "DIV", "reciprocal"), "division"),
    "sqrt": "square_root",
    **dict.fromkeys(("exp", "log", "sin", "cos", "erf"), "exponential"),
    **dict.fromkeys(("tanh", "sigmoid", "pow"), "power"),
}
"""The kinds of operations that cost more than a sum, whatever the type."""

PRODUCTS = ("*", "MUL")


def kind_of(operation: str, type_: str) -> str:
    """Return the kind of an operation, computed in a type.

    It is a sign or a function of LAIR, or the name of what a vector instruction computes.
    """
    if operation in FUNCTION_KINDS:
        return FUNCTION_KINDS[operation]
    if not is_integer(type_):
        return "float_operation"
    if type_ == "int16":
        return "integer_product" if operation in PRODUCTS else "scalar"
    return "wide_product" if operation in PRODUCTS else "wide_integer"
