"""Which vector operations a statement is: one, or several of which each uses what others gave.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5, condition 1; several go beyond it
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass

from stages.lair.expressions import expression_text
from stages.lair.tree import Access, Binary, Call, Expr, Number, Unary

BINARY = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV"}
CALL = {"max": "MAX", "min": "MIN"}
ACCUMULATE = {"+=": "ADD", "*=": "MUL", "max=": "MAX", "min=": "MIN"}


class NoOperationError(Exception):
    """A part of an expression that no vector operation computes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What an earlier operation of the statement gave; two that are never needed at a time may
    have one number."""

    number: int


Leaf = str | float | Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A vector operation and its two sources: the name of a tensor, a number, or a part.

    `a` is the name of the target where an operation accumulates; COPY has no `b`. `to` is the part
    that it gives, None if that is the target.
    """

    name: str
    a: Leaf
    b: Leaf | None
    to: Part | None = None


def operations_of(target: str, op: str, expr: Expr) -> tuple[Operation, ...]:
    """Return the vector operations of `target op expr`; the last one gives the target.

    Raises NoOperationError where there is none for a part of the expression.
    """
    leaf, found = _leaf(expr), _Operations()
    if leaf is not None and op == "=":
        return (Operation(name="COPY", a=leaf, b=None),)
    if leaf is not None:
        return (Operation(name=ACCUMULATE[op], a=target, b=leaf),)
    name, a, b = _operands(expr, found)
    if op == "+=" and name == "MUL":
        name = "MAC"
    elif op != "=":
        name, a, b = ACCUMULATE[op], target, found.append(name, a, b)
    return (*found.listed, Operation(name=name, a=a, b=b))


def accumulated(operations: Sequence[Operation], *, in_place: bool) -> tuple[Operation, ...]:
    """Return operations that end with t = a * b, y = c + t with y = c, y += a * b.

    `c - n * b` is `c + -n * b`. If c lies `in_place`, where y does, it is not copied.
    """
    product, last = operations[-2:]
    a, b = product.a, product.b
    if last.name == "SUB":
        a, b = (-a, b) if isinstance(a, int | float) else (a, -typing.cast(float, b))
    kept = typing.cast(str, kept_of(operations))
    copy = () if in_place else (Operation(name="COPY", a=kept, b=None),)
    return (*operations[:-2], *copy, Operation(name="MAC", a=a, b=b))


def kept_of(operations: Sequence[Operation]) -> str | None:
    """Return the tensor c of operations that end with t = a * b, y = c + t, or c - t, n in a, b.

    None if they end otherwise.
    """
    if len(operations) < 2 or operations[-2].name != "MUL":
        return None
    product, last = operations[-2:]
    numbers = [x for x in (product.a, product.b) if isinstance(x, int | float) and x != 0]
    if last.name == "ADD" and last.a == product.to:
        kept = last.b
    elif last.b == product.to and (last.name == "ADD" or (last.name == "SUB" and numbers)):
        kept = last.a
    else:
        return None
    return kept if isinstance(kept, str) else None


class _Operations:
    """The operations of an expression so far, each of which gives a part."""

    def __init__(self) -> None:
        self.listed: list[Operation] = []
        self.parts = 0
        self.free: list[Part] = []

    def source(self, expr: Expr) -> Leaf:
        """Return a leaf, or the part that an expression becomes. Raises NoOperationError."""
        leaf = _leaf(expr)
        return leaf if leaf is not None else self.append(*_operands(expr, self))

    def append(self, name: str, a: Leaf, b: Leaf) -> Part:
        """Append an operation; what it uses need not be kept, and what it gives takes its place."""
        self.free += [source for source in (b, a) if isinstance(source, Part)]
        if not self.free:
            self.free.append(Part(number=self.parts))
            self.parts += 1
        self.listed.append(Operation(name=name, a=a, b=b, to=self.free.pop()))
        return typing.cast(Part, self.listed[-1].to)


def _operands(expr: Expr, found: _Operations) -> tuple[str, Leaf, Leaf]:
    """Return the operation of an expression that is no leaf. Raises NoOperationError."""
    match expr:
        case Binary():
            return BINARY[expr.op], found.source(expr.left), found.source(expr.right)
        case Call() if expr.function in CALL:
            a, b = map(found.source, expr.arguments)
            return CALL[expr.function], a, b
        case Call(function="relu"):
            return "MAX", found.source(expr.arguments[0]), 0
        case Unary():
            return "MUL", found.source(expr.operand), -1
    raise NoOperationError(f"`{expression_text(expr)}` is no vector operation")


def _leaf(expr: Expr) -> str | float | None:
    match expr:
        case Access():
            return expr.tensor
        case Number():
            return expr.value
        case Unary(operand=Number(value=value)):
            return -value
    return None
