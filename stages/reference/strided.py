"""Instances block by block, as strided views."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import islpy as isl
import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from lairmake.stages.lair.layer import NEUTRAL, Statement
from lairmake.stages.lair.tree import (
    AccessSyntax,
    Affine,
    Binary,
    Expr,
    NumberSyntax,
    ReferenceSyntax,
    Unary,
)
from lairmake.stages.poly.arrays import evaluate_pw_aff, evaluate_set
from lairmake.stages.poly.functions import find_function

PARAM, IN, OUT = isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out

# --- Blocks of instances --------------------------------------------------------------------------
#
# A block is visited at once, with strided views for accesses.
# Nothing here loops over instances or elements: a block holds up to BLOCK instances.

Array = NDArray[Any]
Block = tuple[range, ...]
Read = Callable[[AccessSyntax], Array]

BLOCK = 2**25
"""Instances in a block: four arrays of 8 bytes each take 1 GiB."""

REDUCTIONS: Mapping[str, np.ufunc] = {
    "+=": np.add, "*=": np.multiply, "max=": np.maximum, "min=": np.minimum,
}


def reduced(statement: Statement) -> tuple[int, ...]:
    """Return the positions of the iterators that are not in the target's access."""
    used = {name for row in statement.target.rows for name, _ in row.coefficients}
    return tuple(k for k, name in enumerate(statement.iterators) if name not in used)


def view(array: Array, access: AccessSyntax, iterators: Sequence[str], block: Block) -> Array:
    """Return the accessed elements, one axis per iterator; axes that the access ignores have
    length 1. The view shares memory with `array`.
    """
    starts = {name: values.start for name, values in zip(iterators, block, strict=True)}
    first: tuple[Any, ...] = tuple(slice(_at(row, starts), None) for row in access.rows)
    corner = array[(*first, ...)]
    steps = dict.fromkeys(iterators, 0)
    for row, stride in zip(access.rows, array.strides, strict=True):
        for name, coefficient in row.coefficients:
            steps[name] += coefficient * stride
    used = {name for row in access.rows for name, _ in row.coefficients}
    lengths = [len(values) if n in used else 1 for n, values in zip(iterators, block, strict=True)]
    return as_strided(corner, lengths, [steps[n] for n in iterators], writeable=False)


def _at(row: Affine, values: Mapping[str, int]) -> int:
    return row.constant + sum(c * values[name] for name, c in row.coefficients)


