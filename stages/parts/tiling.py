"""Tiles of a part of a result: what each of them computes, and of which slices of the inputs.

Source   F Alg. 2: tiles of outputs, slices of operands
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.parts.boxes import SIGNS
from lairmake.stages.parts.cutting import Region, bound_instances
from lairmake.stages.parts.matching import NoSliceError, Slice, affine, cover, match_slice
from lairmake.stages.poly.functions import find_function_in
from lairmake.stages.poly.iscc import Told, tell
from lairmake.stages.volumes.operation import Operation

IN, OUT, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.div

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a tile computes by one operation: instances from zero, accesses as affine rows.

    An access has a row per dimension of the tensor: factors of the iterators, and a constant.
    `reads` has tensor and rows by the names in `value`, which goes to the target by `operator`.
    Of instances only those in `where` count, { [l] }, a conjunction; None: all.
    """

    tensor: str
    size: tuple[int, ...]
    operator: str
    value: str
    target: Rows
    reads: Mapping[str, tuple[str, Rows]]
    where: isl.Set | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """What each tile of a region computes.

    `inputs` are the slices that it reads by the names of its tensors, `computed` those that it
    computes: a tensor of a volume that is needed twice, or of sums on the way to it, has another
    name than the volume.
    """

    region: Region
    output: Slice
    inputs: Mapping[str, Slice]
    computed: Mapping[str, Slice]
    statements: tuple[Statement, ...]


