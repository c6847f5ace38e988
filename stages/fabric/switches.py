"""Switches: the positions of a router of a PE for a colour, and commands that move it."""

from __future__ import annotations

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Ints
from lairmake.stages.movement.flow import RouterColour
from lairmake.stages.poly.arrays import evaluate_pw_aff
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, find_function

LAST_BITS, RING, POP = 2, 4, 5
"""The first bits of a switch's parts: `enum switch_bits` of engine.h."""

POP_MODES = ("never", "always", "on an advance", "on an advance, and on nothing")
"""Modes in which a router pops the command that it obeys: `enum pop_mode` of engine.h."""

NOP, ADVANCE, RESET = range(3)
"""`enum command` of pe.h."""

FIRST, QUIET, LISTED = 16, 1 << 18, 1 << 19
"""`enum control` of engine.h."""


def encode_quiet(*commands: int) -> int:
    """Return the bits of a control wavelet with these commands that no PE takes."""
    first, *others = commands
    listed = sum(command << 2 * k for k, command in enumerate(others))
    return first << FIRST | QUIET | (LISTED | listed if others else 0)


def find_counts(colour: RouterColour, most: int, x: Ints, y: Ints) -> Ints:
    """Return how many of `most` positions each PE's switch has; it broadcasts as x and y do.

    Raises ValueError for other numbers.
    """
    return _evaluate(colour.counts, "counts", most, (1, most), x, y)


def read_switches(colour: RouterColour, counts: Ints, x: Ints, y: Ints) -> NDArray[np.uint8]:
    """Return a byte for each PE, in position 0; it broadcasts as x and y do.

    Raises ValueError for what a switch cannot be.
    """
    ring = _evaluate(colour.ring, "ring", 1, (0, 1), x, y)
    pop = _evaluate(colour.pop, "pop", 0, (0, len(POP_MODES) - 1), x, y)
    return ((counts - 1) << LAST_BITS | ring << RING | pop << POP).astype(np.uint8)


def _evaluate(
    text: str | None, key: str, otherwise: int, interval: tuple[int, int], x: Ints, y: Ints
) -> Ints:
    """Return n of `{ PE[x, y] -> [n] }`, or `otherwise` where nothing is said."""
    if text is None:
        return np.full((), otherwise, dtype=np.int64)
    function = find_function(bind_domain(isl.Map(text), PE_NAMES))
    coordinates = dict(zip(PE_NAMES, (x, y), strict=True))
    value, defined = evaluate_pw_aff(function.get_pw_aff(0), coordinates)
    result = np.where(defined, value, otherwise)
    wrong = np.flatnonzero((result < interval[0]) | (result > interval[1]))
    if wrong.size:
        number, column, row = (np.broadcast_to(each, result.shape).flat[wrong[0]]
                               for each in (result, x, y))
        raise ValueError(f"{key} is {number} at PE[{column}, {row}]; it is from {interval[0]} to "
                         f"{interval[1]}")
    return result
