"""How the calls of each section are divided among the response PEs, and how many there are.

Paper    E Sec. 4.1: as evenly as possible
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import accumulate

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.machine.profile import Profile

WORD = 2
TABLE = 4 * WORD
"""Bytes on each response PE for a section: where its arguments and calls begin, how many."""

TASKS = 3
"""Of a response PE, about: a section that begins, and both streams that end."""

MOST = 2**15 - 1
"""Words of a vector, at most: where a share begins is a number of 16 bits."""

WIDER = "a wider field: each 2 columns more are one more on each side; or a shorter program: " \
        "loops over `global_range(n)` stay loops"
MORE_MEMORY = "a machine with more `memory`"


def find_most_responses(width: int) -> int:
    """Return how many response PEs a side the control row of a field has room for."""
    return max(0, min(width // 2 - 1, width - width // 2 - 1))


def share_calls(
    sections: Sequence[Sequence[int]], parts: int
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return how many calls of each section each part has, and the bytes of each part.

    `sections` has the bytes of each call. Each part gets as many, in order; of what is left those
    one each that have the fewest bytes so far, the first of such that have as many.
    """
    filled = [TABLE * len(sections)] * parts
    shares = []
    for calls in sections:
        each, left = divmod(len(calls), parts)
        more = set(heapq.nsmallest(left, range(parts), key=lambda part: (filled[part], part)))
        share = tuple(each + (part in more) for part in range(parts))
        ends = [0, *accumulate(calls)]
        first = 0
        for part, count in enumerate(share):
            filled[part] += ends[first + count] - ends[first]
            first += count
        shares.append(share)
    return shares, filled


def choose_responses(
    sections: Sequence[Sequence[int]], field: tuple[int, int], machine: Profile,
    given: int | None, span: Span | None,
) -> tuple[int, list[tuple[int, ...]]]:
    """Return how many response PEs there are on each side, and the shares of each section.

    They are as `given`, else the fewest whose memory holds the vectors. Raises UserError if the
    control row has not as many, or these do not hold the vectors, at `span`: where they are asked
    for, or else the field.
    """
    most = find_most_responses(field[0])
    room = min(machine.memory - machine.code_base - TASKS * machine.code_task, WORD * MOST)
    if given is not None and given > most:
        said = f"{given} response PEs on each side: the control row of {field[0]} PEs has {most}"
        raise UserError(said, span, f"at most {most}, or a wider field")
    total = sum(map(sum, sections))
    table = TABLE * len(sections)
    fewest = max(1, -(-total // (2 * (room - table)))) if room > table else most + 1
    for count in [given] if given is not None else range(fewest, most + 1):
        shares, filled = share_calls(sections, 2 * count)
        if max(filled) <= room:
            return count, shares
    several = "s" if len(sections) > 1 else ""
    said = f"calls and arguments of {len(sections)} section{several} take {total} bytes, and " \
           f"{table} on each response PE to find them"
    if room <= table:
        said += f": {machine.name} has {max(0, room)} beside code"
        raise UserError(said, span, MORE_MEMORY)
    if given is not None:
        said += f": {given} on each side do not hold them, with room for {room} bytes each"
        raise UserError(said, span, f"more, at most {most}, or none given: the fewest that do")
    said += f": the control row has {most} on each side, with room for {room} bytes each"
    raise UserError(said, span, WIDER)
