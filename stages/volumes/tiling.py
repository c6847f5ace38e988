"""Tiles of a part of a result: what each of them computes, and of which slices of the inputs.

Source   Friebel et al., IMPACT 2023, Algorithm 2: tiles of outputs, slices of operands
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from stages.volumes.matching import NoSliceError, Slice, affine, covered, match_slice
from stages.volumes.operation import Operation
from stages.volumes.partitioning import reduced

IN, OUT, SET, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The tiles of a hyperrectangle that are all of one size, `counts` of them per dimension.

    `tiles` is { [q] -> part[e] }. Where tiles are partial results, the dimensions of sums come
    after those of elements, and `sums` is { [q] -> loops[d] }, the instances of a tile.
    """

    counts: tuple[int, ...]
    tiles: isl.Map
    sums: isl.Map | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a tile computes by one operation: instances from zero, accesses as affine rows.

    An access has a row per dimension of the tensor: factors of the iterators, and a constant.
    `reads` has tensor and rows by the names in `value`, which goes to the target by `operator`.
    """

    tensor: str
    size: tuple[int, ...]
    operator: str
    value: str
    target: Rows
    reads: Mapping[str, tuple[str, Rows]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """What each tile of a region computes.

    `inputs` are the slices that it reads by the names of its tensors, `sizes` those of what it
    computes.
    """

    region: Region
    output: Slice
    inputs: Mapping[str, Slice]
    sizes: Mapping[str, tuple[int, ...]]
    statements: tuple[Statement, ...]


def regions(part: isl.Set, sizes: Sequence[int]) -> Iterator[Region]:
    """Yield the regions of a part: whole tiles, and along each dimension what is left at its end.

    `sizes` has those of tiles per dimension of the part.
    """
    bounds = [_bounds(part, k) for k in range(part.dim(SET))]
    pieces = [list(_pieces(*ends, size)) for ends, size in zip(bounds, sizes, strict=True)]
    for chosen in itertools.product(*pieces):
        tiles = _cut(chosen, {k: k for k in range(len(chosen))}, part)
        yield Region(counts=tuple(count for _, _, count in chosen), tiles=tiles, sums=None)


def partials(
    elements: isl.Map, counts: Sequence[int], operation: Operation, sizes: Sequence[int]
) -> Iterator[Region]:
    """Yield the regions of the partial results of a sum, in the order in which these are added.

    `elements` are those that each of a region's tiles, `counts` of them, needs of the sum:
    { [q] -> v[e] }; `sizes` are those of tiles along the dimensions that are summed over. A tile of
    the partial results is [q, r].
    """
    assert operation.loops is not None
    sums = reduced(operation.results[0])
    bounds = [_bounds(operation.loops, k) for k in sums]
    pieces = [list(_pieces(*ends, size)) for ends, size in zip(bounds, sizes, strict=True)]
    for chosen in itertools.product(*pieces):
        more = tuple(count for _, _, count in chosen)
        cut = _cut(chosen, {k: n for n, k in enumerate(sums)}, operation.loops, len(counts))
        any_instance = isl.Map.from_domain_and_range(elements.domain(), cut.range())
        any_element = isl.Map.from_domain_and_range(cut.domain(), elements.range())
        yield Region(
            counts=(*counts, *more), tiles=elements.flat_domain_product(any_element),
            sums=any_instance.flat_domain_product(cut),
        )


def _bounds(box: isl.Set, dim: int) -> tuple[int, int]:
    return box.dim_min_val(dim).to_python(), box.dim_max_val(dim).to_python()


def _pieces(first: int, last: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, tile size and number of tiles: whole ones, then the rest."""
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
    elements = ", ".join(f"e{k}" for k in range(box.dim(SET)))
    bounds = [f"0 <= {q} < {count}" for q, (_, _, count) in zip(indices, chosen, strict=True)]
    for k, n in by.items():
        start, size, _ = chosen[n]
        moved = f"{size}*{indices[n]}"
        bounds.append(f"{start} + {moved} <= e{k} < {start + size} + {moved}")
    name = box.get_tuple_name() or ""
    text = f"{{ [{', '.join(indices)}] -> {name}[{elements}] : {' and '.join(bounds) or 'true'} }}"
    return isl.Map(text).intersect_range(box)


