"""A box whose size depends on the index, configured before each call.

Paper    V Sec. 5.4, does without this
"""

from __future__ import annotations

from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError, firsts
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.box import find_fixed_size
from lairmake.stages.poly.compression import keeps_order
from lairmake.stages.poly.functions import find_index_constants


def by_configuration(situation: Situation) -> Candidate:
    """Return the instances themselves, a box of many sizes. Raises NotPossibleError."""
    exact = situation.exact
    if not exact.is_box:
        raise NotPossibleError("the exact bounds are no box")
    if find_fixed_size(exact, find_index_constants(situation.elements)) is not None:
        raise NotPossibleError("there is one size, that of the exact bounds")
    return Candidate(
        way="configure",
        why="the instances are a box, configured before each call",
        sizes=exact.size,
        origin=firsts(exact.minimum, situation.elements.params()),
        box=situation.elements,
        each_call=True,
    )


def transfer_by_configuration(situation: Situation) -> Candidate:
    """Return elements that leave after a step, in order. Raises NotPossibleError."""
    if not keeps_order(situation.compression, situation.elements):
        raise NotPossibleError("the box has its elements in another order")
    return by_configuration(situation)
