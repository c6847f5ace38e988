"""Expressions, affine expressions, vector operations."""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lairmake.stages.lair.tree import (
    AccessSyntax,
    Affine,
    Binary,
    CallSyntax,
    Expr,
    NumberSyntax,
    ReferenceSyntax,
    Unary,
    walk,
)

# --- Expressions of LAIR --------------------------------------------------------------------------

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
"""The functions that are not said to have a finite value at zero."""

FINITE_AT_ZERO = frozenset({"exp", "sqrt"})
"""The functions that have a finite value at zero, and not everywhere."""

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}


def write_expression(expr: Expr) -> str:
    """Return the text of an expression, tensors without their indices, as few parentheses as
    keep its order of evaluation: `parse_expression` gives an equal expression back.
    """
    match expr:
        case NumberSyntax():
            return repr(expr.value)
        case AccessSyntax():
            return expr.name
        case ReferenceSyntax():
            return expr.name
        case Unary():
            return f"-{_operand(expr.operand, 3)}"
        case CallSyntax():
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
    """Say whether an expression is zero, whatever other tensors hold, where `tensor` is zero.

    Symbolic and safe: False also stands for "not known". `x / w` is not zero at zero where w is
    zero too, since it has no value there (design, Sparse tensors).
    """
    return _is_zero(expr, tensor) and _has_value(expr, tensor)


def _is_zero(expr: Expr, tensor: str) -> bool:
    match expr:
        case NumberSyntax():
            return expr.value == 0
        case AccessSyntax():
            return expr.tensor == tensor
        case ReferenceSyntax():
            return expr.name == tensor
        case Unary():
            return _is_zero(expr.operand, tensor)
        case Binary(op="*"):
            return _is_zero(expr.left, tensor) or _is_zero(expr.right, tensor)
        case Binary(op="/"):
            return _is_zero(expr.left, tensor)
        case Binary():
            return _is_zero(expr.left, tensor) and _is_zero(expr.right, tensor)
        case CallSyntax(function="select"):
            return all(_is_zero(argument, tensor) for argument in expr.arguments[1:])
        case CallSyntax():
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
        case CallSyntax():
            values = all(_has_value(argument, tensor) for argument in expr.arguments)
            finite = expr.function not in FINITE_AT_ZERO or _is_zero(expr.arguments[0], tensor)
            return values and finite and expr.function not in UNBOUNDED
    return True


def _is_divisor(expr: Expr) -> bool:
    return isinstance(expr, NumberSyntax) and expr.value != 0

# --- Affine expressions ---------------------------------------------------------------------------

def find_non_affine(expr: Expr, variables: Collection[str]) -> Expr | None:
    """Return the innermost, leftmost part that keeps an expression from being affine.

    Affine in `variables`; every other name stands for an integer.
    """
    match expr:
        case NumberSyntax():
            return None if isinstance(expr.value, int) else expr
        case ReferenceSyntax():
            return expr if expr.indices else None
        case Unary():
            return find_non_affine(expr.operand, variables)
        case Binary():
            inner = find_non_affine(expr.left, variables) or find_non_affine(expr.right, variables)
            return inner or (expr if _is_product_of_variables(expr, variables) else None)
    return expr


def _is_product_of_variables(expr: Binary, variables: Collection[str]) -> bool:
    """Whether both factors, or a divisor, hold variables; `/` never gives an affine integer."""
    if expr.op in ("//", "mod"):
        return _mentions(expr.right, variables)
    if expr.op == "*":
        return _mentions(expr.left, variables) and _mentions(expr.right, variables)
    return expr.op == "/"


def _mentions(expr: Expr, variables: Collection[str]) -> bool:
    return any(isinstance(part, ReferenceSyntax) and part.name in variables for part in walk(expr))


def find_affine(expr: Expr, constants: Mapping[str, int]) -> Affine:
    """Return the affine form of an expression that `find_non_affine` found nothing wrong with.

    Names without a constant are iterators, in the order of their first appearance.
    """
    match expr:
        case NumberSyntax():
            return Affine(coefficients=(), constant=int(expr.value))
        case ReferenceSyntax() if expr.name in constants:
            return Affine(coefficients=(), constant=constants[expr.name])
        case ReferenceSyntax():
            return Affine(coefficients=((expr.name, 1),), constant=0)
        case Unary():
            return _scale(find_affine(expr.operand, constants), -1)
        case Binary():
            left, right = find_affine(expr.left, constants), find_affine(expr.right, constants)
            return _combine(expr.op, left, right)
    raise AssertionError(f"not affine: {expr}")