def tile(region: Region, part: str, operations: Sequence[Operation]) -> Tile:
    """Return what each tile of a region of a part computes.

    Raises NoSliceError with the map of what is no slice of a fixed size at an affine offset, or of
    a second access of one statement to what a tile computes, which LAIR has not.
    """
    known = {each.name: each for each in operations if each.kind == "compute"}
    wanted, made = {part: region.tiles}, {}
    for operation in reversed(known.values()):
        if operation.name not in wanted:
            continue
        made[operation.name] = _computed(operation, wanted, region, operation.name == part)
        for read in operation.reads.values():
            _add(wanted, made[operation.name].instances.apply_range(read))
    inputs: dict[str, Slice] = {}
    taken = {each.name for each in operations}
    statements = [
        _statement(known[name], each, made, inputs, taken) for name, each in reversed(made.items())
    ]
    return Tile(
        region=region, output=match_slice(region.tiles), inputs=inputs,
        sizes={name: each.elements.size for name, each in reversed(made.items())},
        statements=tuple(statements),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Computed:
    """What tiles need of a volume that they compute, and by which instances { [q] -> [d] }."""

    elements: Slice
    instances: isl.Map
    slice: Slice


def _computed(
    operation: Operation, wanted: Mapping[str, isl.Map], region: Region, is_last: bool
) -> _Computed:
    """Return what tiles compute by an operation: a box that holds what is wanted of its result."""
    (result,) = operation.results
    elements = match_slice(wanted[operation.name], is_hull=True)
    instances = covered(elements, region.tiles.domain()).apply_range(result.writes.reverse())
    instances = instances.intersect_range(operation.loops)
    if is_last and region.sums is not None:
        instances = instances.intersect(region.sums)
    return _Computed(elements=elements, instances=instances, slice=match_slice(instances))


def _add(wanted: dict[str, isl.Map], elements: isl.Map) -> None:
    name = elements.get_tuple_name(OUT) or ""
    wanted[name] = wanted[name].union(elements) if name in wanted else elements


def _statement(
    operation: Operation, computed: _Computed, made: Mapping[str, _Computed],
    inputs: dict[str, Slice], taken: Collection[str],
) -> Statement:
    """Return the statement of an operation, with indices from zero; new slices go to `inputs`.

    Of the names that are `taken`, only that of its volume is one for a slice.
    """
    (result,) = operation.results
    reads: dict[str, tuple[str, Rows]] = {}
    for label, read in operation.reads.items():
        name = read.get_tuple_name(OUT) or ""
        if name in made:
            reads[label] = (name, _rows(computed, read, made[name].elements))
            if any(each == name and rows != reads[label][1] for each, rows in reads.values()):
                raise NoSliceError(read)
        else:
            elements = match_slice(computed.instances.apply_range(read), is_hull=True)
            rows = _rows(computed, read, elements)
            others = {tensor for tensor, other in reads.values() if other != rows}
            reads[label] = (_input(elements, inputs, others, taken), rows)
    return Statement(
        tensor=operation.name, size=computed.slice.size, operator=result.operator,
        value=result.value, reads=reads, target=_rows(computed, result.writes, computed.elements),
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
    names = (f"{elements.volume}_{n}" for n in itertools.count(1))
    name = elements.volume
    while name in inputs or (name in taken and name != elements.volume):
        name = next(names)
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
    found = inside.apply_range(access)
    by = found.flatten_domain().as_pw_multi_aff()
    return tuple(
        _row(by.get_at(k), elements.offset.get_at(k), stride, found)
        for k, stride in enumerate(elements.stride)
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
