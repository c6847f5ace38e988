"""What is left of an expression where some of its operands are constants.

Differs  zero times anything is zero, and so are sums without terms: a constant is a fact, and what
         it makes superfluous is left out, infinities and all that is no number included.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from stages.lair.accumulate import value as evaluate
from stages.lair.strided import Array
from stages.lair.tree import Access, Binary, Call, Expr, Number, Reference, Unary

NEUTRAL: Mapping[str, float] = {"+=": 0, "*=": 1, "max=": -math.inf, "min=": math.inf}
"""What the operator of a reduction leaves as it is."""


def fold(expr: Expr, known: Mapping[str, float]) -> Expr:
    """Return an expression with values in place of the operands that are known."""
    match expr:
        case Access():
            found = known.get(expr.tensor)
            return expr if found is None else Number(value=found, span=expr.span)
        case Reference() | Number():
            return expr
        case Unary():
            return _known(replace(expr, operand=fold(expr.operand, known)))
        case Call():
            arguments = tuple(fold(each, known) for each in expr.arguments)
            return _known(replace(expr, arguments=arguments))
        case Binary():
            left, right = fold(expr.left, known), fold(expr.right, known)
            return _simple(_known(replace(expr, left=left, right=right)))


def _known(expr: Unary | Call | Binary) -> Expr:
    """Return the number that an expression of numbers is; another one as it is."""
    match expr:
        case Unary():
            parts: tuple[Expr, ...] = (expr.operand,)
        case Call():
            parts = expr.arguments
        case Binary():
            parts = (expr.left, expr.right)
    if not all(isinstance(part, Number) for part in parts):
        return expr
    return Number(value=float(evaluate(expr, _no_read)), span=expr.span)


def _no_read(access: Access) -> Array:
    raise AssertionError(f"{access.tensor} is no number")


def _simple(expr: Expr) -> Expr:
    """Return x for x + 0, x - 0, x * 1 and x / 1, and 0 for x * 0."""
    if not isinstance(expr, Binary):
        return expr
    neutral = 0 if expr.op in "+-" else 1
    if is_number(expr.right, neutral):
        return expr.left
    if is_number(expr.left, neutral) and expr.op in "+*":
        return expr.right
    zero = next((each for each in (expr.left, expr.right) if is_number(each, 0)), None)
    return zero if expr.op == "*" and zero is not None else expr


def is_number(expr: Expr, value: float) -> bool:
    """Return whether an expression is a number."""
    return isinstance(expr, Number) and expr.value == value


def repeated(operator: str, value: float, times: int) -> float:
    """Return what a reduction of a value, so many times, gives."""
    return {"+=": value * times, "*=": value**times}.get(operator, value)


def combined(operator: str, values: list[float]) -> float:
    """Return what a reduction of numbers gives."""
    found = NEUTRAL.get(operator, 0)
    for value in values:
        found = {
            "+=": found + value, "*=": found * value,
            "max=": max(found, value), "min=": min(found, value),
        }.get(operator, value)
    return found
