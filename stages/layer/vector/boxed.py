"""Instances that are a box after a change of coordinates, or that a harmless hull holds.

Paper    V Sec. 5.1, 5.3
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError, components
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.box import (
    accessed_by,
    as_set,
    box_hull,
    exact_bounds,
    extra_instances,
    find_conflict,
    find_fixed_size,
    offset_set,
    size_set,
)
from lairmake.stages.poly.functions import find_index_constants


def boxed(situation: Situation, way: str, why: str, change: isl.Map) -> Candidate:
    """Return the box of fixed size that instances are after a change { [k] -> [i] }.

    If they are none, a hull as `harmless` returns it. Raises NotPossibleError.
    """
    elements = situation.elements.apply(change.reverse()).coalesce()
    exact = exact_bounds(elements, situation.known)
    sizes = find_fixed_size(exact, find_index_constants(elements)) if exact.is_box else None
    if sizes is None and not situation.runs:
        raise NotPossibleError("the elements are no box")
    if sizes is None:
        return harmless(situation, way, f"{why}, and extra ones that do no harm", change)
    return Candidate(
        way=way, why=why, sizes=sizes, origin=exact.minimum, box=elements, change=change
    )


def harmless(situation: Situation, way: str, why: str, change: isl.Map) -> Candidate:
    """Return a fixed-size box hull after a change, with room for what extra instances access.

    Its offset may be quasi-affine. Raises NotPossibleError if there is none, or extra instances
    write what others use.
    """
    elements = situation.elements.apply(change.reverse()).coalesce()
    hull = box_hull(elements, situation.known, quasi_affine=True, rounded=True)
    if hull is None:
        raise NotPossibleError("there is no fixed-size box hull")
    box = as_set(hull, elements.params())
    return Candidate(
        way=way,
        why=why,
        sizes=components(size_set(hull)),
        origin=components(offset_set(hull)),
        box=box,
        change=change,
        touched=touched_by(situation, change, extra_instances(box, elements)),
    )


def touched_by(situation: Situation, change: isl.Map, extra: isl.Set) -> tuple[isl.Set, ...]:
    """Return [PE_X, PE_Y] -> { T_local[l] } of what extra instances { [k] } access, by tensor.

    Raises NotPossibleError where they write what others use, V (40).
    """
    found = []
    for tensor, access in situation.accesses.items():
        if tensor == situation.arriving:
            continue
        local = change.apply_range(access).apply_range(situation.files.by_tensor[tensor])
        if not extra.is_subset(local.domain()):
            raise NotPossibleError("extra instances have no place in memory")
        touched = accessed_by(local, extra, find_index_constants(extra))
        if tensor == situation.target and _is_used(situation, local, extra):
            raise NotPossibleError("extra instances would write what others use")
        found.append(touched)
    return tuple(found)


def _is_used(situation: Situation, access: isl.Map, extra: isl.Set) -> bool:
    """Say whether extra instances write what others use; `access` is that to the target."""
    assert situation.target is not None, "a statement writes its target"
    return not find_conflict(access, extra, situation.used(situation.target)).is_empty()
