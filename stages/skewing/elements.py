"""Elements that PEs need and compute, for placements given in part, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.canonical import from_domain, list_maps, list_sets
from lairmake.stages.poly.text import Objects

# --- Elements that PEs need and compute -----------------------------------------------------------
#
# Paper    V Sec. 4.3, (7)

@dataclass(frozen=True, slots=True, kw_only=True)
class Lair:
    """The objects of lair.isl; what it does not have is empty.

    `instances` { S[i] } run, `idle` ones have a place only, with the element that they stand for;
    `tensors` and, of what only statements read, `internal` { T[e] }; `accesses`
    and `writes` { S[i] -> T[e] }, of any instance; `carried` { T[e] -> S[e] } in the next
    invocation. Further accesses of a statement to a tensor are to `views` { T_2[e] -> T[e] }; in
    `reads`, they are to the tensor. `feedback` is { T_feedback[e] -> T[e] }, where T_feedback takes
    the place of T in `reads`.
    """

    instances: isl.UnionSet
    idle: isl.UnionSet
    tensors: isl.UnionSet
    accesses: isl.UnionMap
    reads: isl.UnionMap
    views: isl.UnionMap
    writes: isl.UnionMap
    internal: isl.UnionSet
    carried: isl.UnionMap
    feedback: isl.UnionMap


def read_lair(objects: Objects) -> Lair:
    """Return what the objects of lair.isl say."""
    none = isl.UnionMap("{ }")
    accesses, views = objects["reads"], objects.get("views", none)
    return Lair(
        instances=objects["instances"],
        idle=objects.get("idle", isl.UnionSet("{ }")),
        tensors=objects["tensors"],
        accesses=accesses,
        reads=resolve(accesses, views),
        views=views,
        writes=objects["writes"],
        internal=objects.get("internal", isl.UnionSet("{ }")),
        carried=objects.get("carried", none),
        feedback=none,
    )


def resolve(accesses: isl.UnionMap, views: isl.UnionMap) -> isl.UnionMap:
    """Return { S[i] -> T[e] } of accesses to tensors, and to views { T_2[e] -> T[e] } of these."""
    if views.is_empty():
        return accesses
    return accesses.subtract_range(views.domain()).union(accesses.apply_range(views))


def find_running(lair: Lair, placement: isl.UnionMap) -> isl.UnionMap:
    """Return { S[i] -> PE[x, y] } of the instances that run, without idle ones."""
    return placement if lair.idle.is_empty() else placement.intersect_domain(lair.instances)


def find_needed_elements(lair: Lair, placement: isl.UnionMap) -> isl.UnionMap:
    """Return { tensor[e] -> PE[x, y] } of what a PE reads, or what becomes of it later.

    With `carried` { T[e] -> S[e] }, a PE that needs T[e] needs S[e] as well; chains of it end.
    """
    found = lair.reads.reverse().apply_range(find_running(lair, placement))
    step = found
    carried = lair.carried.reverse()
    while not step.is_empty():
        step = carried.apply_range(step)
        found = found.union(step)
    return found


def find_computed_elements(lair: Lair, placement: isl.UnionMap) -> isl.UnionMap:
    """Return { tensor[e] -> PE[x, y] } of what a PE computes, or adds to."""
    return lair.writes.reverse().apply_range(placement)

# --- Placements given in part ---------------------------------------------------------------------
#
# Statements without a place run where their elements are. Of several accesses of a statement to a
# tensor, those that have a place tell it by the first one.
#
# Paper    V Sec. 4.1.2

def complete(given: isl.UnionMap, lair: Lair) -> isl.UnionMap:
    """Return { S[i] -> PE }, with the statements added that others tell the place of.

    A statement without a place runs on the PE on which those that have one use the same elements,
    if that is one PE for each instance. The others stay without a place.
    """
    placement = given
    statements = list_sets(lair.instances.union(lair.idle))
    while True:
        free = [s for s in statements if _placed(s, placement).is_empty()]
        found = next(filter(None, (_beside(s, placement, lair) for s in free)), None)
        if found is None:
            return placement
        placement = placement.union(found)


def _placed(statement: isl.Set, placement: isl.UnionMap) -> isl.UnionMap:
    return placement.intersect_domain(isl.UnionSet.from_set(statement))


def _beside(statement: isl.Set, placement: isl.UnionMap, lair: Lair) -> isl.UnionMap | None:
    """Return { S[i] -> PE } on which all elements are, as far as they agree; None if not one PE."""
    found: isl.UnionMap | None = None
    for near in _places(statement, placement, lair):
        both = near if found is None else found.intersect(near)
        if isl.UnionSet.from_set(statement).is_subset(both.domain()):
            found = both
    return found if found is not None and found.is_single_valued() else None


def _places(
    statement: isl.Set, placement: isl.UnionMap, lair: Lair
) -> Iterator[isl.UnionMap]:
    """Yield { S[i] -> PE } by access: to what it defines, what it gets, and what it shares."""
    reads, writes = lair.accesses.subtract_range(lair.views.domain()), lair.writes
    name = statement.get_tuple_name()
    own, gotten = from_domain(writes, name), from_domain(lair.accesses, name)
    for accesses, others in ((own, reads), (gotten, writes), (gotten, reads)):
        used = others.reverse().apply_range(placement)
        for access in list_maps(accesses):
            yield resolve(isl.UnionMap.from_map(access), lair.views).apply_range(used)
