"""The fewest cycles that an instance of a statement takes, on any PE."""

from __future__ import annotations

from fractions import Fraction

from stages.fabric.profile import Profile
from stages.lair.layer import Statement
from stages.lair.tree import Binary, Call, Expr, Unary

VECTOR_CALLS = ("max", "min", "relu", "abs")
"""Functions that vector instructions compute; others are scalar operations."""


def least_cycles(statement: Statement, type_: str, profile: Profile) -> Fraction:
    """Return the cycles of an instance whose result has that type.

    Each operation takes a lane for a cycle, but for a product that is added to something, or a
    copy; each call of another function takes the time of a scalar operation.
    """
    operations, calls = _counted(statement.expr)
    if statement.op != "=":
        operations += 1 - _is_product(statement.expr, statement.op)
    if not operations and not calls:
        operations = 1
    return Fraction(operations, profile.lanes[type_]) + calls * profile.scalar


def _is_product(expr: Expr, op: str) -> bool:
    return op in ("+", "-", "+=") and isinstance(expr, Binary) and expr.op == "*"


def _counted(expr: Expr) -> tuple[int, int]:
    """Return how many vector operations and how many calls of functions an expression takes."""
    match expr:
        case Binary():
            parts = [_counted(expr.left), _counted(expr.right)]
            fused = any(_is_product(each, expr.op) for each in (expr.left, expr.right))
            own = (0 if fused else 1, 0)
        case Unary():
            parts, own = [_counted(expr.operand)], (0, 0)
        case Call():
            parts = [_counted(each) for each in expr.arguments]
            own = (1, 0) if expr.function in VECTOR_CALLS else (0, 1)
        case _:
            return 0, 0
    counts = [*parts, own]
    return sum(vector for vector, _ in counts), sum(call for _, call in counts)