def tile(region: Region, part: str, operations: Sequence[Operation]) -> Tile:
    """Return what each tile of a region of a part computes.

    What is wanted of a volume at places that move against each other from tile to tile, or twice
    by one statement, is computed apart. Raises NoSliceError with the map of what is no slice of a
    fixed size at an affine offset.
    """
    known = {each.name: each for each in operations if each.kind == "compute"}
    taken = {each.name for each in operations}
    versions = {part: [_Version(name=part, wanted=region.tiles, readers=())]}
    made: list[_Computed] = []
    for operation in reversed(known.values()):
        for version in versions.get(operation.name, ()):
            computed = _computed(operation, version, region, operation.name == part)
            made.append(computed)
            for read in operation.reads.values():
                if (read.get_tuple_name(OUT) or "") in known:
                    _want(computed, read, versions, taken)
    made.reverse()
    elements = {each.name: each.elements for each in made}
    inputs: dict[str, Slice] = {}
    taken |= elements.keys()
    statements = [_statement(each, versions, elements, inputs, taken) for each in made]
    return Tile(
        region=region, output=match_slice(region.tiles), inputs=inputs, computed=elements,
        statements=tuple(statements),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """Elements of a volume that tiles compute together, and the accesses of those that read it."""

    name: str
    wanted: isl.Map
    readers: tuple[tuple[str, isl.Map], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Computed:
    """What tiles need of a volume that they compute, and by which instances { [q] -> [d] }.

    They are those of a slice, of which `where`, if it is given, are counted from its first one.
    """

    name: str
    operation: Operation
    elements: Slice
    instances: isl.Map
    slice: Slice
    where: isl.Set | None


def _computed(
    operation: Operation, version: _Version, region: Region, is_last: bool
) -> _Computed:
    """Return what tiles compute by an operation: a box that holds what is wanted of its result."""
    assert operation.loops is not None
    writes = operation.results[0].writes
    elements = match_slice(version.wanted, is_hull=True)
    covered = cover(elements, region.tiles.domain())
    every = covered.apply_range(writes.reverse())
    if is_last and region.sums is not None:
        every = every.intersect(region.sums)
    instances = every.intersect_range(operation.loops)
    is_whole = version.wanted.is_subset(instances.apply_range(writes))
    if (is_whole and _is_slice(instances)) or operation.results[0].operator not in SIGNS:
        slice_, where = match_slice(instances), None
    else:
        box = match_slice(bound_instances(every, covered, operation), is_hull=True)
        slice_, where = _part_of(box, instances, region.tiles.domain())
    return _Computed(
        name=version.name, operation=operation, elements=elements, instances=instances,
        slice=slice_, where=where,
    )


def _is_slice(instances: isl.Map) -> bool:
    """Return whether the instances of each tile are a slice."""
    with contextlib.suppress(NoSliceError):
        match_slice(instances)
        return True
    return False


def _part_of(slice_: Slice, instances: isl.Map, tiles: isl.Set) -> tuple[Slice, isl.Set | None]:
    """Return a slice, and which of it instances are, counted from its first one.

    Raises NoSliceError where that depends on the tile.
    """
    local = slice_.at().intersect(_of_tile(slice_).apply_range(instances)).domain().unwrap()
    every = _of_tile(slice_).domain().unwrap().intersect_domain(tiles)
    inside = local.range()
    if not local.is_equal(every.intersect_range(inside)):
        raise NoSliceError(instances)
    where = inside.gist(every.range()).coalesce().compute_divs()
    if where.n_basic_set() != 1:
        raise NoSliceError(instances)
    return slice_, None if where.plain_is_universe() else where


def _of_tile(slice_: Slice) -> isl.Map:
    """Return { [[q] -> [l]] -> [q] } for the places l in a slice."""
    return slice_.at().domain().unwrap().domain_map()


def _want(
    computed: _Computed, read: isl.Map, versions: dict[str, list[_Version]], taken: set[str]
) -> None:
    """Add what a statement reads to a version of it that moves alike, or as a version of its own.

    A statement of LAIR accesses each of its tensors in one way.
    """
    name, reader = read.get_tuple_name(OUT) or "", (computed.name, read)
    wanted = computed.instances.apply_range(read)
    every = versions.setdefault(name, [])
    for n, known in enumerate(every):
        apart = any(by == computed.name and not read.is_equal(r) for by, r in known.readers)
        if not apart and _moves_alike(wanted, known.wanted):
            every[n] = _Version(
                name=known.name, wanted=wanted.union(known.wanted),
                readers=(*known.readers, reader),
            )
            return
    own = name if not every else _free(name, taken)
    taken.add(own)
    every.append(_Version(name=own, wanted=wanted, readers=(reader,)))


def _moves_alike(a: isl.Map, b: isl.Map) -> bool:
    """Return whether the least elements of two slices are equally far apart for each tile."""
    offsets = [match_slice(each, is_hull=True).offset for each in (a, b)]
    apart = offsets[0].sub(offsets[1]).as_map().intersect_domain(a.domain())
    return apart.range().is_singleton()


def _free(name: str, taken: Collection[str]) -> str:
    return next(each for n in itertools.count(1) if (each := f"{name}_{n}") not in taken)


def _statement(
    computed: _Computed, versions: Mapping[str, Sequence[_Version]],
    made: Mapping[str, Slice], inputs: dict[str, Slice], taken: Collection[str],
) -> Statement:
    """Return the statement of an operation, with indices from zero; new slices go to `inputs`.

    Of the names that are `taken`, only that of its volume is one for a slice.
    """
    operation = computed.operation
    (result,) = operation.results
    reads: dict[str, tuple[str, Rows]] = {}
    for label, read in operation.reads.items():
        every = versions.get(read.get_tuple_name(OUT) or "", ())
        name = next((v.name for v in every if (computed.name, read) in v.readers), None)
        if name is not None:
            reads[label] = (name, _rows(computed, read, made[name]))
        else:
            elements = match_slice(computed.instances.apply_range(read), is_hull=True)
            rows = _rows(computed, read, elements)
            others = {tensor for tensor, other in reads.values() if other != rows}
            reads[label] = (_input(elements, inputs, others, taken), rows)
    return Statement(
        tensor=computed.name, size=computed.slice.size, operator=result.operator,
        value=result.value, reads=reads, target=_rows(computed, result.writes, computed.elements),
        where=computed.where,
    )


def _input(
    elements: Slice, inputs: dict[str, Slice], others: set[str], taken: Collection[str]
) -> str:
    """Return the tensor that a slice of an input is, one for equal slices but those in `others`.

    A statement of LAIR accesses each of its tensors in one way.
    """
    for name, known in inputs.items():
        if name not in others and is_same(known, elements):
            return name
    name = elements.volume
    if name in inputs:
        name = _free(name, {*inputs, *taken})
    inputs[name] = elements
    return name


def is_same(a: Slice, b: Slice) -> bool:
    """Return whether two slices are of the same elements."""
    alike = (a.volume, a.size, a.stride) == (b.volume, b.size, b.stride)
    return alike and a.offset.as_map().is_equal(b.offset.as_map())


def _rows(computed: _Computed, access: isl.Map, elements: Slice) -> Rows:
    """Return the element that each instance accesses, both counted from zero in their slices.

    Raises NoSliceError where that depends on the tile.
    """
    inside = computed.slice.at().curry().intersect_domain(computed.instances.domain()).uncurry()
    plain = access.set_tuple_name(IN, "i").set_tuple_name(OUT, "e")
    try:
        return _find_rows(
            tell(inside.set_tuple_name(OUT, "i")), tell(plain), tell(elements.offset),
            elements.stride,
        )
    except NoSliceError:
        raise NoSliceError(inside.apply_range(access)) from None


@functools.lru_cache(1024)
def _find_rows(inside: Told, access: Told, offset: Told, strides: tuple[int, ...]) -> Rows:
    """Return (access - offset) / stride for { [[q] -> [l]] -> i[d] } and { i[d] -> e[...] }."""
    found = inside.it.apply_range(access.it)
    by = find_function_in(found.flatten_domain())
    return tuple(
        _row(by.get_at(k), offset.it.get_at(k), stride, found)
        for k, stride in enumerate(strides)
    )


def _row(by: isl.PwAff, offset: isl.Aff, stride: int, found: isl.Map) -> tuple[int, ...]:
    """Return (access - offset) / stride: factors of the local indices, then the constant."""
    access = affine(by, found)
    tiles = offset.dim(IN)
    own, base = _factors(access), _factors(offset)
    moved = [a - b for a, b in zip(own, (*base[:tiles], *[0] * (len(own) - tiles - 1), base[-1]),
                                   strict=True)]
    if access.dim(DIV) or any(moved[:tiles]) or any(each % stride for each in moved):
        raise NoSliceError(found)
    return tuple(each // stride for each in moved[tiles:])


def _factors(function: isl.Aff) -> list[int]:
    """Return the coefficients of an affine function, and its constant."""
    values = [function.get_coefficient_val(IN, k) for k in range(function.dim(IN))]
    return [each.to_python() for each in (*values, function.get_constant_val())]
