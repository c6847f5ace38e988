"""What the programs that are called have in common: procedures by number, colours, limits.

Paper    E Sec. 4.1, 6.1.4
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stages.machine.profile import Profile
from stages.program.sections.program import Procedure
from stages.program.vm.colours import COLOURS


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a program asks of the place of its PE: a function in C, and the text of its value."""

    name: str
    comment: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The function that is run when a procedure is called, and how many arguments there are."""

    name: str
    procedure: str
    count: int


WORDS = {
    "even": "Whether x + y is even in the field of workers.",
    "has_west": "Whether there is a worker to the west.",
    "has_east": "Whether there is a worker to the east.",
    "has_north": "Whether there is a worker to the north.",
    "has_south": "Whether there is a worker to the south.",
    "farthest": "Whether this PE is the last one to send of its half of a column, or of a strip.",
    "upper_left": "Whether this PE is the inner one in the upper strip, left of the middle.",
    "upper_right": "Whether this PE is the one that has the result.",
    "lower_right": "Whether this PE is the inner one in the lower strip, right of the middle.",
    "rows": "How many workers send their values to this PE.",
    "columns": "How many PEs of its strip send theirs to this one; 0 but for inner ones.",
}
"""Variables of the painting, and what they are."""

def ask(variables: Iterable[str], conditions: Mapping[str, str]) -> tuple[Asked, ...]:
    """Return functions in C for what a program asks of the painting: `conditions`, by name.

    What is not painted is so nowhere: a field of one row has no neighbours to the north.
    """
    return tuple(Asked(name=each, comment=WORDS[each], text=conditions.get(each, "0"))
                 for each in variables)


def name_colours(used: Iterable[str], numbers: Mapping[str, int]) -> tuple[str, ...]:
    """Return `ARGS = 3` for each colour that a program uses, in the order of colours."""
    wanted = set(used)
    return tuple(f"{each.upper()} = {numbers[each]}" for each in COLOURS if each in wanted)


def find_most_arguments(procedures: Sequence[Procedure]) -> int:
    """Return how many arguments a procedure has at most; 1 if none has any."""
    return max((each.count for each in procedures), default=0) or 1


def find_limit(procedures: Sequence[Procedure], profile: Profile) -> int | None:
    """Return the first procedure that has no control task of its own; None if each has one.

    The last control task of a machine looks up all that have none.
    """
    limit = profile.control_tasks
    return limit - 1 if 0 < limit < len(procedures) else None
