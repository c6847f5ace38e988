"""How many elements of a vector instruction are computed in a cycle, as the fabric charges it.

Banks of memory are left out: where operands lie is found later.
"""

from __future__ import annotations

from collections.abc import Sequence

from stages.layer.texts.decisions import Given, Local, Operand
from stages.machine.profile import Profile


def find_rate(
    profile: Profile, operation: str, operands: Sequence[Operand], single: Sequence[bool]
) -> int:
    """Return the elements a cycle of an instruction with operands d, a, b, c.

    `single` says of each of its dimensions whether there is one element along it.
    """
    strides = [_strides(operand, len(single)) for operand in operands]
    listed = zip(operands[1:], strides[1:], strict=True)
    sources = [operand.type for operand, steps in listed if any(steps)]
    rate = profile.find_lanes(operation, operands[0].type, *sources)
    along = next((k for k in reversed(range(len(single))) if not single[k]), None)
    if along is None:
        return rate
    if strides[0][along] == 0 and profile.sum_lanes:
        rate = min(rate, profile.sum_lanes)
    for steps in strides:
        limit = profile.stride_limits[steps[along] % 8]
        if steps[along] not in (0, 1) and limit:
            rate = min(rate, limit)
    return rate


def _strides(operand: Operand, rank: int) -> tuple[int, ...]:
    return operand.strides if isinstance(operand, Local | Given) else (0,) * rank
