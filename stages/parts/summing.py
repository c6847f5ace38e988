"""Sums of partial results as code of tiles.

Source   F Alg. 2, which leaves open what tiles of reductions need
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lairmake.stages.parts.boxes import SIGNS, find_reduced
from lairmake.stages.parts.cutting import Region
from lairmake.stages.parts.matching import Slice, match_slice
from lairmake.stages.parts.tiling import Rows, Statement, Tile, tile
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.volumes.operation import Operation, Program


def sum_parts(program: Program, part: str, rank: int) -> dict[str, Operation]:
    """Return the operations that sum over `rank` dimensions and give a part, by their results.

    That is the part's own operation, or those whose results that one reads.
    """
    found = {name: by for name, by in _sums(program, part).items() if _rank(by) == rank}
    return found if rank else {}


def find_summed_ranks(program: Program) -> list[int]:
    """Return over how many dimensions operations sum of which partial results can be."""
    parts = program.outputs
    return sorted({_rank(by) for part in parts for by in _sums(program, part).values()})


def _sums(program: Program, part: str) -> dict[str, Operation]:
    writer = program.writer(part)
    if _rank(writer):
        return {part: writer}
    return {name: program.writer(name) for name in writer.operands if _rank(program.writer(name))}


def _rank(operation: Operation) -> int:
    return len(find_reduced(operation.results[0])) if operation.kind == "compute" else 0


def is_cut(operation: Operation, sizes: Sequence[int]) -> bool:
    """Return whether a sum has several partial results, by the sizes of tiles that are given."""
    assert operation.loops is not None
    ends = bounding_box(operation.loops)
    lengths = [ends[k][1] - ends[k][0] + 1 for k in find_reduced(operation.results[0])]
    return any(length > size for length, size in zip(lengths, sizes, strict=True))


def without(region: Region, part: str, program: Program, sums: Mapping[str, Operation]) -> Tile:
    """Return what a tile computes where the results of `sums` are given: slices as its inputs."""
    if part in sums:
        return given(region, part, match_slice(region.tiles))
    return tile(region, part, [each for each in program.operations if each.name not in sums])


def given(region: Region, tensor: str, slice_: Slice) -> Tile:
    """Return a tile of which the result is an input, until `added` says how it is computed."""
    return Tile(region=region, output=slice_, inputs={tensor: slice_}, computed={}, statements=())


def add_partials(
    tile: Tile, tensor: str, names: Sequence[str], stem: str, operator: str
) -> Tile:
    """Return a tile that computes one of its inputs from partial results.

    These are inputs instead, called `names`: they are added from the left, each sum in the type of
    the tensor. Sums on the way are called by `stem`.
    """
    whole = tile.inputs[tensor]
    inputs = {name: each for name, each in tile.inputs.items() if name != tensor}
    statements = list(_chain(tensor, names, stem, operator, whole.size))
    return replace(
        tile, inputs={**inputs, **dict.fromkeys(names, whole)},
        computed={**{each.tensor: whole for each in statements}, **tile.computed},
        statements=(*statements, *tile.statements),
    )


def _chain(
    tensor: str, names: Sequence[str], stem: str, operator: str, size: tuple[int, ...]
) -> Iterator[Statement]:
    rows = _same(len(size))
    before = names[0]
    if len(names) == 1:
        yield Statement(
            tensor=tensor, size=size, operator="=", value=before,
            reads={before: (before, rows)}, target=rows,
        )
    for n, name in enumerate(names[1:], start=1):
        own = tensor if n == len(names) - 1 else f"{stem}{n}"
        yield Statement(
            tensor=own, size=size, operator="=", value=SIGNS[operator].format(before, name),
            reads={before: (before, rows), name: (name, rows)}, target=rows,
        )
        before = own


def _same(rank: int) -> Rows:
    """Return the access of each instance to the element at its own place."""
    return tuple(tuple(int(k == n) for k in range(rank + 1)) for n in range(rank))
