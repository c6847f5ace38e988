"""Which statements are one operation for which there is a vector instruction.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5, condition 1
"""

from __future__ import annotations

from dataclasses import dataclass

from stages.lair.tree import Access, Binary, Call, Expr, Number

BINARY = {"+": "ADD", "-": "SUB", "*": "MUL"}
CALL = {"max": "MAX", "min": "MIN"}
ACCUMULATE = {"+=": "ADD", "*=": "MUL", "max=": "MAX", "min=": "MIN"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A vector operation and its two sources: the name of a tensor, or a number.

    `a` is the name of the target where an operation accumulates; COPY has no `b`.
    """

    name: str
    a: str | float
    b: str | float | None


def operation_of(target: str, op: str, expr: Expr) -> Operation | None:
    """Return the vector operation of `target op expr`; None if it takes several."""
    leaf = _leaf(expr)
    if op != "=" and leaf is not None:
        return Operation(name=ACCUMULATE[op], a=target, b=leaf)
    pair = _pair(expr)
    if op == "=":
        if leaf is not None:
            return Operation(name="COPY", a=leaf, b=None)
        return pair
    if op == "+=" and pair is not None and pair.name == "MUL":
        return Operation(name="MAC", a=pair.a, b=pair.b)
    return None


def _pair(expr: Expr) -> Operation | None:
    """Return the operation of an expression of two leaves."""
    match expr:
        case Binary() if expr.op in BINARY:
            name, arguments = BINARY[expr.op], (expr.left, expr.right)
        case Call() if expr.function in CALL:
            name, arguments = CALL[expr.function], (expr.arguments[0], expr.arguments[1])
        case _:
            return None
    a, b = map(_leaf, arguments)
    return None if a is None or b is None else Operation(name=name, a=a, b=b)


def _leaf(expr: Expr) -> str | float | None:
    match expr:
        case Access():
            return expr.tensor
        case Number():
            return expr.value
    return None
