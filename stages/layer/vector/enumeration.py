"""Sizes that depend on the index, each with a configuration of its own.

Paper    V Sec. 5.4
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError, components, firsts
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.box import find_fixed_size, find_shape
from lairmake.stages.poly.functions import find_index_constants


def by_sizes(situation: Situation) -> Candidate:
    """Return the sizes of sizes.isl. Raises NotPossibleError."""
    exact = situation.exact
    if not exact.is_box:
        raise NotPossibleError("the exact bounds are no box")
    hull, offset = situation.enumerated("hull"), situation.enumerated("offset")
    if hull is None or offset is None or not exact.minimum:
        fixed = find_fixed_size(exact, find_index_constants(situation.elements)) is not None
        raise NotPossibleError(
            "there is one size, that of the exact bounds" if fixed else "there are too many sizes"
        )
    return Candidate(
        way="enumerate",
        why="the instances are a box of several sizes",
        sizes=exact.size,
        origin=firsts(exact.minimum, situation.elements.params()),
        box=situation.elements,
        least=components(offset),
        several=find_shape(hull),
        needed=_needed(situation),
    )


def _needed(situation: Situation) -> isl.Set:
    """Return [PE_X, PE_Y] -> { [size - least] } of the sizes that occur on a PE."""
    sizes, offset = situation.enumerated("sizes"), situation.enumerated("offset")
    assert sizes is not None and offset is not None, "there are sizes where there is a box of them"
    return sizes.sum(offset.neg().align_params(sizes.space)).coalesce()
