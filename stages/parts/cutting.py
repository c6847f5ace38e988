"""Regions of a part: its tiles of one size, and those of the sums that it is made of.

Source   F Alg. 2: tiles of outputs
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.parts.boxes import find_reduced
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import depends_on, find_greatest, find_least
from lairmake.stages.volumes.operation import Operation

SET = isl.dim_type.set


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The tiles of a hyperrectangle that are all of one size, `counts` of them per dimension.

    `tiles` is { [q] -> part[e] }. Where tiles are partial results, the dimensions of sums come
    after those of elements, and `sums` is { [q] -> loops[d] }, the instances of a tile.
    """

    counts: tuple[int, ...]
    tiles: isl.Map
    sums: isl.Map | None


def list_regions(part: isl.Set, sizes: Sequence[int]) -> Iterator[Region]:
    """Yield the regions of a part: whole tiles, and along each dimension what is left at its end.

    `sizes` has those of tiles per dimension of the part.
    """
    bounds = bounding_box(part)
    pieces = [list(_pieces(*ends, size)) for ends, size in zip(bounds, sizes, strict=True)]
    for chosen in itertools.product(*pieces):
        tiles = _cut(chosen, {k: k for k in range(len(chosen))}, part)
        yield Region(counts=tuple(count for _, _, count in chosen), tiles=tiles, sums=None)


def list_single(region: Region) -> Iterator[Region]:
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
        yield Region(counts=(1,) * len(index), tiles=tiles, sums=sums)


def list_partials(
    elements: isl.Map, counts: Sequence[int], operation: Operation, sizes: Sequence[int]
) -> Iterator[Region]:
    """Yield the regions of the partial results of a sum, in the order in which these are added.

    `elements` are those that each of a region's tiles, `counts` of them, needs of the sum:
    { [q] -> v[e] }; `sizes` are those of tiles along the dimensions that are summed over. A tile of
    the partial results is [q, r].
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
        yield Region(
            counts=(*counts, *more), tiles=elements.flat_domain_product(any_element),
            sums=any_instance.flat_domain_product(cut),
        )


def bound_instances(every: isl.Map, wanted: isl.Map, operation: Operation) -> isl.Map:
    """Return of instances { [q] -> [d] } those between the bounds of what is summed over.

    Where that leaves them without bounds, as g and m of a channel 2 g + m, they get those of each
    dimension that `wanted` = { [q] -> v[e] } needs no instance beyond.
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


def bound_sums(operation: Operation) -> isl.Set:
    """Return the instances between the bounds of those that are summed over.

    Iterators that say together which element is written, as 2a + b, have the bounds of all
    instances that write one, whether a condition leaves out some of them or not; of those that
    run over them where it has no such bounds.
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
    elements = letters(box.dim(SET))
    bounds = [f"0 <= {q} < {count}" for q, (_, _, count) in zip(indices, chosen, strict=True)]
    for k, n in by.items():
        start, size, _ = chosen[n]
        moved = f"{size}*{indices[n]}"
        bounds.append(f"{start} + {moved} <= {elements[k]} < {start + size} + {moved}")
    name = box.get_tuple_name() or ""
    pair = f"[{', '.join(indices)}] -> {name}[{', '.join(elements)}]"
    return isl.Map(f"{{ {pair} : {' and '.join(bounds) or 'true'} }}").intersect_range(box)
