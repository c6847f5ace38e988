"""Which vector operations a statement is: one, or several of which each uses what others gave.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5, condition 1; several go beyond it
"""

from __future__ import annotations

import typing
from dataclasses import dataclass

from stages.lair.expressions import expression_text
from stages.lair.tree import Access, Binary, Call, Expr, Number, Unary

BINARY = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV"}
SELECTING = ("MAX", "MIN")
FUSED = {"+": ("FMA", "FMA"), "-": ("FMS", "FNMA")}
"""A product on the left, or on the right, of a sum or a difference."""

CALL = {"max": "MAX", "min": "MIN"}
ACCUMULATE = {"+=": "ADD", "*=": "MUL", "max=": "MAX", "min=": "MIN"}


class NoOperationError(Exception):
    """A part of an expression that no vector operation computes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What an earlier operation of the statement gave; two that are never needed at a time may
    have one number.

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
    are FUSED have three. `to` is the part that it gives, None if that is the target.
    """

    name: str
    sources: tuple[Leaf, ...]
    to: Part | None = None


def operations_of(target: str, op: str, expr: Expr) -> tuple[Operation, ...]:
    """Return the vector operations of `target op expr`; the last one gives the target.

    Raises NoOperationError where there is none for a part of the expression.
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


class _Operations:
    """The operations of an expression so far, each of which gives a part."""

    def __init__(self) -> None:
        self.listed: list[Operation] = []
        self.parts = 0
        self.free: list[Part] = []

    def source(self, expr: Expr, *, rounded: bool) -> Leaf:
        """Return a leaf, or the part that an expression becomes. Raises NoOperationError."""
        leaf = _leaf(expr)
        if leaf is not None:
            return leaf
        return self.append(*_operation(expr, self, rounded=rounded), rounded=rounded)

    def sources(self, left: Expr, right: Expr) -> tuple[Leaf, Leaf]:
        """Return the sources that two expressions become; one, where they are the same."""
        first = self.source(left, rounded=False)
        same = expression_text(left) == expression_text(right)
        return first, first if same else self.source(right, rounded=False)

    def append(self, name: str, sources: tuple[Leaf, ...], *, rounded: bool) -> Part:
        """Append an operation; what it uses need not be kept, and what it gives takes its place."""
        self.free += [s for s in dict.fromkeys(reversed(sources)) if isinstance(s, Part)]
        free = [part for part in self.free if part.rounded == rounded]
        part = free[-1] if free else Part(number=self.parts, rounded=rounded)
        if free:
            self.free.remove(part)
        else:
            self.parts += 1
        self.listed.append(Operation(name=name, sources=sources, to=part))
        return part


def _operation(
    expr: Expr, found: _Operations, *, rounded: bool
) -> tuple[str, tuple[Leaf, ...]]:
    """Return the operation of an expression that is no leaf. Raises NoOperationError.

    `rounded` says whether the expression may be rounded to the type of the target.
    """
    match expr:
        case Binary(op="+" | "-", left=left, right=right) if _is_product(left, right):
            return _fused(expr, found)
        case Binary(left=left, right=right):
            return BINARY[expr.op], found.sources(left, right)
        case Call() if expr.function in CALL:
            sources = [found.source(each, rounded=rounded) for each in expr.arguments]
            return CALL[expr.function], tuple(sources)
        case Call(function="relu"):
            return "MAX", (found.source(expr.arguments[0], rounded=rounded), 0)
        case Unary():
            return "MUL", (found.source(expr.operand, rounded=rounded), -1)
    raise NoOperationError(f"`{expression_text(expr)}` is no vector operation")


def _fused(expr: Binary, found: _Operations) -> tuple[str, tuple[Leaf, ...]]:
    """Return a sum or a difference with a product on one side as one operation, a b and c."""
    on_right = int(_is_product(expr.right))
    product, other = (expr.right, expr.left) if on_right else (expr.left, expr.right)
    factors = typing.cast(Binary, product)
    a, b = found.sources(factors.left, factors.right)
    return FUSED[expr.op][on_right], (a, b, found.source(other, rounded=False))


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
