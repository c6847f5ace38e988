"""Elements that a task moves, in rows: where memory has blocks of them, and the stream has not.

Paper    V Sec. 5, goes without this
"""

from __future__ import annotations

from itertools import islice, product

from lairmake.stages.layer.vector import exact
from lairmake.stages.layer.vector.boxed import boxed
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.operands import in_memory
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.compression import find_periods, split

MOST_TRIED = 8
"""So many ways to take dimensions apart are tried."""


def transfers(situation: Situation) -> tuple[Candidate, ...]:
    """Return the elements that a task moves or initialises, in order. Raises NotPossibleError.

    If their addresses are not linear, and are so in rows of them: as these rows.
    """
    plain = exact.transfer_instances(situation)
    (tensor,) = situation.accesses
    if _is_linear(situation, tensor, plain):
        return (plain,)
    local = situation.accesses[tensor].apply_range(situation.files.by_tensor[tensor])
    periods = find_periods(local.intersect_domain(situation.elements))
    several = product(*([None, *found] for found in periods))
    for each in islice(several, 1, 1 + MOST_TRIED):
        try:
            change = split(situation.exact.minimum, each)
            found = boxed(situation, plain.way, plain.why, change)
        except NotPossibleError:
            continue
        if _is_linear(situation, tensor, found):
            return (found,)
    return (plain,)


def _is_linear(situation: Situation, tensor: str, candidate: Candidate) -> bool:
    """Return whether the addresses of a box are linear."""
    try:
        in_memory(situation, tensor, candidate)
    except NotPossibleError:
        return False
    return True
