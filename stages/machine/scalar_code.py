"""Scalar code: the kinds of its operations, and what each costs on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lairmake.stages.machine.types import is_integer


class ScalarKind(NamedTuple):
    """A kind of operations; on a machine without a figure of its own it costs that of `otherwise`.

    None: such a machine charges nothing for it.
    """

    meaning: str
    otherwise: str | None = "scalar"


SCALAR_KINDS: Mapping[str, ScalarKind] = {
    "loop": ScalarKind("a step and a test of a loop", None),
    "scalar": ScalarKind(
        "a sum, a logical operation, a comparison or a move of 16 bits", None),
    "address": ScalarKind("an address that is computed", None),
    "integer_product": ScalarKind("a product of two integers of 16 bits"),
    "wide_integer": ScalarKind("a sum, a logical operation or a comparison of 32 bits"),
    "wide_product": ScalarKind("a product of two integers of 32 bits"),
    "float_operation": ScalarKind("a sum, a product, a comparison or a conversion of floats"),
    "division": ScalarKind("a quotient, of floats or of integers"),
    "square_root": ScalarKind("a square root"),
    "exponential": ScalarKind("exp, log, sin, cos or erf"),
    "power": ScalarKind("tanh, sigmoid or pow: an exponential and more"),
    "load": ScalarKind("a load of 16 bits; one of 32 bits is two", None),
    "store": ScalarKind("a store of 16 bits; one of 32 bits is two", None),
    "branch": ScalarKind("a branch that is taken or not, but for loops", None),
}
"""The kinds, in the order of `KINDS` in pe.h. Each is called as its figure in a profile."""

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
