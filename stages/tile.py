"""Tile the parts of a kernel's result, and match the slices of the inputs that a tile needs.

Paper    Friebel et al., IMPACT 2023, Algorithm 2 (tiled loops), optimistic tiling
Reads    partitions.isl, partitions.yaml, kernel.yaml
Writes   tiles.isl, tiles.yaml
Assumes  parts are hyperrectangles (partition).
Ensures  all tiles of a region are the same code on slices at offsets that are affine in the indices
         of the tile.
Differs  tiles start at the corner of their part; what is left at its end are smaller ones. Tiles of
         reductions give partial results, which are put together at the end.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Iterator, Mapping

import islpy as isl

from stages.diagnose import UserError
from stages.lair.names import did_you_mean
from stages.mapping.yaml_text import write_document
from stages.poly.text import write_objects
from stages.volumes.domains import domains_by_name
from stages.volumes.layers import lair_text, layer_text
from stages.volumes.matching import NoSliceError, Slice, covered, match_slice
from stages.volumes.operation import Operation, Program, read_program
from stages.volumes.partitioning import reduced
from stages.volumes.tiling import Region, Tile, regions, tile

if typing.TYPE_CHECKING:
    from stages.make.inputs import Inputs
    from stages.volumes.kernel import Kernel

READS = ("partitions.isl", "partitions.yaml", "kernel.yaml")
WRITES = ("tiles.isl", "tiles.yaml")
MOST_TILES = 512
HEADER = """Slices of tiles (Friebel et al., IMPACT 2023, Algorithm 2).
region_tensor: { [tile] -> volume[element] }, what the tensor of a tile of the region is."""
CODE = """The tiles of each region of a part: how many along each dimension, and their code.
An element of a slice is at `offset`, a function of the tile's indices, plus `stride` times its own.
operator: how tiles are put into the result. constant: all elements have this value."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return tiles.isl and tiles.yaml. Raises UserError where tiles are no slices."""
    data, kernel = inputs.yaml("partitions.yaml"), inputs.kernel()
    program, names = read_program(data), data["of"]
    boxes = domains_by_name(inputs.objects("partitions.isl")["parts"])
    found: dict[str, typing.Any] = {}
    slices: dict[str, isl.Map] = {}
    count = 0
    for part in program.outputs:
        every = list(_regions(program.writer(part), boxes[part], names[part], kernel))
        count += sum(math.prod(region.counts) for region in every)
        _check_count(count, names[part], kernel)
        for n, region in enumerate(every):
            name = f"{part}_{n}" if len(every) > 1 else part
            found[name] = _described(program, part, region, names, kernel, name, slices)
    return {"tiles.isl": write_objects(HEADER, slices), "tiles.yaml": write_document(CODE, found)}


def _check_count(count: int, volume: str, kernel: Kernel) -> None:
    """Raise UserError where tiles are too many to be layers."""
    if count > MOST_TILES:
        span = kernel.span("tiles", volume) if volume in kernel.tiles else None
        hint = "each is a layer: make the tiles larger"
        raise UserError(f"{volume} has more than {MOST_TILES} tiles", span, hint)


def _regions(
    writer: Operation, box: isl.Set, volume: str, kernel: Kernel
) -> Iterator[Region]:
    """Yield the regions of a part, by the sizes that kernel.yaml gives tiles of the result."""
    rank = box.dim(isl.dim_type.set)
    for name in kernel.tiles:
        if name != volume:
            hint = did_you_mean(name, [volume], "results")
            raise UserError(f"{name} is no result", kernel.key_span("tiles", name), hint)
    whole = [box.dim_max_val(k).to_python() + 1 for k in range(rank)]
    sizes = kernel.tiles.get(volume, whole)
    if len(sizes) == rank:
        yield from regions(box, sizes)
        return
    sums = reduced(writer.results[0]) if writer.kind == "compute" else []
    if len(sizes) != rank + len(sums):
        span = kernel.span("tiles", volume)
        hint = f"one for each of its {rank} dimensions"
        hint += f", or for those and the {len(sums)} that are summed over" if sums else ""
        raise UserError(f"{len(sizes)} sizes of tiles of {volume}", span, hint)
    yield from regions(box, sizes, writer.loops, sums)


def _described(
    program: Program, part: str, region: Region, of: Mapping[str, str], kernel: Kernel, name: str,
    slices: dict[str, isl.Map],
) -> dict[str, typing.Any]:
    """Return what tiles.yaml says of a region; what its slices are goes to `slices`."""
    writer = program.writer(part)
    described: dict[str, typing.Any] = {"part": part, "counts": list(region.counts)}
    slices[f"{name}_{of[part]}"] = region.tiles.set_tuple_name(isl.dim_type.out, of[part])
    if writer.kind == "constant":
        output = _slice(match_slice(region.tiles))
        return {**described, "constant": writer.constant, "output": output}
    try:
        found = tile(region, part, program.operations)
    except NoSliceError as error:
        raise _no_slice(part, of[part], error, kernel) from None
    domain = region.tiles.domain()
    for tensor, each in found.inputs.items():
        slices[f"{name}_{tensor}"] = covered(each, domain)
    names = _names(found, of)
    return {
        **described, "operator": writer.results[0].operator if region.sums is not None else "=",
        "tensor": names[part], "output": _slice(found.output),
        "inputs": {tensor: _slice(each) for tensor, each in found.inputs.items()},
        "lair": lair_text(found, program.name, names, program.types),
        "layer": layer_text(found, names, _machine(kernel)),
    }


def _machine(kernel: Kernel) -> typing.Any:
    """Return the machine as a part names it: a path starts from the folder of the part."""
    given = kernel.machine
    figures = {"profile": given} if isinstance(given, str) else dict(given)
    if str(figures.get("profile", "")).endswith(".yaml"):
        figures["profile"] = f"../../../{figures['profile']}"
    return figures if len(figures) > 1 else figures.get("profile", given)


def _no_slice(part: str, volume: str, error: NoSliceError, kernel: Kernel) -> UserError:
    span = kernel.span("tiles", volume) if volume in kernel.tiles else None
    hint = f"a slice has a fixed size, an affine offset, and one access in a statement: {error.map}"
    return UserError(f"what a tile of {part} needs is no slice", span, hint)


def _names(found: Tile, of: Mapping[str, str]) -> dict[str, str]:
    """Return what a tile calls what it computes: the volume, or the part where it has several."""
    volumes = [of.get(name, name) for name in found.sizes]
    taken = {*found.inputs, *(v for v in volumes if volumes.count(v) > 1)}
    return {
        name: name if volume in taken else volume
        for name, volume in zip(found.sizes, volumes, strict=True)
    }


def _slice(found: Slice) -> dict[str, typing.Any]:
    return {
        "volume": found.volume, "offset": str(found.offset),
        "stride": list(found.stride), "size": list(found.size),
    }
