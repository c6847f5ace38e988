"""The fewest cycles that an instance of a statement takes, on any PE."""

from __future__ import annotations

from collections.abc import Sequence, Set
from fractions import Fraction
from math import prod

from lairmake.stages.lair.expressions import ACCUMULATE, BINARY
from lairmake.stages.lair.layer import Statement
from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Unary, walk
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import find_integers, is_integer
from lairmake.stages.poly.integers import find_pivot_rows, hermite

VECTOR_CALLS = {"max": "MAX", "min": "MIN", "relu": "MAX", "abs": "MAX"}
"""Functions that vector instructions compute; others are scalar operations."""


def least_cycles(statement: Statement, types: Sequence[str], profile: Profile) -> Fraction:
    """Return the cycles of an instance, given the types of its result and of what it reads.

    Each operation takes a lane for a cycle, or the time of a scalar one if that is less; a product
    that is added to something nothing more, and a copy nothing; each call of another function takes
    the time of a scalar operation. Of the types in which it may be computed, that of the most lanes
    counts. What occurs twice is computed once, and so is what is the same for several instances.
    """
    computed = find_integers(types) if is_integer(types[0]) else "float32"
    costs = _Costs(profile, {types[0], computed})
    cycles = _counted(statement, costs)
    if statement.op != "=" and not _is_product(statement.expr, statement.op):
        cycles += costs.of(ACCUMULATE[statement.op])
    return max(costs.of("COPY"), cycles)


class _Costs:
    """The fewest cycles of one operation that gives some types."""

    def __init__(self, profile: Profile, types: Set[str]) -> None:
        self.profile = profile
        rows = profile.lanes.items()
        self.rows = [row for name, row in rows if name.partition(" of ")[0] in types]

    def of(self, operation: str) -> Fraction:
        """Return those of a vector operation, where a product may be one of a multiply-add."""
        fused = ("MAC", "FMA", "FMS", "FNMA") if operation == "MUL" else ()
        lanes = max(row[name] for row in self.rows for name in (operation, *fused))
        scalar = Fraction(self.profile.scalar)
        return min(Fraction(1, lanes), scalar) if lanes else scalar


def _is_product(expr: Expr, op: str) -> bool:
    return op in ("+", "-", "+=") and isinstance(expr, Binary) and expr.op == "*"


def _counted(statement: Statement, costs: _Costs) -> Fraction:
    """Return the cycles of the operations of an instance."""
    found = Fraction(0)
    for part, cycles in _parts_of(statement.expr, costs).items():
        found += cycles / most_alike(statement, part)
    return found


def most_alike(statement: Statement, part: Expr) -> int:
    """Return for how many instances, at most, a part of the expression has one value.

    The iterators of which it has independent multiples, the longest ones, tell its values apart.
    """
    iterators = sorted(zip(statement.sizes, statement.iterators, strict=True), reverse=True)
    rows = [row for access in walk(part) if isinstance(access, Access) for row in access.rows]
    columns = [[dict(row.coefficients).get(name, 0) for row in rows] for _, name in iterators]
    apart = find_pivot_rows(hermite(columns, len(rows))[0]) if rows else []
    return prod(size for k, (size, _) in enumerate(iterators) if k not in apart)


def _parts_of(expr: Expr, costs: _Costs) -> dict[Expr, Fraction]:
    """Return the cycles of each part of its own; equal ones are one."""
    match expr:
        case Binary():
            parts: tuple[Expr, ...] = (expr.left, expr.right)
            added = any(_is_product(each, expr.op) for each in parts)
            own = Fraction(0) if added else costs.of(BINARY[expr.op])
        case Unary():
            parts, own = (expr.operand,), Fraction(0)
        case Call():
            parts, name = tuple(expr.arguments), VECTOR_CALLS.get(expr.function)
            own = Fraction(costs.profile.scalar) if name is None else costs.of(name)
        case _:
            return {}
    found = {each: own for part in parts for each, own in _parts_of(part, costs).items()}
    return found | {expr: own}
