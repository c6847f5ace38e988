"""What objects of a program may do: `from lairmake import numpy as np`."""

from stages.program.front.functions import (
    abs,
    copy,
    exp,
    find_other as __getattr__,
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
    "__getattr__", "abs", "copy", "exp", "float16", "float32", "int16", "int32", "log", "max",
    "maximum", "min", "minimum", "right_shift_logical", "sqrt", "sum", "where",
]
