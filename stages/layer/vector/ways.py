"""The ways to a vector instruction, in the order in which one is taken where they cost the same.

Paper    V Sec. 5
"""

from __future__ import annotations

from collections.abc import Callable

from stages.layer.texts.kinds import EarlySend, Fills
from stages.layer.vector import basis, configure, enumeration, exact, hull, lattice, nested, relaxed
from stages.layer.vector.candidate import Candidate
from stages.layer.vector.situation import Situation

Way = Callable[[Situation], Candidate]
WAYS: dict[str, Way] = {
    "hull": hull.candidate,
    "exact": exact.candidate,
    "relaxed": relaxed.candidate,
    "lattice": lattice.candidate,
    "basis": basis.candidate,
    "enumerate": enumeration.candidate,
    "configure": configure.candidate,
    "nested": nested.candidate,
}
FILL: dict[str, Way] = {"exact": exact.transfer, "nested": nested.candidate}
TRANSFER: dict[str, Way] = {"exact": exact.transfer}
LEAD: dict[str, Way] = {"exact": exact.transfer, "configure": configure.transfer}


def ways_of(situation: Situation) -> dict[str, Way]:
    """Return the ways for a task: all for a statement, exact bounds for what moves elements.

    Memory may also be initialised in loops.
    """
    if situation.runs:
        return WAYS
    if isinstance(situation.task, EarlySend):
        return LEAD
    return FILL if isinstance(situation.task, Fills) else TRANSFER
