"""How many elements of a vector instruction are computed in a cycle, as the fabric charges it.

Banks of memory are left out: where operands lie is found later.
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.machine.profile import Profile


def find_rate(
    profile: Profile,
    operation: str,
    operands: Sequence[tuple[str, tuple[int, ...]]],
    single: Sequence[bool],
) -> int:
    """Return the elements a cycle of an instruction, given types and strides of d, a, b, c.

    `single` says of each of its dimensions whether there is one element along it.
    """
    (result, _), *sources = operands
    moving = [type_ for type_, steps in sources if any(steps)]
    rate = profile.find_lanes(operation, result, *moving)
    along = next((k for k in reversed(range(len(single))) if not single[k]), None)
    if along is None:
        return rate
    if operands[0][1][along] == 0 and profile.sum_lanes:
        rate = min(rate, profile.sum_lanes)
    for _, steps in operands:
        rate = min(rate, find_limit(profile, steps[along]) or rate)
    return rate


def find_limit(profile: Profile, stride: int) -> int:
    """Return how many elements a cycle an operand of a stride has at most; 0: any."""
    return 0 if stride in (0, 1) else profile.stride_limits[stride % 8]
