"""Exact bounds that are those of a box, of one size on each PE.

Paper    V Sec. 5.1
"""

from __future__ import annotations

from lairmake.stages.layer.texts.task_graph import Fills
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.box import find_fixed_size
from lairmake.stages.poly.compression import keeps_order
from lairmake.stages.poly.functions import find_index_constants


def by_instances(situation: Situation) -> Candidate:
    """Return the instances themselves, a box. Raises NotPossibleError."""
    if not situation.exact.is_box:
        raise NotPossibleError("the exact bounds are no box")
    return _candidate(
        situation,
        find_index_constants(situation.elements),
        "the exact bounds are not fixed",
        "the instances are a box of fixed size",
    )


def transfer_instances(situation: Situation) -> Candidate:
    """Return the elements that a task moves or initialises, in order. Raises NotPossibleError."""
    ordered = not isinstance(situation.task, Fills)
    if ordered and not keeps_order(situation.compression, situation.elements):
        raise NotPossibleError("the box has its elements in another order")
    if not situation.exact.is_box:
        raise NotPossibleError("the elements are no box")
    free = find_index_constants(situation.elements)
    return _candidate(situation, free, "the elements are no box", "the elements are a box")


def _candidate(situation: Situation, free: list[str], varying: str, why: str) -> Candidate:
    sizes = find_fixed_size(situation.exact, free)
    if sizes is None:
        raise NotPossibleError(varying)
    return Candidate(
        way="exact",
        why=why,
        sizes=sizes,
        origin=situation.exact.minimum,
        box=situation.elements,
    )
