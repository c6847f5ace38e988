"""Tiling of parts: regions, slices, and statements of tiles."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import NumberSyntax
from lairmake.stages.machine.types import find_integers
from lairmake.stages.parts.partition import SIGNS, find_reduced
from lairmake.stages.parts.rewrites import fold, list_numbers
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import depends_on, find_function_in, find_greatest, find_least
from lairmake.stages.poly.iscc import ToldObject, tell
from lairmake.stages.volumes.operation import NAME, VolumeOperation, VolumeProgram

IN, OUT, SET, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div

# --- Regions of a part ----------------------------------------------------------------------------
#
# Source   F Alg. 2: tiles of outputs

@dataclass(frozen=True, slots=True, kw_only=True)
class TileRegion:
    """The tiles of a hyperrectangle that have one size, `counts` of them in each dimension.

    `tiles` is { [q] -> part[e] }. For partial results, the dimensions of sums follow those of
    elements, and `sums` is { [q] -> loops[d] }, the instances of a tile.
    """

    counts: tuple[int, ...]
    tiles: isl.Map
    sums: isl.Map | None


def list_regions(part: isl.Set, sizes: Sequence[int]) -> Iterator[TileRegion]:
    """Yield the regions of a part: whole tiles, and the rest at the end of each dimension.

    `sizes` has the size of tiles in each dimension of the part.
    """
    bounds = bounding_box(part)
    pieces = [list(_pieces(*ends, size)) for ends, size in zip(bounds, sizes, strict=True)]
    for chosen in itertools.product(*pieces):
        tiles = _cut(chosen, {k: k for k in range(len(chosen))}, part)
        yield TileRegion(counts=tuple(count for _, _, count in chosen), tiles=tiles, sums=None)


def list_single(region: TileRegion) -> Iterator[TileRegion]:
    """Yield each tile of a region as a region of its own."""
    first = isl.Set(f"{{ [{', '.join('0' for _ in region.counts)}] }}")
    for index in itertools.product(*map(range, region.counts)):
        at = isl.Set(f"{{ [{', '.join(map(str, index))}] }}")
        tiles, sums = (
            None if each is None
            else isl.Map.from_domain_and_range(first, each.intersect_domain(at).range())
            for each in (region.tiles, region.sums)
        )
        assert tiles is not None
        yield TileRegion(counts=(1,) * len(index), tiles=tiles, sums=sums)


def list_partials(
    elements: isl.Map, counts: Sequence[int], operation: VolumeOperation, sizes: Sequence[int]
) -> Iterator[TileRegion]:
    """Yield the regions of the partial results of a sum, in the order in which these are added.

    `elements` is { [q] -> v[e] }, the elements of the sum that each of `counts` tiles of a region
    needs; `sizes` are the sizes of tiles along the summed dimensions. A tile of partial results is
    [q, r].
    """
    assert operation.loops is not None
    sums = find_reduced(operation.results[0])
    ends = bounding_box(operation.loops)
    bounds = [ends[k] for k in sums]
    pieces = [list(_pieces(*ends, size)) for ends, size in zip(bounds, sizes, strict=True)]
    for chosen in itertools.product(*pieces):
        more = tuple(count for _, _, count in chosen)
        cut = _cut(chosen, {k: n for n, k in enumerate(sums)}, bound_sums(operation), len(counts))
        any_instance = isl.Map.from_domain_and_range(elements.domain(), cut.range())
        any_element = isl.Map.from_domain_and_range(cut.domain(), elements.range())
        yield TileRegion(
            counts=(*counts, *more), tiles=elements.flat_domain_product(any_element),
            sums=any_instance.flat_domain_product(cut),
        )


def bound_instances(every: isl.Map, wanted: isl.Map, operation: VolumeOperation) -> isl.Map:
    """Return the instances { [q] -> [d] } within the bounds of summed iterators.

    Instances that are still unbounded, as g and m of a channel 2 g + m, get the bounds of each
    dimension beyond which `wanted` = { [q] -> v[e] } needs no instance.
    """
    assert operation.loops is not None
    found = every.intersect_range(bound_sums(operation))
    if found.range().is_bounded():
        return found
    universe, writes = isl.Set.universe(operation.loops.space), operation.results[0].writes
    for k, (low, high) in enumerate(bounding_box(operation.loops)):
        between = universe.lower_bound_val(SET, k, isl.Val(low))
        between = between.upper_bound_val(SET, k, isl.Val(high))
        less = found.intersect_range(between)
        if wanted.is_subset(less.apply_range(writes)):
            found = less
    return found


def bound_sums(operation: VolumeOperation) -> isl.Set:
    """Return the instances within the bounds of summed iterators.

    Iterators that determine an element together, as 2a + b, have the bounds of all instances that
    write one, even if a condition leaves some out. Where these have no bounds, the bounds are those
    of the instances that run.
    """
    assert operation.loops is not None
    every, ends = isl.Set.universe(operation.loops.space), bounding_box(operation.loops)
    writes = operation.results[0].writes
    together = set[int]().union(*(each for each in depends_on(writes) if len(each) > 1))
    for k in sorted(together):
        least, most = find_least(writes.domain(), k), find_greatest(writes.domain(), k)
        if least.is_int() and most.is_int():
            ends[k] = least.to_python(), most.to_python()
    for k in sorted(together.union(find_reduced(operation.results[0]))):
        low, high = ends[k]
        every = every.lower_bound_val(SET, k, isl.Val(low))
        every = every.upper_bound_val(SET, k, isl.Val(high))
    return every


def _pieces(first: int, last: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, size and number of tiles: whole ones, then the rest."""
    whole, rest = divmod(last + 1 - first, size)
    if whole:
        yield first, size, whole
    if rest:
        yield first + whole * size, rest, 1


