"""How far errors in what a statement reads may move what it defines.

Source   interval arithmetic: every function of LAIR is monotone, or moves no farther than what it
         is applied to, but comparisons and steps, which jump where both sides may be equal, or
         what is rounded a whole number, and powers, which have ends within an interval
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lairmake.stages.lair.expressions import COMPARISONS, EXACT_FUNCTIONS, STEPS
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Number, Reference, Unary, walk
from lairmake.stages.reference.absolute import absolute
from lairmake.stages.reference.accumulate import accumulate_each, apply, quotient, value
from lairmake.stages.reference.strided import Array, Read
from lairmake.stages.reference.tolerance import SINGLE
from lairmake.stages.reference.unroll import Arrays

JUMPS = COMPARISONS | STEPS

ROUNDING = SINGLE.unit
"""Half a unit in the last place of a float32, in which sides of comparisons are computed."""


def moved(statement: Statement, layer: Layer, tensors: Arrays, errors: Arrays) -> Array:
    """Return a bound on the change of what a statement defines, by element of its target.

    `tensors` are the values that it reads, `errors` bounds on the errors of some of them.
    """
    known = {a.tensor: errors[a.tensor] for a in statement.reads if a.tensor in errors}
    jumps = any(map(is_jump, walk(statement.expr)))
    if not known and not jumps:
        return np.zeros(layer.tensors[statement.target.tensor].shape)
    beside = tuple(_error_of(a) for a in statement.reads if a.tensor in known)
    arrays = {**tensors, **{_name(tensor): array for tensor, array in known.items()}}
    reading = replace(statement, reads=(*statement.reads, *beside))

    def error(expr: Expr, read: Read) -> Array:
        return spread(expr, read, known)

    def largest(expr: Expr, read: Read) -> Array:
        return np.abs(value(expr, read)) + spread(expr, read, known)

    def above(expr: Expr, read: Read) -> Array:
        return value(expr, read) + spread(expr, read, known)

    def below(expr: Expr, read: Read) -> Array:
        return value(expr, read) - spread(expr, read, known)

    op = statement.op
    if op == "*=":
        whole = accumulate_each(reading, layer, arrays, largest)
        return np.asarray(whole - np.abs(accumulate_each(reading, layer, arrays, value)))
    if op in ("max=", "min="):
        here, up, down = (
            accumulate_each(reading, layer, arrays, each) for each in (value, above, below)
        )
        return _away(here, up, down)
    return accumulate_each(reading, layer, arrays, error)


def is_jump(expr: Expr) -> bool:
    """Whether an expression jumps where what it is applied to is rounded otherwise."""
    return isinstance(expr, Call) and expr.function in JUMPS


def _name(tensor: str) -> str:
    return f"{tensor}'"


def _error_of(access: Access) -> Access:
    """Return the access to the error of an element."""
    return replace(access, tensor=_name(access.tensor))


def spread(expr: Expr, read: Read, known: Arrays) -> Array:
    """Return how far an expression may lie from its value, over a block."""
    match expr:
        case Number():
            return np.asarray(0.0)
        case Access():
            return read(_error_of(expr)) if expr.tensor in known else np.asarray(0.0)
        case Unary():
            return spread(expr.operand, read, known)
        case Binary():
            return _of_binary(expr, read, known)
        case Call() if expr.function in COMPARISONS:
            return _of_comparison(expr, read, known)
        case Call(function="select"):
            return _of_selection(expr, read, known)
        case Call(function="max" | "min"):
            return _of_greatest(expr, read, known)
        case Call() if expr.function in EXACT_FUNCTIONS:
            return spread(expr.arguments[0], read, known)
        case Call() if expr.function in STEPS:
            return _of_step(expr, read, known)
        case Call(function="sin" | "cos"):
            return np.minimum(spread(expr.arguments[0], read, known), 2)
        case Call(function="pow"):
            return _of_power(expr, read, known)
        case Call():
            return _of_function(expr, read, known)
        case Reference():
            raise AssertionError("a layer's expressions hold accesses only")


def _of_binary(expr: Binary, read: Read, known: Arrays) -> Array:
    """Return |a| b' + |b| a' + a' b' of a product; of a / b, (a' + |a/b| b') / (|b| - b').

    What an infinity is added to, multiplied with or divided by remains what it is.
    """
    left, right = (np.abs(value(side, read)) for side in (expr.left, expr.right))
    a, b = (spread(side, read, known) for side in (expr.left, expr.right))
    if expr.op in ("+", "-"):
        return a + b
    away = np.where(right > b, right - b, 0)
    found = (
        left * b + right * a + a * b if expr.op == "*" else (a + quotient(left, right) * b) / away
    )
    endless = (np.isinf(left) | np.isinf(right)) & np.isfinite(a + b)
    return np.asarray(np.where((a + b == 0) | endless, 0, found))


def _of_comparison(expr: Call, read: Read, known: Arrays) -> Array:
    """Return 1 where the sides of a comparison lie so near that it may turn out otherwise.

    What they are rounded to on the way counts as well, unless they are elements or numbers.
    """
    near = sum((_near(side, read, known) for side in expr.arguments), np.asarray(0.0))
    left, right = (value(side, read) for side in expr.arguments)
    return np.asarray((near > 0) & (np.abs(left - right) <= near), dtype=np.float64)


def _near(expr: Expr, read: Read, known: Arrays) -> Array:
    """Return how far an expression may lie from its value, with what it is rounded on the way."""
    found, parts = spread(expr, read, known), sum(1 for _ in walk(expr))
    return found if parts == 1 else found + parts * ROUNDING * absolute(expr, read)


def _of_step(expr: Call, read: Read, known: Arrays) -> Array:
    """Return how many steps up or down what is rounded may lie, if any."""
    (argument,) = expr.arguments
    at, near = value(argument, read).astype(np.float64), _near(argument, read, known)
    here, up, down = (apply(expr.function, at + e) for e in (0 * near, near, -near))
    return np.asarray(np.where(near == 0, 0, _away(here, up, down)))


def _of_power(expr: Call, read: Read, known: Arrays) -> Array:
    """Return how far a power moves to the ends of what base and exponent may be, and at zero."""
    base, exponent = (value(each, read).astype(np.float64) for each in expr.arguments)
    a, b = (spread(each, read, known) for each in expr.arguments)
    here, reached = apply("pow", base, exponent), np.asarray(0.0)
    ends = [base + a, base - a, np.where(np.abs(base) <= a, 0.0, base)]
    for at in ends:
        for by in (exponent + b, exponent - b):
            away = np.abs(apply("pow", at, by) - here)
            reached = np.maximum(reached, np.nan_to_num(away, nan=np.inf, posinf=np.inf))
    return np.asarray(np.where((a == 0) & (b == 0), 0, reached))


def _of_greatest(expr: Call, read: Read, known: Arrays) -> Array:
    """Return how far the greatest, or the least, of two moves if both move as far as they may."""
    values = [value(each, read) for each in expr.arguments]
    errors = [spread(each, read, known) for each in expr.arguments]
    here = apply(expr.function, *values)
    up = apply(expr.function, *(v + e for v, e in zip(values, errors, strict=True)))
    down = apply(expr.function, *(v - e for v, e in zip(values, errors, strict=True)))
    return _away(here, up, down)


def _away(here: Array, up: Array, down: Array) -> Array:
    """Return how far a value moves up or down; infinities stay where both are the same."""
    return np.maximum(np.where(up == here, 0, up - here), np.where(here == down, 0, here - down))


def _of_selection(expr: Call, read: Read, known: Arrays) -> Array:
    """Return the error of what is selected; where the other may be, also how far that lies."""
    which, *both = expr.arguments
    a, b = (spread(each, read, known) for each in both)
    apart = np.abs(value(both[0], read) - value(both[1], read)) + np.maximum(a, b)
    here = np.where(value(which, read) != 0, a, b)
    return np.where(spread(which, read, known) > 0, apart, here)


def _of_function(expr: Call, read: Read, known: Arrays) -> Array:
    """Return the greater of |f(a + a') - f(a)| and |f(a - a') - f(a)|, f monotone."""
    (argument,) = expr.arguments
    at, error = value(argument, read).astype(np.float64), spread(argument, read, known)
    here = apply(expr.function, at)
    up, down = (np.abs(apply(expr.function, at + e) - here) for e in (error, -error))
    reached = np.nan_to_num(np.maximum(up, down), nan=np.inf, posinf=np.inf)
    return np.asarray(np.where(error == 0, 0, reached))
