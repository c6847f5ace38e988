"""The fixed-size box hull of the instances, extra ones included where these do no harm.

Paper    V Sec. 5.3
"""

from __future__ import annotations

from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError, components
from lairmake.stages.layer.vector.situation import Situation


def by_hull(situation: Situation) -> Candidate:
    """Return the box hull of hulls.isl. Raises NotPossibleError."""
    hull, size, offset = (situation.hull(what) for what in ("hull", "size", "offset"))
    if not hull or not size or not offset:
        raise NotPossibleError("there is no fixed-size box hull")
    if situation.hull("outside"):
        raise NotPossibleError("extra instances would read outside local memory")
    if situation.hull("conflict"):
        raise NotPossibleError("extra instances would write what others use")
    others = "extra ones that do no harm" if situation.hull("extra") else "no others"
    return Candidate(
        way="hull",
        why=f"a fixed-size box hull holds the instances, and {others}",
        sizes=components(size[0]),
        origin=components(offset[0]),
        box=hull[0],
        touched=situation.hull("writes") or (),
    )
