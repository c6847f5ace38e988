"""Operations and numbers as nodes, bit for bit as values/arithmetic.py has them.

Paper    E Sec. 6.1: from nodes to text
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.machine.types import is_integer
from lairmake.stages.pe.nodes import (
    Assign,
    Choice,
    Compared,
    Computed,
    Literal,
    Loaded,
    Statement,
    Store,
)
from lairmake.stages.poly.expression import Number, Operation, Value
from lairmake.stages.program.values import forms
from lairmake.stages.program.values.arithmetic import round_number

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
FUNCTIONS = INFIX | {"neg": "negative", "maximum": "max", "minimum": "min"}
OF_FLOATS = FUNCTIONS | {"exp": "exp64", "log": "log64"}
COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def operate(target: Value, op: str, types: Sequence[str], operands: Sequence[Value]) -> Statement:
    """Return the statement that keeps what an operation of OPERATIONS, `copy` or `cast` gives.

    `types` are those of the target and of the operands, which are elements or numbers.
    """
    result, *of = types
    if op == "where":
        condition = Operation("!=", (load(operands[0], of[0]), Number(0)))
        return Assign(target, Choice(condition, *operands[1:]))
    if op == "copy" or (op == "cast" and result == of[0]):
        return Assign(target, operands[0])
    if op == "cast":
        return Store(target, _cast(result, of[0], operands[0]), result)
    loaded = tuple(load(each, type_) for each, type_ in zip(operands, of, strict=True))
    if op in COMPARED:
        left, right = loaded
        holds = compare(COMPARED[op], left, right, of[0])
        return Store(target, Choice(holds, Number(1), Number(0)), result)
    if is_integer(result):
        return Store(target, Computed(FUNCTIONS.get(op, op), loaded, result), result)
    return Store(target, Computed(OF_FLOATS.get(op, op), loaded, "float32"), result)


def compare(sign: str, left: Value, right: Value, type_: str) -> Compared:
    """Return a comparison of values that were loaded of a type."""
    return Compared(sign, left, right, type_ if is_integer(type_) else "float32")


def load(value: Value, type_: str) -> Value:
    """Return an element of a type as it is computed with: a float as float32."""
    if is_integer(type_):
        return value
    return Literal(value.value, "float32") if isinstance(value, Literal) else Loaded(value, type_)


def _cast(result: str, type_: str, operand: Value) -> Value:
    """Return a value of another type, which a float is before it is rounded."""
    if not is_integer(result):
        return Loaded(operand, type_)
    if is_integer(type_):
        return Computed("wrap", (operand,), result)
    return Computed("truncate", (load(operand, type_),), result)


def make_literal(value: forms.Number, type_: str) -> Literal:
    """Return a number, rounded to a type."""
    rounded = round_number(value, type_)
    return Literal(int(rounded) if is_integer(type_) else float(rounded), type_)


def count_scalars(op: str) -> int:
    """Return how many scalar operations a loop is charged for an element of an operation."""
    return 0 if op == "copy" else 1
