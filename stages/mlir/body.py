"""Bodies of structured operations as expressions of LAIR."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from stages.lair.expressions import expression_text
from stages.lair.tree import Binary, Call, Expr, Number, Reference, Unary
from stages.mlir.draft import Draft

OPERATORS = {
    "arith.addf": "+", "arith.addi": "+", "arith.subf": "-", "arith.subi": "-",
    "arith.mulf": "*", "arith.muli": "*", "arith.divf": "/",
}
FUNCTIONS = {
    "arith.maximumf": "max", "arith.maxnumf": "max", "arith.maxsi": "max",
    "arith.minimumf": "min", "arith.minnumf": "min", "arith.minsi": "min",
    "math.exp": "exp", "math.sqrt": "sqrt", "math.absf": "abs", "math.absi": "abs",
    "math.tanh": "tanh", "math.log": "log",
}
NEGATION = "arith.negf"
WIDENING = frozenset({"arith.extf", "arith.extsi"})
NARROWING = frozenset({"arith.truncf", "arith.trunci"})
ELEMENTWISE = frozenset({*OPERATORS, *FUNCTIONS, NEGATION, *WIDENING, *NARROWING})
REDUCTIONS = {"+": "+=", "*": "*=", "max": "max=", "min": "min="}


class Body:
    """The values of a block; `labels` says what its arguments, and volumes, are called."""

    def __init__(self, draft: Draft, owner: Operation, labels: Mapping[int, str]) -> None:
        self._draft, self._owner, self._labels = draft, owner, dict(labels)
        self.scalars: dict[str, str] = {}

    def value(self, value: SSAValue) -> Expr:
        """Return the expression of a value. A scalar from outside becomes one of `scalars`."""
        if id(value) in self._labels:
            return self._reference(self._labels[id(value)])
        owner = value.owner
        if isinstance(owner, ConstantOp) and isinstance(owner.value, FloatAttr | IntegerAttr):
            return self._number(owner)
        if self._draft.is_volume(value):
            return self._scalar(value)
        if isinstance(owner, Block):
            raise self._draft.error(self._owner, "an index is used as a value")
        return self.apply(owner)

    def apply(self, operation: Operation) -> Expr:
        """Return the expression of what an operation gives. Raises UserError for those of MLIR
        that LAIR has not."""
        span, name = self._draft.text.span(operation), operation.name
        if name not in ELEMENTWISE:
            hint = f"a body has arithmetic and {', '.join(sorted(set(FUNCTIONS.values())))}"
            raise self._draft.error(operation, f"{name} has no place in a body", hint)
        if name in NARROWING:
            self._check_last(operation)
        operands = [self.value(each) for each in operation.operands]
        if name in OPERATORS:
            return Binary(op=OPERATORS[name], left=operands[0], right=operands[1], span=span)
        if name in FUNCTIONS:
            return Call(function=FUNCTIONS[name], arguments=tuple(operands), span=span)
        if name == NEGATION:
            return Unary(op="-", operand=operands[0], span=span)
        return operands[0]

    def _check_last(self, operation: Operation) -> None:
        """Raise UserError for rounding on the way; what is put into a result is rounded anyhow."""
        users = [use.operation for use in operation.results[0].uses]
        if any(user.name in ELEMENTWISE for user in users) and not self._draft.is_volume(
            operation.results[0]
        ):
            hint = "round in an operation of its own"
            raise self._draft.error(operation, f"{operation.name} within a body", hint)

    def _reference(self, label: str) -> Reference:
        span = self._draft.text.span(self._owner)
        return Reference(name=label, indices=(), span=span)

    def _number(self, owner: ConstantOp) -> Number:
        assert isinstance(owner.value, FloatAttr | IntegerAttr)
        found = number_of(owner.value)
        if not math.isfinite(found):
            raise self._draft.error(owner, f"a body has no {found}")
        return Number(value=found, span=self._draft.text.span(self._owner))

    def _scalar(self, value: SSAValue) -> Reference:
        """Return the reference to a volume without dimensions that the body takes from outside."""
        volume = self._draft.volume(value)
        if self._draft.sizes(value):
            raise self._draft.error(self._owner, f"{volume} is no scalar, and no operand")
        label = self.scalars.setdefault(volume, volume)
        return self._reference(label)


def number_of(value: FloatAttr[AnyFloat] | IntegerAttr) -> int | float:
    """Return a constant; of a float the shortest decimal that its type rounds to it."""
    if isinstance(value, IntegerAttr):
        return int(value.value.data)
    types = {16: np.float16, 32: np.float32}
    return float(str(types.get(value.type.bitwidth, np.float64)(value.value.data)))


def reduction_of(expr: Expr, label: str) -> tuple[str, Expr] | None:
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
            return REDUCTIONS[op], other
    return None


def mentions(expr: Expr, label: str) -> bool:
    """Return whether an expression reads what a label stands for."""
    match expr:
        case Reference():
            return expr.name == label
        case Binary():
            return mentions(expr.left, label) or mentions(expr.right, label)
        case Unary():
            return mentions(expr.operand, label)
        case Call():
            return any(mentions(each, label) for each in expr.arguments)
    return False


def shown(expr: Expr) -> str:
    """Return the text of an expression."""
    return expression_text(expr)
