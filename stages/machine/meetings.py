"""At how many points of a vector instruction two operands are read from one bank of memory."""

from __future__ import annotations

from collections.abc import Sequence

WORD = 2
"""Successive words of so many bytes lie in successive banks."""


def count_meetings(steps: Sequence[int], sizes: Sequence[int], apart: int, banks: int) -> int:
    """Return at how many points of a box two operands lie in one bank, as rate.c counts them.

    The first ones lie `apart` words from each other; `steps` is how much further one operand goes
    than the other along each axis, in words.
    """
    count = {apart % banks: 1}
    for step, size in zip(steps, sizes, strict=True):
        found: dict[int, int] = {}
        for k in range(min(banks, size)):
            for start, times in count.items():
                to = (start + k * step) % banks
                found[to] = found.get(to, 0) + times * ((size - k + banks - 1) // banks)
        count = found
    return count.get(0, 0)
