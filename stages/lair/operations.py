"""Which vector operations a statement is: one, or several of which each uses what others gave.

Paper    V Sec. 5, condition 1; several go beyond it
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass

from lairmake.stages.lair.expressions import FUNCTIONS, write_expression
from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Number, Unary

BINARY = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV"}
LOOPED = frozenset(FUNCTIONS) - {"relu", "abs", "max", "min"}
"""Functions that no vector operation computes: a loop does, one value at a time."""

SELECTING = ("MAX", "MIN")
FUSED = {"+": ("FMA", "FMA"), "-": ("FMS", "FNMA")}
"""A product on the left, or on the right, of a sum or a difference."""

MULTIPLY_ADDS = frozenset({"MAC", "FMA", "FMS", "FNMA"})

CALL = {"max": "MAX", "min": "MIN"}
ACCUMULATE = {"+=": "ADD", "*=": "MUL", "max=": "MAX", "min=": "MIN"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What an earlier operation of the statement gave; every one has a number of its own.

    `rounded` says that it may be rounded to the type of the target: what is computed from it only
    selects one of several values, or changes signs, and rounding keeps their order.
    """

    number: int
    rounded: bool = False


Leaf = str | float | Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A vector operation and its sources: the names of tensors, numbers, or parts.

    The first one is the name of the target where an operation accumulates; COPY has one, those that
    are FUSED have three; a function of LOOPED, as LAIR calls it, has its arguments. `to` is the
    part that it gives, None if that is the target.
    """

    name: str
    sources: tuple[Leaf, ...]
    to: Part | None = None


def list_operations(target: str, op: str, expr: Expr) -> tuple[Operation, ...]:
    """Return the operations of `target op expr`; the last one gives the target.

    What occurs twice is computed once.
    """
    leaf, found = _leaf(expr), _Operations()
    if leaf is not None and op == "=":
        return (Operation(name="COPY", sources=(leaf,)),)
    if leaf is not None:
        return (Operation(name=ACCUMULATE[op], sources=(target, leaf)),)
    name, sources = _operation(expr, found, rounded=op in ("=", "max=", "min="))
    if op == "+=" and name == "MUL":
        name = "MAC"
    elif op != "=":
        part = found.append(name, sources, rounded=ACCUMULATE[op] in SELECTING)
        name, sources = ACCUMULATE[op], (target, part)
    return (*found.listed, Operation(name=name, sources=sources))


def multiplies_and_adds(operations: Sequence[Operation]) -> bool:
    """Whether there is a multiply-add."""
    return any(operation.name in MULTIPLY_ADDS for operation in operations)


class _Operations:
    """The operations of an expression so far, each of which gives a part."""

    def __init__(self) -> None:
        self.listed: list[Operation] = []
        self.parts: dict[tuple[str, bool], Part] = {}

    def source(self, expr: Expr, *, rounded: bool) -> Leaf:
        """Return a leaf, or the part that an expression becomes."""
        leaf, key = _leaf(expr), (write_expression(expr), rounded)
        if leaf is not None:
            return leaf
        if key not in self.parts:
            operation = _operation(expr, self, rounded=rounded)
            self.parts[key] = self.append(*operation, rounded=rounded)
        return self.parts[key]

    def append(self, name: str, sources: tuple[Leaf, ...], *, rounded: bool) -> Part:
        """Append an operation, and return the part that it gives."""
        part = Part(number=len(self.listed), rounded=rounded)
        self.listed.append(Operation(name=name, sources=sources, to=part))
        return part


def _operation(
    expr: Expr, found: _Operations, *, rounded: bool
) -> tuple[str, tuple[Leaf, ...]]:
    """Return the operation of an expression that is no leaf.

    `rounded` says whether the expression may be rounded to the type of the target.
    """
    match expr:
        case Binary(op="+" | "-", left=left, right=right) if _is_product(left, right):
            return _fused(expr, found)
        case Binary(left=left, right=right):
            sources = [found.source(each, rounded=False) for each in (left, right)]
            return BINARY[expr.op], tuple(sources)
        case Call(function="abs"):
            return _absolute(found.source(expr.arguments[0], rounded=rounded), found, rounded)
        case Call(function="relu"):
            return "MAX", (found.source(expr.arguments[0], rounded=rounded), 0)
        case Call() if expr.function in CALL:
            sources = [found.source(each, rounded=rounded) for each in expr.arguments]
            return CALL[expr.function], tuple(sources)
        case Call():
            sources = [found.source(each, rounded=False) for each in expr.arguments]
            return expr.function, tuple(sources)
        case Unary():
            return "MUL", (found.source(expr.operand, rounded=rounded), -1)
    raise AssertionError(f"{expr} is no expression of a specialised statement")


def _absolute(
    value: Leaf, found: _Operations, rounded: bool
) -> tuple[str, tuple[Leaf, ...]]:
    """Return max(0 - x, x): 0 - x is never -0, and NaN where x is."""
    return "MAX", (found.append("SUB", (0, value), rounded=rounded), value)


def _fused(expr: Binary, found: _Operations) -> tuple[str, tuple[Leaf, ...]]:
    """Return a sum or a difference with a product on one side as one operation, a b and c."""
    on_right = int(_is_product(expr.right))
    product, other = (expr.right, expr.left) if on_right else (expr.left, expr.right)
    factors = typing.cast(Binary, product)
    sides = (factors.left, factors.right, other)
    a, b, c = (found.source(each, rounded=False) for each in sides)
    return FUSED[expr.op][on_right], (a, b, c)


def _is_product(*sides: Expr) -> bool:
    return any(isinstance(side, Binary) and side.op == "*" for side in sides)


def _leaf(expr: Expr) -> str | float | None:
    match expr:
        case Access():
            return expr.tensor
        case Number():
            return expr.value
        case Unary(operand=Number(value=value)):
            return -value
    return None