def _cut(
    chosen: Sequence[tuple[int, int, int]], by: Mapping[int, int], box: isl.Set, first: int = 0
) -> isl.Map:
    """Return { [q] -> box[e] : start + size q_n <= e_k < start + size (q_n + 1) }, n = by[k].

    Indices are counted from `first` in their names.
    """
    indices = [f"q{first + n}" for n in range(len(chosen))]
    elements = letters(box.dim(SET))
    bounds = [f"0 <= {q} < {count}" for q, (_, _, count) in zip(indices, chosen, strict=True)]
    for k, n in by.items():
        start, size, _ = chosen[n]
        moved = f"{size}*{indices[n]}"
        bounds.append(f"{start} + {moved} <= {elements[k]} < {start + size} + {moved}")
    name = box.get_tuple_name() or ""
    pair = f"[{', '.join(indices)}] -> {name}[{', '.join(elements)}]"
    return isl.Map(f"{{ {pair} : {' and '.join(bounds) or 'true'} }}").intersect_range(box)

# --- Slices affine in tile indices ----------------------------------------------------------------
#
# Source   F Alg. 2, MatchSlice: offsets and strides are affine
#          functions of the tile indices, found dimension by dimension; Def. 4.9 (slice)

MOST_REMEMBERED = 1024
"""Largest number of slices in the cache: parts of a network are alike but for names."""


class NoSliceError(Exception):
    """Elements that are no slice with an affine offset and a fixed size, as `map`."""

    def __init__(self, found: isl.Map) -> None:
        super().__init__(str(found))
        self.map = found


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """{ [q] -> v[offset(q) + stride l] : 0 <= l < size }; one entry per dimension."""

    volume: str
    offset: isl.MultiAff
    stride: tuple[int, ...]
    size: tuple[int, ...]

    def at(self) -> isl.Map:
        """Return { [[q] -> [l]] -> v[offset(q) + stride l] } for 0 <= l < size."""
        found = _at(tell(self.offset), self.stride, self.size)
        return found.set_tuple_name(OUT, self.volume) if self.volume else found


