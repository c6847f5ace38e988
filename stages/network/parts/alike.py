"""Tiles of groups of operations: for groups that are alike but for names, they are found once.

Most parts of a deep network are alike. What volumes are called, and what is read, makes no
difference to a tile, but for volumes that are needed twice: these get further names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from lairmake.stages.parts.tiling import NoSliceError, Slice, Statement, Tile, list_regions, tile
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.volumes.operation import Operation

IN, OUT = isl.dim_type.in_, isl.dim_type.out
MOST_REMEMBERED = 256
FOUND: dict[tuple[str, ...], Tile | None] = {}
"""The tiles that this process found, by what isl prints of groups with names `v0`, `v1`, ...; None
for those that have other names beside, or are none."""


def tile_group(elements: isl.Set, operations: Sequence[Operation]) -> Tile:
    """Return what computes a box of the result of the last computation. Raises NoSliceError."""
    volumes = dict.fromkeys(v for each in operations for v in (*each.operands, each.name))
    names = {volume: f"v{n}" for n, volume in enumerate(volumes)}
    plain = [_unname(each, names) for each in operations]
    box = elements.set_tuple_name(plain[-1].name)
    key = str(box), *(text for each in plain for text in _tell(each))
    if key not in FOUND:
        if len(FOUND) == MOST_REMEMBERED:
            FOUND.clear()
        FOUND[key] = _tile_unnamed(box, plain)
    found = FOUND[key]
    return _tile(elements, operations) if found is None else _name(found, operations, names)


def _tile(elements: isl.Set, operations: Sequence[Operation]) -> Tile:
    sizes = [high + 1 - low for low, high in bounding_box(elements)]
    (region,) = list_regions(elements, sizes)
    return tile(region, operations[-1].name, operations)


def _tile_unnamed(elements: isl.Set, operations: Sequence[Operation]) -> Tile | None:
    """Return what computes a box. None where there is none, or volumes are needed twice."""
    try:
        found = _tile(elements, operations)
    except NoSliceError:
        return None
    volumes = {name: each.volume for name, each in {**found.inputs, **found.computed}.items()}
    return found if all(name == volume for name, volume in volumes.items()) else None


def _unname(operation: Operation, names: Mapping[str, str]) -> Operation:
    """Return a computation with other names of its volumes, and no value.

    What it reads has the names of its places.
    """
    assert operation.loops is not None
    (result,) = operation.results
    reads = enumerate(operation.reads.values())
    return replace(
        operation, name=names[operation.name], loops=operation.loops.set_tuple_name("d"),
        reads={str(n): _unname_access(each, names) for n, each in reads},
        results=(
            replace(
                result, volume=names[result.volume], value="",
                writes=_unname_access(result.writes, names),
                init=None if result.init is None else names[result.init],
            ),
        ),
    )


def _unname_access(access: isl.Map, names: Mapping[str, str]) -> isl.Map:
    return access.set_tuple_name(IN, "d").set_tuple_name(OUT, names[access.get_tuple_name(OUT)])


def _tell(operation: Operation) -> Iterator[str]:
    """Yield what tells a computation from others."""
    (result,) = operation.results
    yield from (operation.name, result.operator, str(result.init))
    yield from map(str, (operation.loops, result.writes, *operation.reads.values()))


def _name(found: Tile, operations: Sequence[Operation], names: Mapping[str, str]) -> Tile:
    """Return a tile with the names of volumes, values and what they read."""
    real = {other: name for name, other in names.items()}
    by_name = {names[each.name]: each for each in operations}
    tiles = found.region.tiles.set_tuple_name(OUT, real[found.output.volume])
    return Tile(
        region=replace(found.region, tiles=tiles),
        output=_name_slice(found.output, real),
        inputs={real[name]: _name_slice(each, real) for name, each in found.inputs.items()},
        computed={real[name]: _name_slice(each, real) for name, each in found.computed.items()},
        statements=tuple(_name_statement(s, by_name[s.tensor], real) for s in found.statements),
    )


def _name_slice(found: Slice, real: Mapping[str, str]) -> Slice:
    return replace(found, volume=real[found.volume])


def _name_statement(found: Statement, by: Operation, real: Mapping[str, str]) -> Statement:
    reads = zip(by.reads, found.reads.values(), strict=True)
    return replace(
        found, tensor=by.name, value=by.results[0].value,
        reads={label: (real[tensor], rows) for label, (tensor, rows) in reads},
    )
