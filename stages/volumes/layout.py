"""Lay volumes out in arrays; those that may share memory are put into one array where that pays.

Source   F Def. 4.7 (array), 4.8 (view), 4.9 (slice); layout maps
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import find_greatest
from lairmake.stages.volumes.domains import make_domains
from lairmake.stages.volumes.liveness import View
from lairmake.stages.volumes.operation import Program

SET = isl.dim_type.set


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array: `domain` is rectangular from zero, without a name; it holds `volumes`."""

    domain: isl.Set
    volumes: tuple[str, ...]


def lay_out(
    program: Program, volumes: isl.UnionSet, views: Mapping[str, View],
    sharing: Collection[frozenset[str]], context: isl.Set,
) -> list[Array]:
    """Return arrays that hold every volume that is no view.

    Volumes are taken in order. One goes to the array where the fewest elements are added, if it
    may share memory with all that lie there and the array grows by less than the volume; else to a
    new one. Where sizes are symbolic constants, one must hold the other for all of them.
    """
    arrays: list[Array] = []
    for name, domain in domains_in_order(program, volumes).items():
        if name in views:
            continue
        alone = Array(domain=domain.reset_tuple_id(), volumes=(name,))
        best, cost = None, _count(alone.domain, context)
        for number, array in enumerate(arrays):
            if not _may_join(name, array, program, sharing):
                continue
            grown = _joined(array, alone, context)
            if grown is None:
                continue
            more = _count(grown.domain, context) - _count(array.domain, context)
            if more < cost or (best is None and _is_within(alone, array, context)):
                best, cost = (number, grown), more
        if best is None:
            arrays.append(alone)
        else:
            arrays[best[0]] = best[1]
    return arrays


def domains_in_order(program: Program, volumes: isl.UnionSet) -> dict[str, isl.Set]:
    """Return the index domains of volumes in the order in which operations define them."""
    every = make_domains(volumes)
    return {name: every[name] for each in program.operations for name in each.volumes}


def _may_join(
    name: str, array: Array, program: Program, sharing: Collection[frozenset[str]]
) -> bool:
    types = program.types
    return all(
        frozenset((name, other)) in sharing and types[name] == types[other]
        for other in array.volumes
    )


def _joined(array: Array, other: Array, context: isl.Set) -> Array | None:
    """Return the array that holds two; None where symbolic constants say neither holds the other.

    The last dimensions are laid on each other; there are zeros before those of the one with fewer.
    """
    rank = max(array.domain.dim(SET), other.domain.dim(SET))
    both = [lifted(each.domain, rank) for each in (array, other)]
    names = array.volumes + other.volumes
    for inner, outer in (both, both[::-1]):
        if inner.intersect_params(context).is_subset(outer):
            return Array(domain=outer, volumes=names)
    if context.dim(isl.dim_type.param):
        return None
    hull = both[0].union(both[1])
    sizes = [find_greatest(hull, k).to_python() for k in range(rank)]
    dims = letters(rank)
    bounds = " and ".join(f"0 <= {i} <= {m}" for i, m in zip(dims, sizes, strict=True)) or "true"
    return Array(domain=isl.Set(f"{{ [{', '.join(dims)}] : {bounds} }}"), volumes=names)


def _is_within(other: Array, array: Array, context: isl.Set) -> bool:
    joined = _joined(array, other, context)
    return joined is not None and joined.domain.dim(SET) == array.domain.dim(SET) and bool(
        joined.domain.is_equal(array.domain)
    )


def lifted(domain: isl.Set, rank: int) -> isl.Set:
    """Return a set with zeros before its dimensions, so that it has as many as asked for."""
    new = rank - domain.dim(SET)
    domain = domain.insert_dims(SET, 0, new)
    for k in range(new):
        domain = domain.fix_val(SET, k, isl.Val(0))
    return domain


def _count(domain: isl.Set, context: isl.Set) -> int:
    """Return the number of elements of a box; 0 where symbolic constants leave it open."""
    if context.dim(isl.dim_type.param):
        return 0
    return math.prod(find_shape(domain))


def layout_map(name: str, array: str, domain: isl.Set, rank: int) -> isl.Map:
    """Return { name[i] -> array[0, ..., i] } for an array of so many dimensions."""
    dims = letters(domain.dim(SET))
    zeros = ["0"] * (rank - len(dims))
    text = f"{name}[{', '.join(dims)}] -> {array}[{', '.join([*zeros, *dims])}]"
    return isl.Map(f"{{ {text} }}").intersect_domain(domain)
