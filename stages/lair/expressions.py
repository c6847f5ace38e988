"""LAIR expressions: their functions, their text between stages, and what they are at zero."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Number, Reference, Unary

FUNCTIONS: Mapping[str, int] = MappingProxyType(
    {
        "relu": 1,
        "exp": 1,
        "sqrt": 1,
        "abs": 1,
        "max": 2,
        "min": 2,
        "tanh": 1,
        "log": 1,
        "sigmoid": 1,
        "erf": 1,
        "sin": 1,
        "cos": 1,
        "floor": 1,
        "ceil": 1,
        "round": 1,
        "pow": 2,
        "less": 2,
        "less_equal": 2,
        "equal": 2,
        "select": 3,
    }
)
"""Every function of LAIR, and how many arguments it takes. Comparisons give 1 or 0; of three
values, `select` gives the third where the first is zero, and else the second."""

COMPARISONS = frozenset({"less", "less_equal", "equal"})

EXACT_FUNCTIONS = frozenset({"relu", "abs", "max", "min", "select", *COMPARISONS})
"""The functions that are exact on integers, and therefore defined on integer types."""

STEPS = frozenset({"floor", "ceil", "round"})
"""The functions that give whole numbers: `round` gives the even one where two are as near."""

ZERO_AT_ZERO = frozenset(
    {"relu", "sqrt", "abs", "tanh", "max", "min", "less", "erf", "sin", *STEPS}
)

UNBOUNDED = frozenset({"log", "pow"})
"""The functions of which it is not said that they have a finite value at zero."""

FINITE_AT_ZERO = frozenset({"exp", "sqrt"})
"""The functions that have a finite value at zero, and not everywhere."""

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}


def write_expression(expr: Expr) -> str:
    """Return the text of an expression, tensors without their indices, as few parentheses as
    keep its order of evaluation: `parse_expression` gives an equal expression back.
    """
    match expr:
        case Number():
            return repr(expr.value)
        case Access():
            return expr.tensor
        case Reference():
            return expr.name
        case Unary():
            return f"-{_operand(expr.operand, 3)}"
        case Call():
            return f"{expr.function}({', '.join(map(write_expression, expr.arguments))})"
        case Binary():
            level = _PRECEDENCE[expr.op]
            left, right = _operand(expr.left, level), _operand(expr.right, level + 1)
            return f"{left} {expr.op} {right}"


def _operand(expr: Expr, level: int) -> str:
    """Return the text of an operand, in parentheses if it binds less tightly than `level`."""
    text = write_expression(expr)
    binds = _PRECEDENCE[expr.op] if isinstance(expr, Binary) else 3
    return text if binds >= level else f"({text})"


def is_zero_at(expr: Expr, tensor: str) -> bool:
    """Whether the expression is zero, whatever the other tensors hold, where `tensor` is zero.

    Symbolic and safe: False also stands for "not known". `x / w` is not zero at zero where w is
    zero too, since it has no value there (design, Sparse tensors).
    """
    return _is_zero(expr, tensor) and _has_value(expr, tensor)


def _is_zero(expr: Expr, tensor: str) -> bool:
    match expr:
        case Number():
            return expr.value == 0
        case Access():
            return expr.tensor == tensor
        case Reference():
            return expr.name == tensor
        case Unary():
            return _is_zero(expr.operand, tensor)
        case Binary(op="*"):
            return _is_zero(expr.left, tensor) or _is_zero(expr.right, tensor)
        case Binary(op="/"):
            return _is_zero(expr.left, tensor)
        case Binary():
            return _is_zero(expr.left, tensor) and _is_zero(expr.right, tensor)
        case Call(function="select"):
            return all(_is_zero(argument, tensor) for argument in expr.arguments[1:])
        case Call():
            zero = all(_is_zero(argument, tensor) for argument in expr.arguments)
            return zero and expr.function in ZERO_AT_ZERO


def _has_value(expr: Expr, tensor: str) -> bool:
    """Whether the expression is surely a finite number where `tensor` is zero.

    Where w is another tensor, `0 / w`, and 0 times exp(w), sqrt(w), log(w) or pow(w, 2) may be NaN.
    """
    match expr:
        case Binary():
            both = _has_value(expr.left, tensor) and _has_value(expr.right, tensor)
            return both and (expr.op != "/" or _is_divisor(expr.right))
        case Unary():
            return _has_value(expr.operand, tensor)
        case Call():
            values = all(_has_value(argument, tensor) for argument in expr.arguments)
            finite = expr.function not in FINITE_AT_ZERO or _is_zero(expr.arguments[0], tensor)
            return values and finite and expr.function not in UNBOUNDED
    return True


def _is_divisor(expr: Expr) -> bool:
    return isinstance(expr, Number) and expr.value != 0
