"""A box in another basis: a unimodular change of the coordinates of the instances.

Paper    V Sec. 5, goes without this; see stages/poly/lattices.py
"""

from __future__ import annotations

from itertools import islice

from lairmake.stages.layer.vector.boxed import boxed
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.lattice import dense
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.lattices import bases

MOST_TRIED = 8
"""So many bases are tried, those of the smallest boxes first."""


def by_basis(situation: Situation) -> Candidate:
    """Return the first basis in which the instances are a box. Raises NotPossibleError."""
    plain = dense(situation)
    elements = situation.elements.apply(plain.reverse())
    reason = NotPossibleError("there is no basis but the unit vectors")
    for basis in islice(bases(elements, situation.known), MOST_TRIED):
        change = basis.reverse().apply_range(plain)
        try:
            return boxed(situation, "basis", "the instances are a box in another basis", change)
        except NotPossibleError as error:
            reason = NotPossibleError(f"in another basis, {error}")
    raise reason
