"""What a body does to the element that it reduces: `own operator value`."""

from __future__ import annotations

from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import Binary, Call, Expr, Number, Reference, mentions


def find_reduction(expr: Expr, label: str) -> tuple[str, Expr] | None:
    """Return operator and value of `label operator value`, if the expression is that; else None."""
    match expr:
        case Binary(op="+" | "*" as op, left=left, right=right):
            pair = (left, right)
        case Call(function="max" | "min" as op, arguments=(left, right)):
            pair = (left, right)
        case _:
            return None
    for own, other in (pair, pair[::-1]):
        if isinstance(own, Reference) and own.name == label and not mentions(other, label):
            return op, other
    return None


def find_reductions(
    left: Expr, right: Expr, label: str
) -> tuple[str, Expr, Expr] | None:
    """Return operator and values of two expressions that reduce in one way, else None.

    One of them may be the element alone, which the neutral value leaves as it is.
    """
    found = [find_reduction(each, label) for each in (left, right)]
    operators = {each[0] for each in found if each is not None}
    if len(operators) != 1:
        return None
    (operator,) = operators
    values: list[Expr] = []
    for expr, each in zip((left, right), found, strict=True):
        if each is not None:
            values.append(each[1])
        elif isinstance(expr, Reference) and expr.name == label:
            values.append(Number(value=NEUTRAL[f"{operator}="], span=expr.span))
        else:
            return None
    return operator, values[0], values[1]


def write_reduction(label: str, operator: str, value: Expr) -> Expr:
    """Return `label operator value`."""
    own = Reference(name=label, indices=(), span=value.span)
    if operator in ("max", "min"):
        return Call(function=operator, arguments=(own, value), span=value.span)
    return Binary(op=operator, left=own, right=value, span=value.span)
