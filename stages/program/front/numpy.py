"""Functions of objects on x86, as `np` of a program has them, with the names of NumPy.

Paper    E Sec. 5.1; `right_shift_logical` and `controller=` are as docs/programs.md says
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lairmake.stages.program.front.value import (
    WORLD,
    HostValue,
    Readable,
    apply,
    read_operands,
    take_array,
)
from lairmake.stages.program.values.api import make_unknown
from lairmake.stages.program.values.arithmetic import (
    Array,
    add_global,
    add_locally,
    add_up,
    compute,
)
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, ProgramError, reduce_form

float16, float32, int16, int32 = np.float16, np.float32, np.int16, np.int32


def _call(function: Any, op: str, *operands: Any) -> Any:
    if WORLD.mode == "ignored":
        return function(*read_operands(operands))
    return apply(op, *operands)


def sqrt(x: Any) -> Any:
    """Return square roots of floats."""
    return _call(np.sqrt, "sqrt", x)


def exp(x: Any) -> Any:
    """Return powers of e, the float32 nearest to the float64 value."""
    return _call(np.exp, "exp", x)


def log(x: Any) -> Any:
    """Return natural logarithms, the float32 nearest to the float64 value."""
    return _call(np.log, "log", x)


def abs(x: Any) -> Any:
    """Return absolute values; the least integer has none, and stays."""
    return _call(np.abs, "abs", x)


def copy(x: Any) -> Any:
    """Return a copy of the values that an object has now."""
    return _call(np.copy, "copy", x)


def maximum(x: Any, y: Any) -> Any:
    """Return the larger of two values, element by element; NaN where one is NaN."""
    return _call(np.maximum, "maximum", x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of two values, element by element; NaN where one is NaN."""
    return _call(np.minimum, "minimum", x, y)


def where(mask: Any, x: Any, y: Any) -> Any:
    """Return x where a comparison holds, or an integer is not 0, and y elsewhere."""
    return _call(np.where, "where", mask, x, y)


def right_shift_logical(x: Any, count: Any) -> Any:
    """Return the bits of integers shifted to the right, with zeros from the left."""
    return _call(_shift_logically, "shr_logical", x, count)


def _shift_logically(x: Any, count: Any) -> Any:
    array = np.asarray(x)
    return compute("shr_logical", array.dtype.name, array, count)[()]


def sum(x: Any, axis: int | None = None, controller: bool = False) -> Any:
    """Return the sum of all elements, on all workers or for the `controller`, or over an axis."""
    return _reduce("sum", x, axis, controller)


def max(x: Any, axis: int | None = None, controller: bool = False) -> Any:
    """Return the largest element: as `sum` does."""
    return _reduce("max", x, axis, controller)


def min(x: Any, axis: int | None = None, controller: bool = False) -> Any:
    """Return the least element: as `sum` does."""
    return _reduce("min", x, axis, controller)


def _reduce(op: str, x: Any, axis: Any, controller: bool) -> Any:
    if WORLD.mode == "ignored":
        if isinstance(x, HostValue) and x.shape and axis is None:
            return _add_up(op, x, WORLD.field.size)[()]
        return getattr(np, op)(*read_operands([x]), axis=axis)
    if not isinstance(x, HostValue):
        raise ProgramError(f"np.{op} of a {type(x).__name__}",
                           f"`{op}` of Python, or NumPy's own, imported in Run_On_Host")
    if WORLD.mode == "host":
        read_operands([x])
    if isinstance(axis, Readable):
        raise ProgramError(f"np.{op} of two objects", f"`np.{op}imum(a, b)`" if op != "sum" else
                           "`a + b`")
    form, axes = reduce_form(x.form, axis, controller)
    if axis is not None:
        return HostValue(form, add_locally(op, take_array(x), axes))
    if x.form.is_on_pes:
        WORLD.field.settle()
    return HostValue(form, _add_up(op, x, WORLD.field.size))


def _add_up(op: str, x: HostValue, size: tuple[int, int]) -> Array:
    """Return one value of all elements, added up in the order of the machine."""
    if x.form.kind == GLOBAL_ARRAY:
        return add_global(op, take_array(x))
    return add_up(op, take_array(x), x.form.origin, size)


def find_other(name: str) -> Any:
    """Return another name of NumPy, in MACH_Compiler_Ignore. Raises ProgramError elsewhere."""
    if name.startswith("_"):
        raise AttributeError(name)
    if WORLD.mode == "ignored":
        return getattr(np, name)
    raise make_unknown(name)
