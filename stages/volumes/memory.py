"""Live ranges of volumes, and arrays that volumes share."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import islpy as isl

from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import find_greatest
from lairmake.stages.volumes.operation import VolumeOperation, VolumeProgram, make_domains

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

# --- Live ranges, and volumes that may share memory -----------------------------------------------
#
# Source   F: live ranges of buffers, `live(a) and live(b)` disjoint

GIVEN = ("input", "constant", "index")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A volume whose elements are elements of another: { part[i] -> whole[Pi(i)] }, one to one."""

    part: str
    whole: str
    map: isl.Map


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRange:
    """The numbers of the first and the last operation between which a volume's values are needed.
    """

    first: int
    last: int


def find_views(program: VolumeProgram) -> dict[str, View]:
    """Return the volumes that are views of others, by their names (F Def. 4.8).

    That is a copy from one operand, of its type, no element of which comes twice.
    """
    found = {}
    for operation in program.operations:
        if operation.kind == "copy" and len(operation.copies) == 1:
            by = operation.copies[0]
            whole = by.get_tuple_name(OUT) or ""
            if by.is_injective() and program.types[whole] == program.types[operation.name]:
                found[operation.name] = View(part=operation.name, whole=whole, map=by)
    return found


def root(volume: str, views: Mapping[str, View]) -> str:
    """Return the volume that a view is of, through views of views; or the volume itself."""
    while volume in views:
        volume = views[volume].whole
    return volume


def live_ranges(program: VolumeProgram, views: Mapping[str, View]) -> dict[str, LiveRange]:
    """Return the live range of each volume; a volume is needed as long as its views are.

    Operations are numbered from 0. What is given is there from the start, and stays; what is
    returned stays to the end, which is one more than the last operation.
    """
    end = len(program.operations)
    found: dict[str, LiveRange] = {}
    for number, operation in enumerate(program.operations):
        for volume in operation.volumes:
            is_given = operation.kind in GIVEN
            found[volume] = LiveRange(
                first=0 if is_given else number, last=end if is_given else number
            )
        for volume in operation.operands:
            found[volume] = _longer(found[volume], number)
    for volume in program.outputs:
        found[volume] = _longer(found[volume], end)
    for volume in reversed(list(views)):
        whole = views[volume].whole
        found[whole] = _longer(found[whole], found[volume].last)
    return found


def _longer(live: LiveRange, last: int) -> LiveRange:
    return LiveRange(first=live.first, last=max(live.last, last))


def find_sharing(
    program: VolumeProgram, views: Mapping[str, View], elements: Mapping[str, isl.UnionMap]
) -> set[frozenset[str]]:
    """Return the pairs of volumes, views left out, that may lie in the same memory.

    Two may if their live ranges are disjoint; or if one is needed last by the operation that
    defines the other, and each element there needs of it the element of the same index alone.
    """
    live = live_ranges(program, views)
    roots = [volume for volume in live if volume not in views]
    apart = {
        frozenset((a, b)) for a, b in combinations(roots, 2)
        if live[a].last < live[b].first or live[b].last < live[a].first
    }
    return apart | {
        frozenset((old, new))
        for number, operation in enumerate(program.operations)
        for old, new in _replaced(operation, views, elements)
        if live[old].last == number
    }


def _replaced(
    operation: VolumeOperation, views: Mapping[str, View], elements: Mapping[str, isl.UnionMap]
) -> Iterator[tuple[str, str]]:
    """Yield operand and result where an element of the result may take the place of its operand's.

    Other operands may not be views of that operand; a single result, since others might need it.
    A sum grows where it starts from only: what it adds up is read more than once.
    """
    wholes = [root(operand, views) for operand in operation.operands]
    sums = [result for result in operation.results if result.operator != "="]
    read = [by.get_tuple_name(OUT) for by in operation.reads.values()]
    if operation.name in views or len(operation.volumes) > 1:
        return
    maps: list[isl.Map] = []
    if operation.name in elements:
        elements[operation.name].foreach_map(maps.append)
    for by in maps:
        operand = by.get_tuple_name(OUT) or ""
        if any(operand != result.init or operand in read for result in sums):
            continue
        if operand not in views and wholes.count(operand) == 1 and _is_own(by):
            yield operand, operation.name


def _is_own(by: isl.Map) -> bool:
    """Return whether a map leads to elements with the same index only."""
    if by.dim(IN) != by.dim(OUT):
        return False
    plain = by.set_tuple_name(OUT, by.get_tuple_name(IN) or "")
    return bool(plain.is_subset(isl.Map.identity(plain.space)))

# --- Arrays that hold volumes ---------------------------------------------------------------------
#
# Source   F Def. 4.7 (array), 4.8 (view), 4.9 (slice); layout maps

@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeArray:
    """An array: `domain` is rectangular from zero, without a name; it holds `volumes`."""

    domain: isl.Set
    volumes: tuple[str, ...]


def lay_out(
    program: VolumeProgram, volumes: isl.UnionSet, views: Mapping[str, View],
    sharing: Collection[frozenset[str]], context: isl.Set,
) -> list[VolumeArray]:
    """Return arrays that hold every volume that is no view.

    Volumes are taken in order. One goes to the array where the fewest elements are added, if it
    may share memory with all that lie there and the array grows by less than the volume; else to a
    new one. Where sizes are symbolic constants, one must hold the other for all of them.
    """
    arrays: list[VolumeArray] = []
    for name, domain in domains_in_order(program, volumes).items():
        if name in views:
            continue
        alone = VolumeArray(domain=domain.reset_tuple_id(), volumes=(name,))
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


def domains_in_order(program: VolumeProgram, volumes: isl.UnionSet) -> dict[str, isl.Set]:
    """Return the index domains of volumes in the order in which operations define them."""
    every = make_domains(volumes)
    return {name: every[name] for each in program.operations for name in each.volumes}


def _may_join(
    name: str, array: VolumeArray, program: VolumeProgram, sharing: Collection[frozenset[str]]
) -> bool:
    types = program.types
    return all(
        frozenset((name, other)) in sharing and types[name] == types[other]
        for other in array.volumes
    )


def _joined(array: VolumeArray, other: VolumeArray, context: isl.Set) -> VolumeArray | None:
    """Return the array that holds two; None where symbolic constants say neither holds the other.

    The last dimensions are laid on each other; there are zeros before those of the one with fewer.
    """
    rank = max(array.domain.dim(SET), other.domain.dim(SET))
    both = [lifted(each.domain, rank) for each in (array, other)]
    names = array.volumes + other.volumes
    for inner, outer in (both, both[::-1]):
        if inner.intersect_params(context).is_subset(outer):
            return VolumeArray(domain=outer, volumes=names)
    if context.dim(isl.dim_type.param):
        return None
    hull = both[0].union(both[1])
    sizes = [find_greatest(hull, k).to_python() for k in range(rank)]
    dims = letters(rank)
    bounds = " and ".join(f"0 <= {i} <= {m}" for i, m in zip(dims, sizes, strict=True)) or "true"
    return VolumeArray(domain=isl.Set(f"{{ [{', '.join(dims)}] : {bounds} }}"), volumes=names)


def _is_within(other: VolumeArray, array: VolumeArray, context: isl.Set) -> bool:
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
