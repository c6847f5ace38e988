"""What statements of LAIR compute, as values of programs, and how many operations that takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lairmake.stages.lair import tree
from lairmake.stages.machine.types import BYTES, find_integers, is_integer
from lairmake.stages.pe.nodes import Computed, Literal, Loaded
from lairmake.stages.poly.expression import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Operands:
    """Where the elements of tensors are that a statement reads, and their types."""

    values: Mapping[str, Value]
    types: Mapping[str, str]

    @property
    def type(self) -> str:
        """The type in which the statement is computed: float32, or the widest of integers."""
        whole = all(map(is_integer, self.types.values()))
        return find_integers(self.types.values()) if whole else "float32"


def make_literal(value: float | str, type_: str) -> Literal:
    """Return a number, inf and -inf included, as an element of a type: the nearest integer."""
    number = float(value)
    if not is_integer(type_):
        return Literal(number, type_)
    least = -(2 ** (8 * BYTES[type_] - 1))
    return Literal(int(min(max(number, least), -least - math.isinf(number))), type_)


def load(element: Value, type_: str, computed: str) -> Value:
    """Return an element as a value of the type in which a statement is computed."""
    return element if is_integer(computed) else Loaded(element, type_)


def make_value(expr: tree.Expr, operands: Operands) -> Value:
    """Return the value of an expression."""
    match expr:
        case tree.Number():
            return make_literal(expr.value, operands.type)
        case tree.Access():
            tensor = expr.tensor
            return load(operands.values[tensor], operands.types[tensor], operands.type)
        case tree.Unary():
            return Computed("negative", (make_value(expr.operand, operands),), operands.type)
        case tree.Call():
            arguments = tuple(make_value(a, operands) for a in expr.arguments)
            return Computed(expr.function, arguments, operands.type)
        case tree.Binary():
            sides = make_value(expr.left, operands), make_value(expr.right, operands)
            return Computed(expr.op, sides, operands.type)
    raise AssertionError(f"{expr} is no expression of a specialised statement")


def combine(op: str, left: Value, right: tree.Expr, operands: Operands) -> Value:
    """Return `left op right`, left an element; op is one of + * max min."""
    return Computed(op, (left, make_value(right, operands)), operands.type)


def count_scalar_operations(expr: tree.Expr) -> int:
    """Return how many scalar operations an expression takes."""
    match expr:
        case tree.Unary():
            return 1 + count_scalar_operations(expr.operand)
        case tree.Call():
            return 1 + sum(map(count_scalar_operations, expr.arguments))
        case tree.Binary():
            return 1 + count_scalar_operations(expr.left) + count_scalar_operations(expr.right)
    return 0