def _combine(op: str, left: Affine, right: Affine) -> Affine:
    if op == "*":
        factor, other = (right, left) if left.coefficients else (left, right)
        return _scale(other, factor.constant)
    right = _scale(right, -1) if op == "-" else right
    coefficients = dict(left.coefficients)
    for name, coefficient in right.coefficients:
        coefficients[name] = coefficients.get(name, 0) + coefficient
    return _affine(coefficients, left.constant + right.constant)


def _scale(row: Affine, factor: int) -> Affine:
    return _affine({n: c * factor for n, c in row.coefficients}, row.constant * factor)


def _affine(coefficients: Mapping[str, int], constant: int) -> Affine:
    nonzero = tuple((name, c) for name, c in coefficients.items() if c)
    return Affine(coefficients=nonzero, constant=constant)


def reach(row: Affine, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return the smallest and largest value of a row, 0 <= iterator < size."""
    ends = [(c * (sizes[name] - 1)) for name, c in row.coefficients]
    low = row.constant + sum(min(end, 0) for end in ends)
    return low, row.constant + sum(max(end, 0) for end in ends)

# --- Vector operations of a statement -------------------------------------------------------------
#
# A statement is one of them, or several, each of which uses what others gave.
#
# Paper    V Sec. 5, condition 1; several go beyond it

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
class ExpressionPart:
    """The result of an earlier operation of the statement; each has a number of its own.

    It may be `rounded` to the type of the target if what is computed from it only selects one of
    several values, or changes signs: rounding keeps their order.
    """

    number: int
    rounded: bool = False


Leaf = str | float | ExpressionPart


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorOperation:
    """A vector operation and its sources: the names of tensors, numbers, or parts.

    The first one is the name of the target where an operation accumulates; COPY has one, those that
    are FUSED have three; a function of LOOPED, as LAIR calls it, has its arguments. `to` is the
    part that it gives, None if that is the target.
    """

    name: str
    sources: tuple[Leaf, ...]
    to: ExpressionPart | None = None


def list_operations(target: str, op: str, expr: Expr) -> tuple[VectorOperation, ...]:
    """Return the operations of `target op expr`; the last one gives the target.

    What occurs twice is computed once.
    """
    leaf, found = _leaf(expr), _Operations()
    if leaf is not None and op == "=":
        return (VectorOperation(name="COPY", sources=(leaf,)),)
    if leaf is not None:
        return (VectorOperation(name=ACCUMULATE[op], sources=(target, leaf)),)
    name, sources = _operation(expr, found, rounded=op in ("=", "max=", "min="))
    if op == "+=" and name == "MUL":
        name = "MAC"
    elif op != "=":
        part = found.append(name, sources, rounded=ACCUMULATE[op] in SELECTING)
        name, sources = ACCUMULATE[op], (target, part)
    return (*found.listed, VectorOperation(name=name, sources=sources))


def multiplies_and_adds(operations: Sequence[VectorOperation]) -> bool:
    """Say whether there is a multiply-add."""
    return any(operation.name in MULTIPLY_ADDS for operation in operations)


class _Operations:
    """The operations of an expression so far, each of which gives a part."""

    def __init__(self) -> None:
        self.listed: list[VectorOperation] = []
        self.parts: dict[tuple[str, bool], ExpressionPart] = {}

    def source(self, expr: Expr, *, rounded: bool) -> Leaf:
        """Return a leaf, or the part that an expression becomes."""
        leaf, key = _leaf(expr), (write_expression(expr), rounded)
        if leaf is not None:
            return leaf
        if key not in self.parts:
            operation = _operation(expr, self, rounded=rounded)
            self.parts[key] = self.append(*operation, rounded=rounded)
        return self.parts[key]

    def append(self, name: str, sources: tuple[Leaf, ...], *, rounded: bool) -> ExpressionPart:
        """Append an operation, and return the part that it gives."""
        part = ExpressionPart(number=len(self.listed), rounded=rounded)
        self.listed.append(VectorOperation(name=name, sources=sources, to=part))
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
        case CallSyntax(function="abs"):
            return _absolute(found.source(expr.arguments[0], rounded=rounded), found, rounded)
        case CallSyntax(function="relu"):
            return "MAX", (found.source(expr.arguments[0], rounded=rounded), 0)
        case CallSyntax() if expr.function in CALL:
            sources = [found.source(each, rounded=rounded) for each in expr.arguments]
            return CALL[expr.function], tuple(sources)
        case CallSyntax():
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
        case AccessSyntax():
            return expr.name
        case NumberSyntax():
            return expr.value
        case Unary(operand=NumberSyntax(value=value)):
            return -value
    return None
