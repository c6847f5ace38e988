"""Visit the instances of a statement with conditions: masks say where these hold.

No isl takes part. Quotients are rounded down, and remainders are not negative, since divisors are
positive.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

from lairmake.stages.lair.layer import Statement
from lairmake.stages.lair.tree import Access, Affine, Binary, Expr, Number, Reference, Unary
from lairmake.stages.reference.strided import REDUCTIONS, Array, Block, blocks, neutral, reduced

MASKED_BLOCK = 2**22
"""Instances in a block: besides values of 8 bytes each there are as many for each index."""

_OPERATIONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "mod": np.mod,
}
_RELATIONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "=": np.equal, "!=": np.not_equal,
}


def reduce_where(
    statement: Statement,
    shape: tuple[int, ...],
    dtype: type[np.int64] | type[np.float64],
    values: Callable[[Block], Array],
) -> Array:
    """Return what `reduce` of stages/reference/strided.py does, of instances that are there.

    What nothing is reduced to is neutral; what `=` does not define is 0.
    """
    result = np.full(shape, neutral(statement.op, dtype), dtype)
    for block in blocks(statement.sizes, reduced(statement), MASKED_BLOCK):
        mask = find_mask(statement, block)
        found = np.broadcast_to(values(block), mask.shape)[mask]
        result = result.astype(np.result_type(found, result), copy=False)
        at = _flat(statement, block, mask, shape)
        if statement.op == "=":
            result.reshape(-1)[at] = found
        else:
            REDUCTIONS[statement.op].at(result.reshape(-1), at, found)
    return result.astype(dtype, copy=False)


def find_mask(statement: Statement, block: Block) -> Array:
    """Return where all conditions hold, of the shape of the block."""
    values = _grid(statement, block)
    held = (
        _RELATIONS[each.op](_value(each.left, values), _value(each.right, values))
        for each in statement.conditions
    )
    every = functools.reduce(np.logical_and, held, np.asarray(True))
    return np.broadcast_to(every, tuple(map(len, block)))


def _grid(statement: Statement, block: Block) -> dict[str, Array]:
    """Return the values of each iterator in a block, along an axis of its own."""
    return dict(zip(statement.iterators, np.ix_(*map(np.asarray, block)), strict=True))


def _value(expr: Expr, values: Mapping[str, Array]) -> Array:
    """Return a side of a condition, for each instance."""
    match expr:
        case Number():
            return np.asarray(expr.value)
        case Reference():
            return values[expr.name]
        case Unary():
            return np.negative(_value(expr.operand, values))
        case Binary():
            return _OPERATIONS[expr.op](_value(expr.left, values), _value(expr.right, values))
    raise AssertionError(f"{expr} is no side of a condition")


def gather(array: Array, access: Access, statement: Statement, block: Block) -> Array:
    """Return the accessed elements, one axis per iterator; axes that the access ignores have
    length 1. Where an index leaves the array, and so no condition holds, there is some element.
    """
    values = _grid(statement, block)
    ends = zip(access.rows, array.shape, strict=True)
    rows = [np.clip(_index(row, values), 0, size - 1) for row, size in ends]
    lengths = np.broadcast_shapes((1,) * len(block), *(row.shape for row in rows))
    return np.asarray(array[tuple(rows)]).reshape(lengths)


def _index(row: Affine, values: Mapping[str, Array]) -> Array:
    return np.asarray(row.constant + sum(c * values[name] for name, c in row.coefficients))


def _flat(statement: Statement, block: Block, mask: Array, shape: tuple[int, ...]) -> Array:
    """Return where the elements lie that the instances define for which the conditions hold."""
    values = _grid(statement, block)
    found = np.zeros(np.count_nonzero(mask), np.int64)
    for row, size in zip(statement.target.rows, shape, strict=True):
        found = found * size + np.broadcast_to(_index(row, values), mask.shape)[mask]
    return found
