"""Which PE needs, and which computes, the elements of tensors.

Paper    V Sec. 4.3, (7)
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.text import Objects


@dataclass(frozen=True, slots=True, kw_only=True)
class Lair:
    """The objects of lair.isl; what it does not have is empty.

    `instances` { S[i] } run, `idle` ones have a place only, with the element that they stand for;
    `tensors` and, of what only statements read, `internal` { T[e] }; `reads`
    and `writes` { S[i] -> T[e] }, of any instance; `carried` { T[e] -> S[e] } in the next
    invocation. `feedback` is { T_feedback[e] -> T[e] }, where T_feedback takes the place of T in
    `reads`.
    """

    instances: isl.UnionSet
    idle: isl.UnionSet
    tensors: isl.UnionSet
    reads: isl.UnionMap
    writes: isl.UnionMap
    internal: isl.UnionSet
    carried: isl.UnionMap
    feedback: isl.UnionMap


def read_lair(objects: Objects) -> Lair:
    """Return what the objects of lair.isl say."""
    none = isl.UnionMap("{ }")
    return Lair(
        instances=objects["instances"],
        idle=objects.get("idle", isl.UnionSet("{ }")),
        tensors=objects["tensors"],
        reads=objects["reads"],
        writes=objects["writes"],
        internal=objects.get("internal", isl.UnionSet("{ }")),
        carried=objects.get("carried", none),
        feedback=none,
    )


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

