"""Which PE needs, and which computes, the elements of tensors.

Paper    V Sec. 4.3, (7)
"""

from __future__ import annotations

import typing

import islpy as isl

Lair = typing.Mapping[str, typing.Any]
"""The objects of lair.isl: instances, tensors, reads, writes; internal, carried where there are."""


def needed_elements(lair: Lair, placement: isl.UnionMap) -> isl.UnionMap:
    """Return { tensor[e] -> PE[x, y] } of what a PE reads, or what becomes of it later.

    With `carried` { T[e] -> S[e] }, a PE that needs T[e] needs S[e] as well; chains of it end.
    """
    found: isl.UnionMap = lair["reads"].reverse().apply_range(placement)
    step = found
    carried = lair.get("carried", isl.UnionMap("{ }")).reverse()
    while not step.is_empty():
        step = carried.apply_range(step)
        found = found.union(step)
    return found


def computed_elements(lair: Lair, placement: isl.UnionMap) -> isl.UnionMap:
    """Return { tensor[e] -> PE[x, y] } of what a PE computes, or adds to."""
    computed: isl.UnionMap = lair["writes"].reverse().apply_range(placement)
    return computed

