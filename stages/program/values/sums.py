"""The one order in which sums are added up, and largest and least values are found.

1. Each PE of the field adds up its elements in the order of memory, beginning with 0.
2. Each column brings its rows to the middle: those above it, and those from it on, the nearest
   first. This gives an upper and a lower strip of a value for each column.
3. Each strip does likewise with its columns, left of the middle and from it on.
4. Of these four, upper right + upper left + lower right + lower left.

PEs without elements add 0, which changes nothing: since each PE begins with 0, no value is -0.
For largest (least) values 0 is -inf (inf), or the least (largest) integer. Of 0 and -0 a PE takes
the first of its own; between PEs the last is taken: what arrives is compared with what is there.
Sums keep their type: float16 is added in float32, and rounded at the very end.

Paper    E Sec. 4.2 and 5.1: columns, strips, four inner PEs
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lairmake.stages.program.values.arithmetic import DTYPES, Array, compute

STEPS = {"sum": "add", "max": "maximum", "min": "minimum"}
"""The operation that a reduction repeats."""

INNER = (("upper", "right"), ("upper", "left"), ("lower", "right"), ("lower", "left"))
"""The four values in the middle, in the order in which they are added."""


def find_accumulator(op: str, type_: str) -> str:
    """Return the type in which elements of a type are added."""
    return "float32" if (op, type_) == ("sum", "float16") else type_


def find_neutral(op: str, type_: str) -> Array:
    """Return the value with which a reduction begins, in the type in which it is computed."""
    dtype = DTYPES[find_accumulator(op, type_)]
    if op == "sum":
        return np.zeros((), dtype)
    if dtype.kind == "f":
        return np.array(-np.inf if op == "max" else np.inf, dtype)
    bounds = np.iinfo(dtype)
    return np.array(bounds.min if op == "max" else bounds.max, dtype)


def order_rows(height: int) -> dict[str, range]:
    """Return the rows of the upper and of the lower half of a field, in the order of addition."""
    middle = height // 2
    return {"upper": range(middle - 1, -1, -1), "lower": range(middle, height)}


def order_columns(width: int) -> dict[str, range]:
    """Return the columns left and right of the middle, in the order of addition."""
    middle = width // 2
    return {"left": range(middle - 1, -1, -1), "right": range(middle, width)}


def add_up(op: str, values: Array, origin: tuple[int, int], field: tuple[int, int]) -> Array:
    """Return one value of all elements of an array on PEs, of the same type and without axes.

    `values` has the shape (w, h, ...) and begins on PE `origin`; `field` is (columns, rows).
    """
    (column, row), (w, h) = origin, values.shape[:2]
    on_pes = begin_on_pes(op, values)
    inner: dict[tuple[str, str], Array] = {}
    for half, rows in order_rows(field[1]).items():
        strip = _fold_arriving(op, on_pes[:, [r - row for r in rows if 0 <= r - row < h]])
        for side, columns in order_columns(field[0]).items():
            kept = strip[[c - column for c in columns if 0 <= c - column < w]]
            inner[half, side] = _fold_arriving(op, kept)
    found = _fold_arriving(op, np.stack([inner[place] for place in INNER]))
    return _round(found, values)


def begin_on_pes(op: str, values: Array) -> Array:
    """Return the value of each PE, before it is rounded: shape (w, h)."""
    w, h = values.shape[:2]
    return add_in_memory(op, values.reshape(w, h, -1))


def add_locally(op: str, values: Array, axes: Sequence[int]) -> Array:
    """Return values without some axes of memory, added in the order of memory and rounded."""
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    ordered = values.transpose([*kept, *sorted(axes)])
    flat = ordered.reshape(*[values.shape[axis] for axis in kept], -1)
    return _round(add_in_memory(op, flat), values)


def add_global(op: str, values: Array) -> Array:
    """Return one value of all elements of a GlobalArray, added in the order of memory."""
    return _round(add_in_memory(op, values.reshape(-1)), values)


def _round(found: Array, values: Array) -> Array:
    """Return sums in the type of the values; what is too large is infinite."""
    with np.errstate(all="ignore"):
        return found.astype(values.dtype)


def add_in_memory(op: str, values: Array) -> Array:
    """Return values without the last axis, added one after the other, before rounding."""
    type_ = values.dtype.name
    neutral = find_neutral(op, type_)
    found = _fold_all(op, values.astype(neutral.dtype, copy=False))
    return compute(STEPS[op], neutral.dtype.name, neutral, found)


def _fold_arriving(op: str, values: Array) -> Array:
    """As _fold_all, of values that come one by one to where they are added up.

    What arrives is the first operand: of equal ones the last is taken, 0 or -0.
    """
    return _fold_all(op, values if op == "sum" else values[..., ::-1])


def _fold_all(op: str, values: Array) -> Array:
    """Return values without their last axis: ((v0 + v1) + v2) + ...; of none the neutral one."""
    if not values.shape[-1]:
        return np.broadcast_to(find_neutral(op, values.dtype.name), values.shape[:-1])
    if op == "sum":
        with np.errstate(all="ignore"):
            totals = np.add.accumulate(values, axis=-1, dtype=values.dtype)
        return np.asarray(totals[..., -1])
    return _pair_up(op, values)


def _pair_up(op: str, values: Array) -> Array:
    """As _fold_all, neighbours first: of the largest ones the first is taken in any case."""
    while (size := values.shape[-1]) > 1:
        even = size - size % 2
        pairs = compute(STEPS[op], values.dtype.name, values[..., :even:2], values[..., 1:even:2])
        values = np.concatenate([pairs, values[..., even:]], axis=-1)
    return np.asarray(values[..., 0])
