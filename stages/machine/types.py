"""The types of elements, and the type in which integers are computed."""

from __future__ import annotations

import math
from collections.abc import Iterable

BYTES = {"float16": 2, "float32": 4, "int16": 2, "int32": 4}
LARGEST = {"float16": 65504.0, "float32": 3.4028234663852886e38}
TYPES = tuple(BYTES)
"""In the order of `enum element` in pe.h; each is called as NumPy calls it."""

OPERATIONS = (
    *("COPY", "ADD", "SUB", "MUL", "DIV", "MAX", "MIN", "MAC", "FMA", "FMS", "FNMA"),
    *("AND", "OR", "XOR", "SLL", "SLR", "SAR"),
)
"""The operations of vector instructions, in the order of `enum operation` in pe.h."""


def is_integer(type_: str) -> bool:
    """Say whether values of a LAIR type are integers."""
    return type_.startswith("int")


def find_largest_integer(type_: str) -> int:
    """Return the largest value of a type of integers."""
    return (1 << 8 * BYTES[type_] - 1) - 1


def holds(type_: str, value: float) -> bool:
    """Say whether a type has a value: integers exactly, floats within their range, no NaN."""
    if is_integer(type_):
        most = find_largest_integer(type_)
        return -most - 1 <= value <= most and value == int(value)
    return math.isinf(value) or abs(value) <= LARGEST[type_]


def find_integers(types: Iterable[str]) -> str:
    """Return the type to which every operation on integers of tensors of these types wraps."""
    return "int16" if set(types) == {"int16"} else "int32"