@functools.lru_cache(MOST_REMEMBERED)
def _at(offset: ToldObject, stride: tuple[int, ...], size: tuple[int, ...]) -> isl.Map:
    """Return { [[q] -> [l]] -> [offset(q) + stride l] } for 0 <= l < size."""
    names = [f"l{k}" for k in range(len(size))]
    bounds = [f"0 <= {n} < {size}" for n, size in zip(names, size, strict=True)]
    moved = [f"{s}*{n}" for n, s in zip(names, stride, strict=True)]
    places = ", ".join(f"o{k} + {step}" for k, step in enumerate(moved))
    outs = ", ".join(f"o{k}" for k in range(len(names)))
    step = isl.Map(
        f"{{ [[{outs}] -> [{', '.join(names)}]] -> [{places}] : {' and '.join(bounds) or 'true'} }}"
    )
    local = isl.Map.identity(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, len(names), len(names)))
    first: isl.MultiAff = offset.it
    return first.as_map().product(local).apply_range(step)


def match_slice(found: isl.Map, is_hull: bool = False) -> Slice:
    """Return the slice { [q] -> v[e] }; with `is_hull` the least slice that contains it.

    Raises NoSliceError for an offset that is not affine, or a size that differs between q.
    """
    name = found.get_tuple_name(OUT) if found.has_tuple_name(OUT) else None
    unnamed = found.reset_tuple_id(OUT) if found.has_tuple_id(OUT) else found
    try:
        offset, stride, size = _match(tell(unnamed))
    except NoSliceError:
        raise NoSliceError(found.coalesce()) from None
    result = Slice(volume=name or "", offset=offset, size=size, stride=stride)
    if not is_hull and not cover(result, found.domain()).is_equal(found):
        raise NoSliceError(found.coalesce())
    return result


@functools.lru_cache(MOST_REMEMBERED)
def _match(found: ToldObject) -> tuple[isl.MultiAff, tuple[int, ...], tuple[int, ...]]:
    """Return offset, strides and sizes of the least slice that contains { [q] -> [e] }."""
    plain = found.it.coalesce()
    offset = isl.MultiAff.zero(plain.space)
    size, stride = [], []
    for dim in range(plain.dim(OUT)):
        least, step, count = _along(plain, dim)
        offset = offset.set_aff(dim, least)
        size.append(count)
        stride.append(step)
    return offset, tuple(stride), tuple(size)


def cover(slice_: Slice, tiles: isl.Set) -> isl.Map:
    """Return { [q] -> v[e] } for the elements of a slice."""
    return slice_.at().domain_factor_domain().intersect_domain(tiles).coalesce()


def _along(found: isl.Map, dim: int) -> tuple[isl.Aff, int, int]:
    """Return offset, stride and size along a dimension. Raises NoSliceError."""
    least, most = affine(found.dim_min(dim), found), affine(found.dim_max(dim), found)
    extent = most.sub(least)
    if not extent.is_cst():
        raise NoSliceError(found)
    length = extent.get_constant_val().to_python()
    stride = found.get_range_stride_info(dim).get_stride().to_python() if length else 1
    return least, stride, length // stride + 1


def affine(bound: isl.PwAff, found: isl.Map) -> isl.Aff:
    """Return a function as an affine one. Raises NoSliceError for `found` if it is not."""
    pieces = bound.gist(bound.domain()).coalesce().get_pieces()
    if len(pieces) != 1 or pieces[0][1].dim(DIV):
        raise NoSliceError(found)
    return pieces[0][1]

# --- Tiles of a part ------------------------------------------------------------------------------
#
# Source   F Alg. 2: tiles of outputs, slices of operands

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TileStatement:
    """The computation of a tile by one operation: instances from zero, accesses as affine rows.

    An access has a row for each dimension of the tensor: factors of the iterators, and a constant.
    `reads` has tensor and rows by the names in `value`, which is reduced into the target by
    `operator`. Only instances in `where`, a conjunction { [l] }, run; None stands for all.
    """

    tensor: str
    size: tuple[int, ...]
    operator: str
    value: str
    target: Rows
    reads: Mapping[str, tuple[str, Rows]]
    where: isl.Set | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTile:
    """The computation of each tile of a region.

    `inputs` are the slices that it reads, by tensor, and `computed` those that it computes. A
    tensor of a volume that is needed twice, or of intermediate sums, has another name than the
    volume.
    """

    region: TileRegion
    output: Slice
    inputs: Mapping[str, Slice]
    computed: Mapping[str, Slice]
    statements: tuple[TileStatement, ...]


