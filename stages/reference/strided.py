"""Visit all instances of a statement block by block, with strided views for accesses.

Nothing here loops over instances or elements: a block holds up to BLOCK instances.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from lairmake.stages.lair.layer import NEUTRAL, Statement
from lairmake.stages.lair.tree import Access, Affine

Array = NDArray[Any]
Block = tuple[range, ...]
Read = Callable[[Access], Array]

BLOCK = 2**25
"""Instances in a block: four arrays of 8 bytes each take 1 GiB."""

REDUCTIONS: Mapping[str, np.ufunc] = {
    "+=": np.add, "*=": np.multiply, "max=": np.maximum, "min=": np.minimum,
}


def reduced(statement: Statement) -> tuple[int, ...]:
    """Return the positions of the iterators that are not in the target's access."""
    used = {name for row in statement.target.rows for name, _ in row.coefficients}
    return tuple(k for k, name in enumerate(statement.iterators) if name not in used)


def view(array: Array, access: Access, iterators: Sequence[str], block: Block) -> Array:
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
    """Whether a row is one iterator and nothing else."""
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
