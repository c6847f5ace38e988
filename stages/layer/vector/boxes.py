"""Ways with one call: hull, exact, enumerate, configure."""

from __future__ import annotations

from itertools import islice

import islpy as isl

from lairmake.stages.layer.texts.task_graph import Fills
from lairmake.stages.layer.vector.situation import (
    NotPossibleError,
    Situation,
    VectorCandidate,
    components,
    firsts,
)
from lairmake.stages.poly.box import (
    accessed_by,
    as_set,
    box_hull,
    exact_bounds,
    extra_instances,
    find_conflict,
    find_fixed_size,
    find_shape,
    offset_set,
    size_set,
)
from lairmake.stages.poly.compression import keeps_order
from lairmake.stages.poly.functions import find_index_constants
from lairmake.stages.poly.lattices import along_lattice, bases

# --- Instances that are a box ---------------------------------------------------------------------
#
# Exact bounds are those of a box, of one size on each PE.
#
# Paper    V Sec. 5.1

def by_instances(situation: Situation) -> VectorCandidate:
    """Return the instances themselves, a box. Raises NotPossibleError."""
    if not situation.exact.is_box:
        raise NotPossibleError("the exact bounds are no box")
    return _candidate(
        situation,
        find_index_constants(situation.elements),
        "the exact bounds are not fixed",
        "the instances are a box of fixed size",
    )


def transfer_instances(situation: Situation) -> VectorCandidate:
    """Return the elements that a task moves or initialises, in order. Raises NotPossibleError."""
    ordered = not isinstance(situation.task, Fills)
    if ordered and not keeps_order(situation.compression, situation.elements):
        raise NotPossibleError("the box has its elements in another order")
    if not situation.exact.is_box:
        raise NotPossibleError("the elements are no box")
    free = find_index_constants(situation.elements)
    return _candidate(situation, free, "the elements are no box", "the elements are a box")


def _candidate(situation: Situation, free: list[str], varying: str, why: str) -> VectorCandidate:
    sizes = find_fixed_size(situation.exact, free)
    if sizes is None:
        raise NotPossibleError(varying)
    return VectorCandidate(
        way="exact",
        why=why,
        sizes=sizes,
        origin=situation.exact.minimum,
        box=situation.elements,
    )

# --- Fixed-size box hull of the instances ---------------------------------------------------------
#
# Extra instances are included where they do no harm.
#
# Paper    V Sec. 5.3

def by_hull(situation: Situation) -> VectorCandidate:
    """Return the box hull of hulls.isl. Raises NotPossibleError."""
    hull, size, offset = (situation.hull(what) for what in ("hull", "size", "offset"))
    if not hull or not size or not offset:
        raise NotPossibleError("there is no fixed-size box hull")
    if situation.hull("outside"):
        raise NotPossibleError("extra instances would read outside local memory")
    if situation.hull("conflict"):
        raise NotPossibleError("extra instances would write what others use")
    others = "extra ones that do no harm" if situation.hull("extra") else "no others"
    return VectorCandidate(
        way="hull",
        why=f"a fixed-size box hull holds the instances, and {others}",
        sizes=components(size[0]),
        origin=components(offset[0]),
        box=hull[0],
        touched=situation.hull("writes") or (),
    )

# --- Boxes after a change of coordinates ----------------------------------------------------------
#
# The instances are a box then, or a harmless hull holds them.
#
# Paper    V Sec. 5.1, 5.3

def boxed(situation: Situation, way: str, why: str, change: isl.Map) -> VectorCandidate:
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
    return VectorCandidate(
        way=way, why=why, sizes=sizes, origin=exact.minimum, box=elements, change=change
    )


def harmless(situation: Situation, way: str, why: str, change: isl.Map) -> VectorCandidate:
    """Return a fixed-size box hull after a change, with room for what extra instances access.

    Its offset may be quasi-affine. Raises NotPossibleError if there is none, or extra instances
    write what others use.
    """
    elements = situation.elements.apply(change.reverse()).coalesce()
    hull = box_hull(elements, situation.known, quasi_affine=True, rounded=True)
    if hull is None:
        raise NotPossibleError("there is no fixed-size box hull")
    box = as_set(hull, elements.params())
    return VectorCandidate(
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

# --- Hulls that may read unwritten memory ---------------------------------------------------------
#
# Paper    V Sec. 5.3, which leaves this out
#
# Extra instances may read memory that nobody has put anything into. What they read does not matter,
# for what they write is not used; but memory must have room for it. The offset may be quasi-affine,
# as that of a convolution with a stride.

def by_relaxed_hull(situation: Situation) -> VectorCandidate:
    """Return the box hull, unless it is that of hulls.isl. Raises NotPossibleError."""
    same = isl.Map.identity(situation.elements.get_space().map_from_set())
    why = "a fixed-size box hull holds the instances, and memory what extra ones read"
    found = harmless(situation, "relaxed", why, same)
    size, outside = situation.hull("size"), situation.hull("outside")
    if size and not outside and _equal(found, components(size[0])):
        raise NotPossibleError("it is the box hull")
    return found


def _equal(candidate: VectorCandidate, sizes: tuple[isl.PwAff, ...]) -> bool:
    return all(a.is_equal(b) for a, b in zip(candidate.sizes, sizes, strict=True))

# --- Boxes along the lattice of the instances -----------------------------------------------------
#
# Paper    V Sec. 5, goes without this

def by_lattice(situation: Situation) -> VectorCandidate:
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

# --- Boxes in another basis -----------------------------------------------------------------------
#
# Paper    V Sec. 5, goes without this; see stages/poly/lattices.py

MOST_TRIED = 8
"""The most bases that are tried, those of the smallest boxes first."""


def by_basis(situation: Situation) -> VectorCandidate:
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

# --- Sizes with a configuration each --------------------------------------------------------------
#
# The sizes depend on the index.
#
# Paper    V Sec. 5.4

def by_sizes(situation: Situation) -> VectorCandidate:
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
    return VectorCandidate(
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

# --- Boxes configured before each call ------------------------------------------------------------
#
# The size of the box depends on the index.
#
# Paper    V Sec. 5.4, does without this

def by_configuration(situation: Situation) -> VectorCandidate:
    """Return the instances themselves, a box of many sizes. Raises NotPossibleError."""
    exact = situation.exact
    if not exact.is_box:
        raise NotPossibleError("the exact bounds are no box")
    if find_fixed_size(exact, find_index_constants(situation.elements)) is not None:
        raise NotPossibleError("there is one size, that of the exact bounds")
    return VectorCandidate(
        way="configure",
        why="the instances are a box, configured before each call",
        sizes=exact.size,
        origin=firsts(exact.minimum, situation.elements.params()),
        box=situation.elements,
        each_call=True,
    )


def transfer_by_configuration(situation: Situation) -> VectorCandidate:
    """Return elements that leave after a step, in order. Raises NotPossibleError."""
    if not keeps_order(situation.compression, situation.elements):
        raise NotPossibleError("the box has its elements in another order")
    return by_configuration(situation)
