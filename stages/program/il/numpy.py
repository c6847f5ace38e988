"""The replacement of lairmake.numpy in the intermediate language.

Paper    E Sec. 5.1
"""

from __future__ import annotations

from typing import Any

from numpy import float16, float32, int16, int32

from lairmake.stages.program.il.recording import reduce_part
from lairmake.stages.program.il.value import GraphValue, compute, find_part, make_value
from lairmake.stages.program.values.api import make_unknown
from lairmake.stages.program.values.forms import ProgramError


def sqrt(x: Any) -> GraphValue:
    """Return square roots."""
    return compute("sqrt", x)


def exp(x: Any) -> GraphValue:
    """Return powers of e."""
    return compute("exp", x)


def log(x: Any) -> GraphValue:
    """Return natural logarithms."""
    return compute("log", x)


def abs(x: Any) -> GraphValue:
    """Return values without their signs."""
    return compute("abs", x)


def maximum(a: Any, b: Any) -> GraphValue:
    """Return the larger of two values, element by element."""
    return compute("maximum", a, b)


def minimum(a: Any, b: Any) -> GraphValue:
    """Return the smaller of two values, element by element."""
    return compute("minimum", a, b)


def where(mask: Any, a: Any, b: Any) -> GraphValue:
    """Return `a` where the mask is not 0, else `b`."""
    return compute("where", mask, a, b)


def right_shift_logical(a: Any, count: Any) -> GraphValue:
    """Return bits shifted to the right, with zeros from the left."""
    return compute("shr_logical", a, count)


def copy(x: Any) -> GraphValue:
    """Return a copy, which keeps its values when those of `x` change."""
    return compute("copy", x)


def sum(x: Any, axis: int | None = None, controller: bool = False) -> GraphValue:
    """Return the sum, on all workers or for the controller; over an axis in memory, on each PE."""
    return _reduce("sum", x, axis, controller)


def max(x: Any, axis: int | None = None, controller: bool = False) -> GraphValue:
    """Return the largest value, as `sum` returns the sum."""
    return _reduce("max", x, axis, controller)


def min(x: Any, axis: int | None = None, controller: bool = False) -> GraphValue:
    """Return the least value, as `sum` returns the sum."""
    return _reduce("min", x, axis, controller)


def _reduce(op: str, x: Any, axis: Any, controller: bool) -> GraphValue:
    if not isinstance(x, GraphValue):
        raise ProgramError(f"np.{op} of a {type(x).__name__}",
                           f"`{op}` of Python, or NumPy's own, imported in Run_On_Host")
    if isinstance(axis, GraphValue):
        raise ProgramError(f"np.{op} of two objects",
                           f"`np.{op}imum(a, b)`" if op != "sum" else "`a + b`")
    return make_value(reduce_part(op, find_part(x), axis, controller))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise make_unknown(name)


__all__ = [
    "abs", "copy", "exp", "float16", "float32", "int16", "int32", "log", "max", "maximum", "min",
    "minimum", "right_shift_logical", "sqrt", "sum", "where",
]
