"""What is left of an expression where some of its operands are constants.

Differs  zero times anything is zero, and so are sums without terms: a constant is a fact, and what
         it makes superfluous is left out, infinities and all that is no number included. So is
         what is added to an infinity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Number, Reference, Unary, walk
from lairmake.stages.machine.types import is_integer
from lairmake.stages.reference.evaluate import value as evaluate
from lairmake.stages.reference.strided import Array


def fold(expr: Expr, known: Mapping[str, float], whole: str) -> Expr:
    """Return an expression with values in place of the operands that are known.

    Operations on integers wrap to the type `whole`.
    """
    match expr:
        case Access():
            found = known.get(expr.tensor)
            return expr if found is None else Number(value=found, span=expr.span)
        case Reference() | Number():
            return expr
        case Unary():
            return _known(replace(expr, operand=fold(expr.operand, known, whole)), whole)
        case Call():
            arguments = tuple(fold(each, known, whole) for each in expr.arguments)
            return _extreme(_known(replace(expr, arguments=arguments), whole))
        case Binary():
            left, right = (fold(each, known, whole) for each in (expr.left, expr.right))
            return _simple(_known(replace(expr, left=left, right=right), whole))


def _known(expr: Unary | Call | Binary, whole: str) -> Expr:
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
    return Number(value=evaluate(expr, _no_read, whole).item(), span=expr.span)


def _no_read(access: Access) -> Array:
    raise AssertionError(f"{access.tensor} is no number")


def _simple(expr: Expr) -> Expr:
    """Return x for x + 0, x - 0, x * 1 and x / 1, 0 for x * 0, and an infinity for x + or - it."""
    if not isinstance(expr, Binary):
        return expr
    if expr.op in "+-" and (value := _infinity(expr)):
        return Number(value=value, span=expr.span)
    neutral = 0 if expr.op in "+-" else 1
    if is_number(expr.right, neutral):
        return expr.left
    if is_number(expr.left, neutral) and expr.op in "+*":
        return expr.right
    zero = next((each for each in (expr.left, expr.right) if is_number(each, 0)), None)
    return zero if expr.op == "*" and zero is not None else expr


def _infinity(expr: Binary) -> float:
    """Return the infinity that a sum or difference is since one of its operands is, else 0."""
    sign = 1 if expr.op == "+" else -1
    for each, factor in ((expr.left, 1), (expr.right, sign)):
        if isinstance(each, Number) and math.isinf(each.value):
            return factor * each.value
    return 0


def _extreme(expr: Expr) -> Expr:
    """Return x for max(x, -inf) and min(x, inf)."""
    if not isinstance(expr, Call) or expr.function not in ("max", "min"):
        return expr
    neutral = NEUTRAL[f"{expr.function}="]
    kept = [each for each in expr.arguments if not is_number(each, neutral)]
    return kept[0] if len(kept) == 1 else expr


def list_numbers(expr: Expr) -> Iterator[float]:
    """Yield the numbers in an expression."""
    return (each.value for each in walk(expr) if isinstance(each, Number))


def is_number(expr: Expr, value: float) -> bool:
    """Return whether an expression is a number."""
    return isinstance(expr, Number) and expr.value == value


def repeat(operator: str, value: float, times: int) -> float:
    """Return what a reduction of a value, so many times, gives."""
    return {"+=": value * times, "*=": value**times}.get(operator, value)


def in_type(value: float, type_: str) -> float:
    """Return a value as a volume of a type has it: integers wrap."""
    if not is_integer(type_):
        with np.errstate(over="ignore"):
            return float(np.asarray(value).astype(type_))
    half = 2 ** (np.iinfo(type_).bits - 1)
    return int((int(value) + half) % (2 * half) - half)


def combine(operator: str, values: list[float]) -> float:
    """Return what a reduction of numbers gives."""
    found = NEUTRAL.get(operator, 0)
    for value in values:
        found = {
            "+=": found + value, "*=": found * value,
            "max=": max(found, value), "min=": min(found, value),
        }.get(operator, value)
    return found
