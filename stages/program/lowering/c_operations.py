"""Operations and numbers in C, bit for bit as values/arithmetic.py has them.

Paper    E Sec. 6.1: from nodes to text
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from stages.machine.types import is_integer
from stages.program.values.arithmetic import round_number
from stages.program.values.forms import Number

C_TYPES = {"float16": "float16", "float32": "float", "int16": "int16_t", "int32": "int32_t"}
"""What pe.h calls the types of elements."""

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
OF_FLOATS = {
    "abs": "fabsf({0})", "neg": "-({0})", "sqrt": "sqrtf({0})",
    "exp": "(float)exp((double){0})", "log": "(float)log((double){0})",
    "maximum": "maximum({0}, {1})", "minimum": "minimum({0}, {1})",
}
OF_INTEGERS = {
    "abs": "max({0}, ({T})(0u - (uint32_t){0}))", "neg": "(0u - (uint32_t){0})",
    "maximum": "max({0}, {1})", "minimum": "min({0}, {1})",
    "shl": "shifted_left({0}, {1})", "shr": "shifted_right({0}, {1})",
    "shr_logical": "shifted_right_logical(({U}){0}, {1})",
}
COMPARED = {
    "eq": "equal{of}({0}, {1})", "ne": "!equal{of}({0}, {1})", "lt": "less{of}({0}, {1})",
    "le": "less_equal{of}({0}, {1})", "gt": "less{of}({1}, {0})", "ge": "less_equal{of}({1}, {0})",
}


def write_operation(op: str, types: Sequence[str], operands: Sequence[str]) -> str:
    """Return what an operation of OPERATIONS, `copy` or `cast` gives, as an expression in C.

    `types` are those of the result and of the operands. An operand is the text of an expression of
    its type (a float16 is a struct) that needs no parentheses and may be computed twice.
    """
    result, *of = types
    if op == "where":
        return f"{operands[0]} != 0 ? {operands[1]} : {operands[2]}"
    if op == "copy" or (op == "cast" and result == of[0]):
        return operands[0]
    if op == "cast":
        return _write_cast(result, of[0], operands[0])
    if op in COMPARED:
        whole = is_integer(of[0])
        compared = [_load(each, of[0]) for each in operands]
        return f"(int16_t){COMPARED[op].format(*compared, of='_integer' if whole else '')}"
    return _write_number_like(op, result, operands)


def _write_number_like(op: str, type_: str, operands: Sequence[str]) -> str:
    name = C_TYPES[type_]
    if is_integer(type_):
        if op in ("and", "or", "xor"):
            return f"({name})({f' {INFIX[op]} '.join(operands)})"
        if op in INFIX:
            wide = f" {INFIX[op]} ".join(f"(uint32_t){each}" for each in operands)
            return f"({name})({wide})"
        return f"({name}){OF_INTEGERS[op].format(*operands, T=name, U='u' + name)}"
    loaded = [_load(each, type_) for each in operands]
    text = f" {INFIX[op]} ".join(loaded) if op in INFIX else OF_FLOATS[op].format(*loaded)
    return f"f16({text})" if type_ == "float16" else text


def _write_cast(result: str, type_: str, operand: str) -> str:
    if not is_integer(result):
        wide = f"(float){operand}" if is_integer(type_) else _load(operand, type_)
        return f"f16({wide})" if result == "float16" else wide
    if is_integer(type_):
        return f"({C_TYPES[result]}){operand}"
    return f"({C_TYPES[result]})truncated({_load(operand, type_)}, {result.upper()}_MAX)"


def _load(operand: str, type_: str) -> str:
    return f"f32({operand})" if type_ == "float16" else operand


def write_number(value: Number, type_: str) -> str:
    """Return a number, rounded to a type, as an expression of that type in C."""
    rounded = round_number(value, type_)
    if is_integer(type_):
        return "INT32_MIN" if int(rounded) == -(2**31) else str(int(rounded))
    text = _write_float(float(rounded))
    return f"f16({text})" if type_ == "float16" else text


def _write_float(value: float) -> str:
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!r}f"


def count_scalars(op: str) -> int:
    """Return how many scalar operations a loop is charged for an element of an operation."""
    return 0 if op == "copy" else 1


