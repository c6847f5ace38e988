"""Placements given in part: statements without one run where their elements are.

Paper    V Sec. 4.1.2
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from lairmake.stages.poly.canonical import from_domain, list_maps, list_sets
from lairmake.stages.skewing.elements import Lair


def complete(given: isl.UnionMap, lair: Lair) -> isl.UnionMap:
    """Return { S[i] -> PE }, with the statements added that others tell the place of.

    A statement that nothing is said of runs on the PE on which those that have a place use the same
    elements, if that is one PE for each instance. The others stay without a place.
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
    """Yield { S[i] -> PE } by tensor: what it defines, what it gets, and what it shares."""
    reads, writes = lair.reads, lair.writes
    name = statement.get_tuple_name()
    own, gotten = from_domain(writes, name), from_domain(reads, name)
    for accesses, others in ((own, reads), (gotten, writes), (gotten, reads)):
        used = others.reverse().apply_range(placement)
        for access in list_maps(accesses):
            yield isl.UnionMap.from_map(access).apply_range(used)
