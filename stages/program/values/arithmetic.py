"""Operations, each rounded once, and the order of sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from lairmake.stages.machine.types import BYTES, find_largest_integer, is_integer
from lairmake.stages.program.values.forms import (
    COMPARISONS,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    Form,
    Number,
    ProgramError,
)

# --- Operations on elements -----------------------------------------------------------------------
#
# Each operation rounds once to its type. float16 is computed as NumPy does: in float32, then
# rounded. As float32 has more than twice the bits, that is one rounding. Integers wrap. Where pe.h
# and NumPy differ, pe.h is followed.
#
# Paper    E Sec. 5.1: what an element of each type may do; the rest is ours

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in BYTES}


def round_number(number: Number, type_: str) -> Array:
    """Return a number as the nearest value of a type, ties to even. Raises ProgramError."""
    if is_integer(type_):
        most = find_largest_integer(type_)
        if not -most - 1 <= number <= most or int(number) != number:
            raise ProgramError(f"{number} is no {type_}", f"from {-most - 1} to {most}")
        return np.array(int(number), DTYPES[type_])
    with np.errstate(all="ignore"):
        return np.array(_make_float(number)).astype(DTYPES[type_])


def _make_float(number: Number) -> float:
    """Return a float64 that rounds to shorter floats as the number does: made odd if it was cut."""
    if not isinstance(number, int):
        return float(number)
    cut = max(abs(number).bit_length() - 53, 0)
    kept = abs(number) >> cut
    kept |= kept << cut != abs(number)
    sign = -1.0 if number < 0 else 1.0
    try:
        return sign * math.ldexp(kept, cut)
    except OverflowError:
        return sign * math.inf


def match_rank(array: Array, form: Form, result: Form) -> Array:
    """Return the values of an operand with axes that NumPy broadcasts to those of a result."""
    if form.kind == LOCAL_SCALAR and result.kind == LOCAL_ARRAY:
        return array[(..., *[np.newaxis] * (len(result.shape) - 2))]
    return array


def compute(op: str, type_: str, *operands: Array | Number, out: Array | None = None) -> Array:
    """Return the result of one of OPERATIONS, or of `copy`.

    `type_` is the type of the operands, for `where` that of the second and third. Shapes are equal,
    or NumPy broadcasts them. The result is written to `out`, if given, which may overlap with
    operands.
    """
    arrays = [each if isinstance(each, np.ndarray) else round_number(each, type_)
              for each in operands]
    with np.errstate(all="ignore"):
        if (ufunc := DIRECT.get(op)) is not None:
            if out is not None:
                return ufunc(*arrays, out=out)  # type: ignore[no-any-return]
            found = ufunc(*arrays)
            return np.asarray(found, "int16" if op in COMPARISONS else None)
        return _write(INDIRECT[op](*arrays), out)


def cast(array: Array, type_: str, out: Array | None = None) -> Array:
    """Return values in another type.

    Floats are rounded once. Floats become integers without the part behind the point; too large
    ones become the nearest integer of the type, NaN becomes 0. Integers keep their last bits.
    """
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f" and is_integer(type_):
            return _write(_truncate(array, type_), out)
        if array.dtype.kind == "i" and not is_integer(type_):
            array = array.astype("float64")
        return _write(array.astype(DTYPES[type_]), out)


def _truncate(array: Array, type_: str) -> Array:
    most = find_largest_integer(type_)
    wide = np.trunc(np.where(np.isnan(array), 0.0, array.astype("float64")))
    return np.asarray(np.clip(wide, -most - 1, most).astype(DTYPES[type_]))


def _write(found: Array, out: Array | None) -> Array:
    if out is None:
        return found
    out[...] = found
    return out


def _maximum(a: Array, b: Array) -> Array:
    """Return the larger elements as pe.h does: the first of equal ones; NaN if one is NaN."""
    return np.where((a >= b) | (a != a), a, b)


def _minimum(a: Array, b: Array) -> Array:
    return np.where((a <= b) | (a != a), a, b)


def _call(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function computed in float64, rounded to float32, and for float16 once more."""
    def call(a: Array) -> Array:
        return np.asarray(function(a.astype("float64")).astype("float32").astype(a.dtype))
    return call


def _is_count(a: Array, count: Array) -> Array:
    return np.asarray((count >= 0) & (count < 8 * a.dtype.itemsize))


def _shl(a: Array, count: Array) -> Array:
    fits = _is_count(a, count)
    return np.where(fits, a << np.where(fits, count, count.dtype.type(0)), a.dtype.type(0))


def _shr(a: Array, count: Array) -> Array:
    last = count.dtype.type(8 * a.dtype.itemsize - 1)
    return np.asarray(a >> np.where(_is_count(a, count), count, last))


