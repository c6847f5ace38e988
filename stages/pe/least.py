"""The fewest cycles that an instance of a statement takes, on any PE."""

from __future__ import annotations

from fractions import Fraction

from stages.fabric.profile import Profile
from stages.lair.expressions import expression_text
from stages.lair.layer import Statement
from stages.lair.tree import Binary, Call, Expr, Unary

VECTOR_CALLS = ("max", "min", "relu", "abs")
"""Functions that vector instructions compute; others are scalar operations."""


def least_cycles(statement: Statement, type_: str, profile: Profile) -> Fraction:
    """Return the cycles of an instance whose result has that type.

    Each operation takes a lane for a cycle, but for a product that is added to something, or a
    copy; each call of another function takes the time of a scalar operation. What occurs twice is
    computed once.
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
    listed = _operations(expr).values()
    return sum(vector for vector, _ in listed), sum(call for _, call in listed)


def _operations(expr: Expr) -> dict[str, tuple[int, int]]:
    """Return vector operations and calls of each part, by its text: equal ones are one."""
    match expr:
        case Binary():
            parts: tuple[Expr, ...] = (expr.left, expr.right)
            own = (0 if any(_is_product(each, expr.op) for each in parts) else 1, 0)
        case Unary():
            parts, own = (expr.operand,), (0, 0)
        case Call():
            parts = tuple(expr.arguments)
            own = (1, 0) if expr.function in VECTOR_CALLS else (0, 1)
        case _:
            return {}
    found = {text: counts for part in parts for text, counts in _operations(part).items()}
    return found | {expression_text(expr): own}
