"""One clock for all statements of a layer: those that share no loops run one after the other.

Paper    Meister, Trading off Latency for Memory Bandwidth in Spatial Architectures, Sec. III.F
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

import islpy as isl

from stages.lair.elements import Lair
from stages.poly.pieces import maps_of

IN, OUT = isl.dim_type.in_, isl.dim_type.out


def in_order(
    times: isl.UnionMap, groups: Sequence[Sequence[str]], depths: Mapping[str, int], lair: Lair
) -> isl.UnionMap:
    """Return { S[i] -> [n, t..., 0...] }, n the number of its group; { S[i] -> [t...] } if one.

    The groups are of statements whose times are comparable. A group that reads what another one
    writes comes after it. Of each time so many dimensions are kept as `depths` says, the same
    number in a group. Raises graphlib.CycleError where each group comes after the other.
    """
    maps = {m.get_tuple_name(IN): m for m in maps_of(times)}
    longest = max(depths.values())
    result = isl.UnionMap("{ }")
    for number, group in enumerate(_sorted(groups, lair)):
        depth = max(depths[name] for name in group)
        for name in group:
            steps = _first(maps[name], depth)
            if len(groups) > 1:
                steps = _padded(steps, number, longest)
            result = result.union(isl.UnionMap.from_map(steps))
    return result


def _first(times: isl.Map, depth: int) -> isl.Map:
    """Return { S[i] -> [t...] } with the first `depth` dimensions of time."""
    return times.project_out(OUT, depth, times.dim(OUT) - depth)


def _padded(times: isl.Map, number: int, length: int) -> isl.Map:
    """Return { S[i] -> [number, t..., 0...] }."""
    own = times.dim(OUT)
    whole = times.insert_dims(OUT, 0, 1).fix_val(OUT, 0, number)
    whole = whole.add_dims(OUT, length - own)
    for position in range(own + 1, length + 1):
        whole = whole.fix_val(OUT, position, 0)
    return whole


def _sorted(groups: Sequence[Sequence[str]], lair: Lair) -> list[Sequence[str]]:
    """Return the groups, each after those that it reads from; otherwise as they come."""
    number = {name: k for k, group in enumerate(groups) for name in group}
    after: Mapping[int, set[int]] = {k: set() for k in range(len(groups))}
    for pair in maps_of(lair["reads"].apply_range(lair["writes"].reverse())):
        reader, writer = (number[pair.get_tuple_name(kind)] for kind in (IN, OUT))
        after[reader] |= {writer} - {reader}
    return [groups[k] for k in TopologicalSorter(after).static_order()]