def _shr_logical(a: Array, count: Array) -> Array:
    fits = _is_count(a, count)
    unsigned = np.dtype(f"uint{8 * a.dtype.itemsize}")
    kept = a.astype(unsigned) >> np.where(fits, count, count.dtype.type(0)).astype(unsigned)
    return np.asarray(np.where(fits, kept.astype(a.dtype), a.dtype.type(0)))


def _where(mask: Array, a: Array, b: Array) -> Array:
    return np.asarray(np.where(mask != 0, a, b))


DIRECT: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "neg": np.negative, "abs": np.absolute, "sqrt": np.sqrt, "copy": np.positive,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}
"""Operations that NumPy computes directly, also into views."""

INDIRECT: dict[str, Callable[..., Array]] = {
    "maximum": _maximum, "minimum": _minimum, "exp": _call(np.exp), "log": _call(np.log),
    "shl": _shl, "shr": _shr, "shr_logical": _shr_logical, "where": _where,
}

# --- Order of reductions --------------------------------------------------------------------------
#
# 1. Each PE of the field adds up its elements in the order of memory, beginning with 0.
# 2. Each column brings its rows to the middle: those above it, and those from it on, the nearest
#    first. This gives an upper and a lower strip of a value for each column.
# 3. Each strip does likewise with its columns, left of the middle and from it on.
# 4. Of these four, upper right + upper left + lower right + lower left.
#
# PEs without elements add 0, which changes nothing: since each PE begins with 0, no value is -0.
# For largest (least) values 0 is -inf (inf), or the least (largest) integer. Of 0 and -0 a PE takes
# the first of its own; between PEs the last is taken: what arrives is compared with what is there.
# Sums keep their type: float16 is added in float32, and rounded at the very end.
#
# Paper    E Sec. 4.2 and 5.1: columns, strips, four inner PEs

STEPS = {"sum": "add", "max": "maximum", "min": "minimum"}
"""The operation that a reduction repeats."""

INNER = (("upper", "right"), ("upper", "left"), ("lower", "right"), ("lower", "left"))
"""The four values in the middle, in the order in which they are added."""


def find_accumulator(op: str, type_: str) -> str:
    """Return the type in which elements of a type are added up."""
    return "float32" if (op, type_) == ("sum", "float16") else type_


def find_neutral(op: str, type_: str) -> Array:
    """Return the first value of a reduction, in the type in which it is computed."""
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
    """Return the reduction of all elements of an array on PEs: one value of the same type.

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
    """Return values reduced over some axes of memory, in the order of memory, and rounded."""
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    ordered = values.transpose([*kept, *sorted(axes)])
    flat = ordered.reshape(*[values.shape[axis] for axis in kept], -1)
    return _round(add_in_memory(op, flat), values)


def add_global(op: str, values: Array) -> Array:
    """Return the reduction of all elements of a GlobalArray, in the order of memory."""
    return _round(add_in_memory(op, values.reshape(-1)), values)


def _round(found: Array, values: Array) -> Array:
    """Return sums rounded to the type of the values; too large ones become infinite."""
    with np.errstate(all="ignore"):
        return found.astype(values.dtype)


def add_in_memory(op: str, values: Array) -> Array:
    """Return values reduced over their last axis, one element after another, not rounded."""
    type_ = values.dtype.name
    neutral = find_neutral(op, type_)
    found = _fold_all(op, values.astype(neutral.dtype, copy=False))
    return compute(STEPS[op], neutral.dtype.name, neutral, found)


def _fold_arriving(op: str, values: Array) -> Array:
    """Return values reduced over their last axis, as PEs reduce values that arrive one by one.

    The arriving value is the first operand, so of equal values, as 0 and -0, the last is taken.
    """
    return _fold_all(op, values if op == "sum" else values[..., ::-1])


def _fold_all(op: str, values: Array) -> Array:
    """Return values reduced over the last axis: ((v0 + v1) + v2) + ...; neutral for no values."""
    if not values.shape[-1]:
        return np.broadcast_to(find_neutral(op, values.dtype.name), values.shape[:-1])
    if op == "sum":
        with np.errstate(all="ignore"):
            totals = np.add.accumulate(values, axis=-1, dtype=values.dtype)
        return np.asarray(totals[..., -1])
    return _pair_up(op, values)


def _pair_up(op: str, values: Array) -> Array:
    """Return values reduced over the last axis in pairs of neighbours; of equal ones the first."""
    while (size := values.shape[-1]) > 1:
        even = size - size % 2
        pairs = compute(STEPS[op], values.dtype.name, values[..., :even:2], values[..., 1:even:2])
        values = np.concatenate([pairs, values[..., even:]], axis=-1)
    return np.asarray(values[..., 0])
