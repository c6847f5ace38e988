"""Accumulate the expression of a statement over its instances.

Values of a float statement are float64, every call and quotient a float32 among them; those of an
integer statement are int64, wrapped to the widest type of its tensors (design, Arithmetic).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from lairmake.stages.lair.expressions import EXACT_FUNCTIONS
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Number, Reference, Unary
from lairmake.stages.machine.types import is_integer
from lairmake.stages.reference.masked import gather, reduce_where
from lairmake.stages.reference.strided import Array, Block, Read, reduce, target_slices, view

TermMeaning = Callable[[Expr, Read], Array]
"""What an expression is worth, given how to read an access."""

_ERF = np.frompyfunc(math.erf, 1, 1)

_FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "relu": lambda a: np.asarray(np.where(a < 0, a.dtype.type(0), a)),
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "max": lambda a, b: np.asarray(np.where((a >= b) | (a != a), a, b)),
    "min": lambda a, b: np.asarray(np.where((a <= b) | (a != a), a, b)),
    "tanh": np.tanh,
    "log": np.log,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "erf": lambda a: np.asarray(_ERF(a), np.float64).astype(a.dtype),
    "sin": np.sin,
    "cos": np.cos,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "pow": np.power,
    "less": lambda a, b: (a < b).astype(a.dtype),
    "less_equal": lambda a, b: (a <= b).astype(a.dtype),
    "equal": lambda a, b: (a == b).astype(a.dtype),
    "select": lambda c, a, b: np.asarray(np.where(c != 0, a, b)),
}

_OPERATORS: Mapping[str, Callable[[Array, Array], Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
}


def accumulate(
    statement: Statement, layer: Layer, inputs: Mapping[str, Array], meaning: TermMeaning
) -> Array:
    """Return what the statement defines if every instance gives `meaning` of its expression.

    The result has the output's shape; int64 for integer types, float64 for floats.
    """
    if not _is_sum_of_products(statement):
        return accumulate_each(statement, layer, inputs, meaning)
    arrays = _wide(statement, layer, inputs)
    worth = {a.tensor: meaning(a, lambda a: arrays[a.tensor]) for a in statement.reads}
    return _sum_of_products(statement, worth)


def _wide(
    statement: Statement, layer: Layer, inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Return what a statement reads, in the type in which it is accumulated."""
    wide = _accumulator(statement, layer)
    return {a.tensor: inputs[a.tensor].astype(wide) for a in statement.reads}


def _accumulator(statement: Statement, layer: Layer) -> type[np.int64] | type[np.float64]:
    return np.int64 if is_integer(layer.tensors[statement.target.tensor].type) else np.float64


def accumulate_each(
    statement: Statement, layer: Layer, inputs: Mapping[str, Array], meaning: TermMeaning
) -> Array:
    """Accumulate `meaning` of a statement's expression, instance by instance."""
    output, wide = layer.tensors[statement.target.tensor], _accumulator(statement, layer)
    arrays = _wide(statement, layer, inputs)

    def values(block: Block) -> Array:
        if statement.conditions:
            return meaning(
                statement.expr, lambda a: gather(arrays[a.tensor], a, statement, block)
            )
        return meaning(
            statement.expr,
            lambda a: view(arrays[a.tensor], a, statement.iterators, block),
        )

    if not statement.conditions:
        return reduce(statement, output.shape, wide, values)
    found = reduce_where(statement, output.shape, wide, values)
    return _nearest(found, statement, output.type)


def _nearest(values: Array, statement: Statement, type_: str) -> Array:
    """Return values in which nothing is reduced to the least, or the largest, of integers."""
    if statement.op not in ("max=", "min=") or not is_integer(type_):
        return values
    return np.clip(values, np.iinfo(type_).min, np.iinfo(type_).max)


def _is_sum_of_products(statement: Statement) -> bool:
    """Whether einsum can do the whole statement at once, without memory for its instances."""
    match statement.expr:
        case Binary(op="*", left=Access(), right=Access()):
            whole = tuple(map(range, statement.sizes))
            slices = target_slices(statement, whole)
            return statement.op == "+=" and slices is not None and not statement.conditions
    return False


def _sum_of_products(statement: Statement, arrays: Mapping[str, Array]) -> Array:
    assert isinstance(statement.expr, Binary)
    whole = tuple(map(range, statement.sizes))
    axes = list(range(len(statement.sizes)))
    factors = []
    for access in (statement.expr.left, statement.expr.right):
        assert isinstance(access, Access)
        part = view(arrays[access.tensor], access, statement.iterators, whole)
        factors.append(np.broadcast_to(part, statement.sizes))
    rows = statement.target.rows
    out = [statement.iterators.index(row.coefficients[0][0]) for row in rows]
    return np.asarray(np.einsum(factors[0], axes, factors[1], axes, out))


def value(expr: Expr, read: Read, whole: str = "int32") -> Array:
    """Return the value of an expression over a block; it broadcasts to the block.

    Integers are wrapped to the type `whole` by every operation.
    """
    match expr:
        case Number():
            return np.asarray(expr.value)
        case Access():
            return read(expr)
        case Unary():
            return _wrapped(np.negative(value(expr.operand, read, whole)), whole)
        case Binary(op="/"):
            return quotient(value(expr.left, read, whole), value(expr.right, read, whole))
        case Binary():
            left, right = value(expr.left, read, whole), value(expr.right, read, whole)
            return _wrapped(_OPERATORS[expr.op](left, right), whole)
        case Call():
            arguments = (value(argument, read, whole) for argument in expr.arguments)
            return _wrapped(apply(expr.function, *arguments), whole)
        case Reference():
            raise AssertionError("a layer's expressions hold accesses only")


def _wrapped(values: Array, whole: str) -> Array:
    """Return integers as every operation of a program leaves them."""
    if np.issubdtype(values.dtype, np.integer):
        return np.asarray(values.astype(whole).astype(np.int64))
    return values


def quotient(left: Array, right: Array) -> Array:
    """Return left / right in float32, as float64."""
    return np.divide(left.astype(np.float32), right.astype(np.float32)).astype(np.float64)


def apply(function: str, *arguments: Array) -> Array:
    """Return a function of FUNCTIONS in float32, as float64; of integers, if exact, in int64."""
    integers = all(np.issubdtype(argument.dtype, np.integer) for argument in arguments)
    if integers and function in EXACT_FUNCTIONS:
        return _FUNCTIONS[function](*arguments)
    rounded = (argument.astype(np.float32) for argument in arguments)
    return _FUNCTIONS[function](*rounded).astype(np.float64)
