"""Scalar code: the kinds of its operations, and what each costs on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lairmake.stages.machine.types import is_integer

SCALAR_KINDS: Mapping[str, str | None] = {
    "loop": None,
    "scalar": None,
    "address": None,
    **dict.fromkeys((
        "integer_product", "wide_integer", "wide_product", "float_operation", "division",
        "square_root", "exponential", "power",
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
    "/": "division", "sqrt": "square_root", "tanh": "power", "sigmoid": "power", "pow": "power",
    **dict.fromkeys(("exp", "log", "sin", "cos", "erf"), "exponential"),
}
"""The kinds of operations that cost more than a sum, whatever the type."""


def kind_of(operation: str, type_: str) -> str:
    """Return the kind of an operation, a sign or a function of LAIR, computed in a type."""
    if operation in FUNCTION_KINDS:
        return FUNCTION_KINDS[operation]
    if not is_integer(type_):
        return "float_operation"
    if type_ == "int16":
        return "integer_product" if operation == "*" else "scalar"
    return "wide_product" if operation == "*" else "wide_integer"
