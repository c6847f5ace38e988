"""NumPy for objects of a program: `from lairmake import numpy as np`."""

from typing import Any

from lairmake.stages.program.front.numpy import (
    abs,
    copy,
    exp,
    find_other,
    float16,
    float32,
    int16,
    int32,
    log,
    max,
    maximum,
    min,
    minimum,
    right_shift_logical,
    sqrt,
    sum,
    where,
)

__all__ = [
    "abs", "copy", "exp", "float16", "float32", "int16", "int32", "log", "max",
    "maximum", "min", "minimum", "right_shift_logical", "sqrt", "sum", "where",
]


def __getattr__(name: str) -> Any:
    """Return what NumPy has of another name, in MACH_Compiler_Ignore. Raises ProgramError."""
    return find_other(name)