def blocks(sizes: Sequence[int], inner: Sequence[int], limit: int = BLOCK) -> Iterator[Block]:
    """Yield blocks of at most `limit` instances that together hold every instance once.

    Outer axes are cut first; the axes `inner` last.
    """
    lengths = list(sizes)
    for axis in sorted(range(len(sizes)), key=lambda k: (k in inner, k)):
        rest = math.prod(lengths) // lengths[axis]
        lengths[axis] = min(lengths[axis], max(1, limit // rest))
    cuts = [
        [range(start, min(start + length, size)) for start in range(0, size, length)]
        for size, length in zip(sizes, lengths, strict=True)
    ]
    return itertools.product(*cuts)


def reduce(
    statement: Statement,
    shape: tuple[int, ...],
    dtype: type[np.int64] | type[np.float64],
    values: Callable[[Block], Array],
) -> Array:
    """Return the array of `shape` that the statement defines from the values of its instances.

    `values(block)` broadcasts to the block's lengths. `=` has one instance per element, so it is
    a sum of one term, which keeps the sign of a zero.
    """
    ufunc, inner = REDUCTIONS.get(statement.op, np.add), reduced(statement)
    before = -0.0 if statement.op == "=" and dtype is np.float64 else neutral(statement.op, dtype)
    result = np.full(shape, before, dtype)
    for block in blocks(statement.sizes, inner):
        lengths = tuple(map(len, block))
        found = np.broadcast_to(values(block), lengths)
        wide = np.result_type(found, dtype)
        partial = found.astype(wide)
        if statement.op != "=":
            partial = ufunc.reduce(found, axis=inner, dtype=wide, keepdims=True)
        _combine(ufunc, result, partial, statement, block)
    return result


def _combine(
    ufunc: np.ufunc, result: Array, partial: Array, statement: Statement, block: Block
) -> None:
    """Reduce the values of a block, one per instance of the unreduced iterators, into `result`."""
    where = target_slices(statement, block)
    if where is None:
        ufunc.at(result, _indices(statement, block), partial)
        return
    order = [statement.iterators.index(row.coefficients[0][0]) for row in statement.target.rows]
    part = partial.transpose(*order, *reduced(statement)).reshape(result[where].shape)
    result[where] = ufunc(result[where], part)


def target_slices(statement: Statement, block: Block) -> tuple[Any, ...] | None:
    """Return the part of the result that a block defines; None if it is no box of iterators."""
    names = [row.coefficients[0][0] for row in statement.target.rows if is_iterator(row)]
    if len(names) != len(statement.target.rows) or len(set(names)) != len(names):
        return None
    ranges = [block[statement.iterators.index(name)] for name in names]
    return (*(slice(each.start, each.stop) for each in ranges), ...)


def is_iterator(row: Affine) -> bool:
    """Say whether a row is one iterator and nothing else."""
    return row.constant == 0 and len(row.coefficients) == 1 and row.coefficients[0][1] == 1


def _indices(statement: Statement, block: Block) -> tuple[Array, ...]:
    """Return one index array per row of the target; together they broadcast to the block."""
    inner = reduced(statement)
    axes = [range(1) if k in inner else values for k, values in enumerate(block)]
    grid = dict(zip(statement.iterators, np.ix_(*map(np.asarray, axes)), strict=True))
    lengths = tuple(map(len, axes))
    return tuple(
        np.broadcast_to(
            row.constant + sum(c * grid[name] for name, c in row.coefficients), lengths
        ).astype(np.int64)
        for row in statement.target.rows
    )


def neutral(op: str, dtype: type[np.int64] | type[np.float64]) -> Any:
    """Return the value that a reduction starts from: of integers, the least is their infinity."""
    value = NEUTRAL.get(op, 0)
    if dtype is np.float64 or math.isfinite(value):
        return value
    return np.iinfo(np.int64).min if value < 0 else np.iinfo(np.int64).max

# --- Blocks of instances under conditions ---------------------------------------------------------
#
# Masks say where conditions hold.
# No isl takes part. Quotients are rounded down, and remainders are not negative, since divisors are
# positive.

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
    """Return what `reduce` does, of instances whose conditions hold.

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
        case NumberSyntax():
            return np.asarray(expr.value)
        case ReferenceSyntax():
            return values[expr.name]
        case Unary():
            return np.negative(_value(expr.operand, values))
        case Binary():
            return _OPERATIONS[expr.op](_value(expr.left, values), _value(expr.right, values))
    raise AssertionError(f"{expr} is no side of a condition")


def gather(array: Array, access: AccessSyntax, statement: Statement, block: Block) -> Array:
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

# --- Elements of arrays by isl maps ---------------------------------------------------------------
#
# The maps give the index arrays by which NumPy reads or moves elements.
# No isl call depends on the number of elements.

Values = dict[str, Any]
"""The values of symbolic constants."""


def move(copy: isl.Map, array: Array, operand: Array, sizes: Values) -> None:
    """Put the elements of an operand where { array[e] -> operand[e'] } has them."""
    for block in blocks(array.shape, ()):
        grid = grid_of(block)
        where, inside = elements(copy, grid, sizes)
        inside = np.broadcast_to(inside, tuple(map(len, block)))
        here: Any = (..., *(slice(each.start, each.stop) for each in block))
        part = array[here]
        moved = operand[tuple(np.broadcast_to(w, inside.shape)[inside] for w in where)]
        part[inside] = moved


def elements(
    by: isl.Map, grid: Sequence[Array], sizes: Values
) -> tuple[list[Array], Array]:
    """Return the element that a function gives for every point of a grid, and where it has one.

    One array per dimension of the element; each broadcasts to the grid.
    """
    names = [f"index{k}" for k in range(len(grid))]
    tuple_ = f"{by.get_tuple_name(IN) or ''}[{', '.join(names)}]"
    bound = by.reverse().bind_range(isl.MultiId(f"[{', '.join(names)}] -> {{ {tuple_} }}"))
    values = {**dict(zip(names, grid, strict=True)), **sizes}
    function = find_function(bound)
    where = [_at_index(function.get_at(k), values) for k in range(function.dim(OUT))]
    context = bound.params().drop_unused_params()
    return where, evaluate_set(context, _used(context, values))


def _at_index(function: isl.PwAff, values: Values) -> Array:
    plain = function.drop_unused_params()
    found, _ = evaluate_pw_aff(plain, _used(plain, values))
    return found


def _used(thing: Any, values: Values) -> Values:
    """Return the values of the symbolic constants that occur."""
    names = [thing.get_dim_name(PARAM, k) for k in range(thing.dim(PARAM))]
    return {name: values[name] for name in names}


def grid_of(block: Sequence[range]) -> list[Array]:
    """Return an array per dimension, which broadcast to the block."""
    return list(np.ix_(*(np.arange(each.start, each.stop) for each in block)))
