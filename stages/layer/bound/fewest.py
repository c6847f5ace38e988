"""The fewest cycles that an instance of a statement takes, on any PE."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from stages.lair.layer import Statement
from stages.lair.tree import Access, Binary, Call, Expr, Unary, walk
from stages.machine.profile import Profile
from stages.machine.types import find_integers, is_integer
from stages.poly.integers import find_pivot_rows, hermite

VECTOR_CALLS = ("max", "min", "relu", "abs")
"""Functions that vector instructions compute; others are scalar operations."""


def least_cycles(statement: Statement, types: Sequence[str], profile: Profile) -> Fraction:
    """Return the cycles of an instance, given the types of its result and of what it reads.

    Each operation takes a lane for a cycle, or the time of a scalar one if that is none, but a
    product that is added to something nothing, and a copy one; each call of another function takes
    the time of a scalar operation. Of the types in which it may be computed, that of the most lanes
    counts. What occurs twice is computed once, and so is what is the same for several instances.
    """
    operations, calls = _counted(statement)
    if statement.op != "=":
        operations += 1 - _is_product(statement.expr, statement.op)
    computed = find_integers(types) if is_integer(types[0]) else "float32"
    lanes = max(profile.lanes[types[0]], profile.lanes[computed])
    each = min(Fraction(1, lanes), Fraction(profile.scalar))
    return max(each, operations * each + calls * profile.scalar)


def _is_product(expr: Expr, op: str) -> bool:
    return op in ("+", "-", "+=") and isinstance(expr, Binary) and expr.op == "*"


def _counted(statement: Statement) -> tuple[Fraction, Fraction]:
    """Return how many vector operations and how many calls of functions an instance takes."""
    operations, calls = Fraction(0), Fraction(0)
    for part, (vector, call) in _operations(statement.expr).items():
        instances = most_alike(statement, part)
        operations, calls = operations + vector / instances, calls + call / instances
    return operations, calls


def most_alike(statement: Statement, part: Expr) -> int:
    """Return for how many instances, at most, a part of the expression has one value.

    The iterators of which it has independent multiples, the longest ones, tell its values apart.
    """
    iterators = sorted(zip(statement.sizes, statement.iterators, strict=True), reverse=True)
    rows = [row for access in walk(part) if isinstance(access, Access) for row in access.rows]
    columns = [[dict(row.coefficients).get(name, 0) for row in rows] for _, name in iterators]
    apart = find_pivot_rows(hermite(columns, len(rows))[0]) if rows else []
    return prod(size for k, (size, _) in enumerate(iterators) if k not in apart)


def _operations(expr: Expr) -> dict[Expr, tuple[Fraction, Fraction]]:
    """Return vector operations and calls of each part; equal ones are one."""
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
    found = {each: counts for part in parts for each, counts in _operations(part).items()}
    return found | {expr: (Fraction(own[0]), Fraction(own[1]))}