def tile(region: TileRegion, part: str, operations: Sequence[VolumeOperation]) -> PartTile:
    """Return the computation of each tile of a region of a part.

    Elements of a volume whose places move against each other from tile to tile, or that one
    statement reads in two ways, are computed separately. Raises NoSliceError, with the map of
    elements that are no slice of a fixed size at an affine offset.
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
    return PartTile(
        region=region, output=match_slice(region.tiles), inputs=inputs, computed=elements,
        statements=tuple(statements),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """Elements of a volume that tiles compute together, and the accesses of their readers."""

    name: str
    wanted: isl.Map
    readers: tuple[tuple[str, isl.Map], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Computed:
    """The elements of a volume that tiles compute, and their instances { [q] -> [d] }.

    The instances are those of a slice; `where` restricts them, counted from the first one of the
    slice.
    """

    name: str
    operation: VolumeOperation
    elements: Slice
    instances: isl.Map
    slice: Slice
    where: isl.Set | None


def _computed(
    operation: VolumeOperation, version: _Version, region: TileRegion, is_last: bool
) -> _Computed:
    """Return the elements and instances of an operation in tiles: a box around the wanted ones."""
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
    """Return a slice, and the instances in it, counted from its first one; None for all of it.

    Raises NoSliceError if the instances depend on the tile.
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
    """Add a read of a statement to a version that moves alike, or as a new version.

    So each access of a statement that is another one has a tensor of its own.
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
) -> TileStatement:
    """Return the statement of an operation, with indices from zero; new slices go to `inputs`.

    A slice must not have one of the names in `taken`, except the name of its volume.
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
    return TileStatement(
        tensor=computed.name, size=computed.slice.size, operator=result.operator,
        value=result.value, reads=reads, target=_rows(computed, result.writes, computed.elements),
        where=computed.where,
    )


def _input(
    elements: Slice, inputs: dict[str, Slice], others: set[str], taken: Collection[str]
) -> str:
    """Return the tensor of a slice of an input: the same for equal slices, except `others`.

    So each access of a statement that is another one has a tensor of its own.
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

    Raises NoSliceError if that depends on the tile.
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
def _find_rows(
    inside: ToldObject, access: ToldObject, offset: ToldObject, strides: tuple[int, ...]
) -> Rows:
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

# --- Tiles by name, with their slices -------------------------------------------------------------
#
# Source   F Alg. 1 and 2: ExtractSlice, InsertSlice

Described = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTile:
    """A tile: its name, its region in tiles.yaml, and its index along each dimension."""

    name: str
    region: Described
    index: tuple[int, ...]


def list_placed_tiles(regions: Mapping[str, Described]) -> Iterator[PlacedTile]:
    """Yield the tiles of every region of tiles.yaml, each after those whose results it takes.

    Raises UserError for a region or tensor whose name cannot be that of a file.
    """
    for name, region in regions.items():
        for each in (name, *region.get("inputs", ()), *region.get("takes", ())):
            if not NAME.fullmatch(str(each)):
                hint = "letters, digits and _, no digit first"
                raise UserError(f"tiles.yaml: {each} cannot be a name", hint=hint)
        for index in itertools.product(*map(range, region["counts"])):
            yield PlacedTile(name=tile_name(regions, name, index), region=region, index=index)


def tile_name(regions: Mapping[str, Described], region: str, index: Sequence[int]) -> str:
    """Return the name of a tile: the region's, or `region_t0_1` in a region of several."""
    counts = regions[region]["counts"]
    own = [str(i) for i, count in zip(index, counts, strict=True) if count > 1]
    return f"{region}_t{'_'.join(own)}" if own else region


def taken_by(regions: Mapping[str, Described], tile: PlacedTile) -> dict[str, tuple[str, str]]:
    """Return, for each input of a tile that is a result, the tile and the tensor of the result."""
    return {
        tensor: (
            tile_name(regions, each["region"], (*tile.index, *each["sums"])),
            regions[each["region"]]["tensor"],
        )
        for tensor, each in tile.region.get("takes", {}).items()
    }


