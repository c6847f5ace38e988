"""Operations, element by element: each rounds once to its type.

float16 is computed as NumPy does, in float32 and rounded: since float32 has more than twice the
bits, that is one rounding. Integers wrap. Where pe.h and NumPy differ, pe.h is followed.

Paper    E Sec. 5.1: what an element of each type may do; the rest is ours
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from lairmake.stages.machine.types import BYTES, find_largest_integer, is_integer
from lairmake.stages.program.values.errors import ProgramError
from lairmake.stages.program.values.forms import (
    COMPARISONS,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    Form,
    Number,
)

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
    """Return a float64 that rounds to shorter floats as the number does: odd where it is cut."""
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
    """Return the values of an operand so that NumPy meets them with those of a result."""
    if form.kind == LOCAL_SCALAR and result.kind == LOCAL_ARRAY:
        return array[(..., *[np.newaxis] * (len(result.shape) - 2))]
    return array


def compute(op: str, type_: str, *operands: Array | Number, out: Array | None = None) -> Array:
    """Return what one of OPERATIONS, or `copy`, gives.

    `type_` is that of the operands, of where that of the second and third; shapes are equal or as
    NumPy repeats them. With `out`, which may overlap with operands, the values are written there.
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

    To a float: rounded once. To an integer: from floats the part before the point, the nearest
    there is where that is too large, 0 for NaN; from integers the last bits.
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
    """As pe.h: of equal ones the first, and NaN where one is NaN."""
    return np.where((a >= b) | (a != a), a, b)


def _minimum(a: Array, b: Array) -> Array:
    return np.where((a <= b) | (a != a), a, b)


def _call(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function of float64, rounded to float32; for float16 that value rounded again."""
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
"""What NumPy computes as it is, and so into views."""

INDIRECT: dict[str, Callable[..., Array]] = {
    "maximum": _maximum, "minimum": _minimum, "exp": _call(np.exp), "log": _call(np.log),
    "shl": _shl, "shr": _shr, "shr_logical": _shr_logical, "where": _where,
}
