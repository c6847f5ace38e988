"""A box in steps: in coordinates that count along the lattice of the instances.

Paper    V Sec. 5, goes without this
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.vector.boxed import boxed
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.lattices import along_lattice


def by_lattice(situation: Situation) -> Candidate:
    """Return the box of instances of one remainder each. Raises NotPossibleError."""
    change = along_lattice(situation.elements)
    if change is None:
        raise NotPossibleError("the instances have no strides")
    return boxed(situation, "lattice", "the instances are a box in steps", change)


def dense(situation: Situation) -> isl.Map:
    """Return { [k] -> [i] }, along the lattice, or what changes nothing where there is none."""
    change = along_lattice(situation.elements)
    if change is not None:
        return change
    return isl.Map.identity(situation.elements.get_space().map_from_set())
