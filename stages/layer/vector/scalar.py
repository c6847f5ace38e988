"""A multiply-add of a vector and a scalar within loops, where the machine has none of two vectors.

The loops are over what a sum goes over, and over what one of the factors varies along:
y[i] += A[i, j] * x[j] becomes, for each j, y[:] += A[:, j] * x[j].
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.lattice import dense
from lairmake.stages.layer.vector.nested import find_within
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.lattices import linear_form

SET = isl.dim_type.set
WHY_SCALAR = "within loops, a factor is the same for a whole vector"


def by_scalar(situation: Situation) -> list[Candidate]:
    """Return a box for each choice of loops. Raises NotPossibleError if there is none."""
    plain = dense(situation)
    elements = situation.elements.apply(plain.reverse())
    found: list[Candidate] = []
    reason = NotPossibleError("no factor is a scalar for a whole vector within loops")
    for outer in _loops(situation, plain, elements):
        try:
            found.append(find_within(situation, plain, elements, outer, ("scalar", WHY_SCALAR)))
        except NotPossibleError as error:
            reason = error
    if not found:
        raise reason
    return found


def _loops(
    situation: Situation, plain: isl.Map, elements: isl.Set
) -> Iterator[tuple[int, ...]]:
    """Yield dimensions for loops: those along which the target stands still, and a tensor varies.

    At least one, and not all of them.
    """
    assert situation.target is not None, "a statement writes its target"
    every = set(range(elements.dim(SET)))
    still = every - _varying(situation, situation.target, plain, elements)
    others = [t for t in situation.accesses if t not in (situation.target, situation.arriving)]
    sums = [still | _varying(situation, tensor, plain, elements) for tensor in others]
    for loops in dict.fromkeys(tuple(sorted(each)) for each in [still, *sums]):
        if 0 < len(loops) < len(every):
            yield loops


def _varying(
    situation: Situation, tensor: str, plain: isl.Map, elements: isl.Set
) -> set[int]:
    """Return the dimensions of { [k] } along which an access varies; all if it is not linear."""
    access = plain.apply_range(situation.accesses[tensor])
    local = access.apply_range(situation.files.by_tensor[tensor]).intersect_domain(elements)
    form = linear_form(local, situation.known)
    if form is None:
        return set(range(elements.dim(SET)))
    columns = enumerate(zip(*form.coefficients, strict=True))
    return {k for k, column in columns if any(column)}