def plan_pasting(
    kernel: str, regions: Mapping[str, Described]
) -> dict[str, tuple[list[str], dict[str, tuple[str, str]]]]:
    """Return, by tile, the files written for it, and the tiles whose results it takes."""
    return {
        tile.name: (
            [f"{kernel}.lair", "layer.yaml", *(f"inputs/{t}.npy" for t in tile.region["inputs"])],
            taken_by(regions, tile),
        )
        for tile in list_placed_tiles(regions) if "constant" not in tile.region
    }


def where(slice_: Described, index: Sequence[int]) -> tuple[slice, ...]:
    """Return the elements of a slice for a tile, as a subscript of NumPy."""
    point = isl.Map(slice_["offset"]).intersect_domain(isl.Set(f"{{ {list(index)} }}")).range()
    offsets = [find_least(point, k).to_python() for k in range(point.dim(isl.dim_type.set))]
    return tuple(
        slice(first, first + stride * (size - 1) + 1, stride)
        for first, stride, size in zip(offsets, slice_["stride"], slice_["size"], strict=True)
    )

# --- Terms without instances in a tile ------------------------------------------------------------
#
# Source   F Alg. 1, terms of a part; of those under a mask a tile may have none

def leave_out_absent(program: VolumeProgram, region: TileRegion, part: str) -> VolumeProgram:
    """Return a program without operations that have no instance in a region, if that is neutral.

    Their readers are folded, and left out as well if a number remains; the part itself then is a
    constant. Raises NoSliceError if an operation that is left out must still be read.
    """
    absent, known, operations = find_absent(program, region, part), dict[str, float](), []
    for each in program.operations:
        number = NEUTRAL[each.results[0].operator] if each.name in absent else None
        if number is None:
            each, number = _folded(each, known, program.types)
        if number is None:
            operations.append(each)
            continue
        known[each.name] = number
        operations.append(replace(
            each, kind="constant", constant=number, loops=None, reads={}, results=()
        ))
    return replace(program, operations=tuple(operations)) if known else program


def find_absent(program: VolumeProgram, region: TileRegion, part: str) -> set[str]:
    """Return the reductions without an instance for any element that a region needs."""
    wanted, absent = {part: region.tiles}, set[str]()
    for operation in reversed(program.operations):
        if operation.kind != "compute" or operation.name not in wanted:
            continue
        assert operation.loops is not None
        (result,) = operation.results
        by = wanted[operation.name].apply_range(result.writes.reverse())
        by = by.intersect_range(operation.loops)
        if operation.name == part and region.sums is not None:
            by = by.intersect(region.sums)
        if by.is_empty():
            absent |= {operation.name} if result.operator in SIGNS else set()
            continue
        for read in operation.reads.values():
            name, elements = read.get_tuple_name(OUT) or "", by.apply_range(read)
            wanted[name] = wanted[name].union(elements) if name in wanted else elements
    return absent


def _folded(
    operation: VolumeOperation, known: Mapping[str, float], types: Mapping[str, str]
) -> tuple[VolumeOperation, float | None]:
    """Return an operation with known operands folded, and the number of its result, or None."""
    names = {label: read.get_tuple_name(OUT) or "" for label, read in operation.reads.items()}
    numbers = {label: known[name] for label, name in names.items() if name in known}
    if not numbers:
        return operation, None
    (result,) = operation.results
    value = fold(parse_expression(result.value), numbers, find_integers([types[operation.name]]))
    if isinstance(value, NumberSyntax) and value.value == NEUTRAL.get(result.operator, value.value):
        return operation, value.value
    if isinstance(value, NumberSyntax) or not all(map(math.isfinite, list_numbers(value))):
        raise NoSliceError(operation.reads[next(iter(numbers))])
    reads = {label: read for label, read in operation.reads.items() if label not in numbers}
    text = replace(result, value=write_expression(value))
    return replace(operation, reads=reads, results=(text,)), None
