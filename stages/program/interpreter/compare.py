"""Whether values are equal bit for bit; a NaN equals a NaN, -0 and 0 differ."""

from __future__ import annotations

import numpy as np

from lairmake.stages.program.interpreter.stores import find_bits
from lairmake.stages.program.values.arithmetic import Array


def find_difference(found: Array, wanted: Array) -> tuple[int, ...] | None:
    """Return the first element in which arrays of one type and shape differ; None if none does."""
    differ = find_bits(found) != find_bits(wanted)
    if found.dtype.kind == "f":
        differ &= ~(np.isnan(found) & np.isnan(wanted))
    if not differ.any():
        return None
    at = np.unravel_index(int(np.argmax(differ)), differ.shape) if differ.shape else ()
    return tuple(map(int, at))


def spell_value(value: Array) -> str:
    """Return a value in decimal and in hexadecimal."""
    return f"{value[()]!s} (0x{int(find_bits(value)):0{2 * value.dtype.itemsize}x})"
