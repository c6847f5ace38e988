"""What the rounding errors of an expression are proportional to.

Source   design, Arithmetic: (n + 1) u sum|terms|
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

import numpy as np

from lairmake.stages.lair.expressions import COMPARISONS, EXACT_FUNCTIONS, STEPS
from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Number, Reference, Unary
from lairmake.stages.reference.accumulate import apply, value
from lairmake.stages.reference.strided import Array, Read

CALL = 4
"""Units in the last place by which two libraries' float32 functions may differ."""

_SLOPES: Mapping[str, Callable[[Array, Array], Array]] = {
    "exp": lambda a, f: f,
    "sqrt": lambda a, f: 0.5 / f,
    "tanh": lambda a, f: 1 - f * f,
    "log": lambda a, f: 1 / np.abs(a),
    "sigmoid": lambda a, f: f * (1 - f),
    "erf": lambda a, f: 2 / math.sqrt(math.pi) * np.exp(-a * a),
    "sin": lambda a, f: np.abs(np.cos(a)),
    "cos": lambda a, f: np.abs(np.sin(a)),
    **dict.fromkeys(STEPS, lambda a, f: np.zeros_like(a)),
}
"""The derivative's absolute value, from argument and value; steps are seen to elsewhere."""


def absolute(expr: Expr, read: Read) -> Array:
    """Return what the error of an expression is proportional to, to first order.

    |a| of an access, sums of sums, products of products; a function adds its slope times its
    argument's. A comparison is as large as what it compares, so that this is exact where it is.
    Infinities are exact: what is added to one rounds nothing, so that they count as 0.
    """
    match expr:
        case Number():
            return np.asarray(abs(expr.value))
        case Access():
            found = np.abs(read(expr))
            return np.where(np.isinf(found), 0, found)
        case Unary():
            return absolute(expr.operand, read)
        case Binary(op="*"):
            return absolute(expr.left, read) * absolute(expr.right, read)
        case Binary(op="/"):
            return _of_quotient(expr, read)
        case Binary():
            return absolute(expr.left, read) + absolute(expr.right, read)
        case Call(function="max" | "min"):
            return _absolute_of_greatest(expr, read)
        case Call() if expr.function in EXACT_FUNCTIONS:
            parts = [absolute(argument, read) for argument in expr.arguments]
            least = [np.asarray(1.0)] if expr.function in COMPARISONS else []
            return functools.reduce(np.maximum, [*parts, *least])
        case Call(function="pow"):
            return _absolute_of_power(expr, read)
        case Call():
            return _absolute_of_function(expr, read)
        case Reference():
            raise AssertionError("a layer's expressions hold accesses only")


def _absolute_of_greatest(expr: Call, read: Read) -> Array:
    """Return the largest of what is compared; a number counts only where it is taken."""
    open_ = [each for each in expr.arguments if not _is_number(each)]
    taken = [np.abs(value(expr, read))] if len(open_) < len(expr.arguments) else []
    return functools.reduce(np.maximum, [*taken, *(absolute(each, read) for each in open_)])


def _is_number(expr: Expr) -> bool:
    return isinstance(expr.operand if isinstance(expr, Unary) else expr, Number)


def _of_quotient(expr: Binary, read: Read) -> Array:
    """Return |a|'/|b| + |a| |b|' / b^2, with ' for `absolute`."""
    left, right = np.abs(value(expr.left, read)), np.abs(value(expr.right, read))
    slope = left / right * absolute(expr.right, read)
    return (absolute(expr.left, read) + slope) / right


def _absolute_of_function(expr: Call, read: Read) -> Array:
    (argument,) = expr.arguments
    at, inner = value(argument, read).astype(np.float64), absolute(argument, read)
    result = np.abs(apply(expr.function, at))
    slope = _SLOPES[expr.function](at, result)
    return CALL * result + np.where(inner == 0, 0, slope * inner)


def _absolute_of_power(expr: Call, read: Read) -> Array:
    """Return |f| (|b| |a|' / |a| + |log |a|| |b|'), with ' for `absolute`, and the call's own."""
    base, exponent = (value(each, read).astype(np.float64) for each in expr.arguments)
    parts = [absolute(each, read) for each in expr.arguments]
    result = np.abs(apply("pow", base, exponent))
    by_base = np.abs(exponent) * parts[0] / np.abs(base)
    by_exponent = np.abs(np.log(np.abs(base))) * parts[1]
    slope = np.where(base == 0, 0, by_base + by_exponent)
    return np.asarray(result * (CALL + slope))
