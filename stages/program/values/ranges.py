"""The integers of a loop that stays a loop: `global_range(n)`.

Paper    ours; E Sec. 5.2 has loops over a GlobalArray only
"""

from __future__ import annotations

import operator
from typing import Any

from lairmake.stages.machine.types import find_largest_integer
from lairmake.stages.program.values.errors import ProgramError

TYPE = "int32"


def find_range(*limits: Any) -> tuple[int, int, int]:
    """Return start, stop and step, from the arguments that Python's range takes.

    Raises ProgramError.
    """
    if not 1 <= len(limits) <= 3:
        raise ProgramError(f"global_range of {len(limits)} arguments",
                           "`global_range(n)`, or start, stop and step")
    found = [_integer(each) for each in limits]
    start, stop, step = (0, found[0], 1) if len(found) == 1 else (*found, 1)[:3]
    if not step:
        raise ProgramError("global_range with a step of 0")
    values, most = range(start, stop, step), find_largest_integer(TYPE)
    if values and not all(-most - 1 <= each <= most for each in (values[0], values[-1])):
        raise ProgramError(f"global_range({start}, {stop}, {step}) has integers beyond {TYPE}")
    return start, stop, step


def _integer(given: Any) -> int:
    if getattr(given, "form", None) is not None:
        raise ProgramError("global_range of an object: how often it runs is known beforehand",
                           "a number of Python's, or `while i < n:` on global scalars")
    try:
        return operator.index(given)
    except TypeError:
        said = f"global_range of a {type(given).__name__}"
        raise ProgramError(said, "its limits are integers") from None
