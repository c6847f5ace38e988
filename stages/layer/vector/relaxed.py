"""A fixed-size box hull whose extra instances may read memory that nobody has put anything into.

Paper    V Sec. 5.3, which leaves this out

What they read does not matter, for what they write is not used; but memory must have room for it.
The offset may be quasi-affine, as that of a convolution with a stride.
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.vector.boxed import harmless
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError, components
from lairmake.stages.layer.vector.situation import Situation


def by_relaxed_hull(situation: Situation) -> Candidate:
    """Return the box hull, unless it is that of hulls.isl. Raises NotPossibleError."""
    same = isl.Map.identity(situation.elements.get_space().map_from_set())
    why = "a fixed-size box hull holds the instances, and memory what extra ones read"
    found = harmless(situation, "relaxed", why, same)
    size, outside = situation.hull("size"), situation.hull("outside")
    if size and not outside and _equal(found, components(size[0])):
        raise NotPossibleError("it is the box hull")
    return found


def _equal(candidate: Candidate, sizes: tuple[isl.PwAff, ...]) -> bool:
    return all(a.is_equal(b) for a, b in zip(candidate.sizes, sizes, strict=True))
