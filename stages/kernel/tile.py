"""Tile the parts of a kernel's result, and match the slices of the inputs that a tile needs.

Paper    F Alg. 2 (tiled loops), optimistic tiling
Reads    partitions.isl, partitions.yaml, kernel.yaml
Writes   tiles.isl, tiles.yaml
Assumes  parts are hyperrectangles (partition).
Ensures  all tiles of a region are the same code on slices at offsets that are affine in the indices
         of the tile.
Differs  tiles start at the corner of their part; what is left at its end are smaller ones. Tiles of
         reductions give partial results, which tiles of the result add up: from the left, in the
         order of the dimensions that are summed over, eight in a layer. Where conditions are not
         the same in all tiles of a region, each is one of its own.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.kernel_yaml import read_kernel
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.parts.tile_layer import (
    MOST_TILES,
    Entries,
    TooManyTilesError,
    find_summed_ranks,
)
from lairmake.stages.parts.tiling import NoSliceError, TileRegion, list_regions, list_single
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.text import write_objects
from lairmake.stages.volumes.operation import VolumeProgram, make_domains, read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs
    from lairmake.stages.mapping.kernel_yaml import Kernel

READS = ("partitions.isl", "partitions.yaml", "kernel.yaml: facts, tiles, machine")
WRITES = ("tiles.isl", "tiles.yaml")
HEADER = """Slices of tiles (Friebel et al., IMPACT 2023, Algorithm 2).
region_tensor: { [tile] -> volume[element] }, what the tensor of a tile of the region is."""
CODE = """The tiles of each region of a part: how many along each dimension, and their code.
An element of a slice is at `offset`, a function of the tile's indices, plus `stride` times its own.
takes: inputs that are results of other tiles, with the same indices and those of `sums` after them.
Without `output`, a tile is a partial result that another takes. constant: of all elements."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return tiles.isl and tiles.yaml. Raises UserError where tiles are no slices."""
    data = inputs.yaml("partitions.yaml")
    kernel = inputs.file_or_empty("kernel.yaml", read_kernel)
    program, names = read_program(data), data["of"]
    boxes = make_domains(inputs.objects("partitions.isl")["parts"])
    entries = Entries(program, names, _machine(kernel))
    for part in program.outputs:
        sizes, sums = _sizes(program, boxes[part], names[part], kernel)
        every = list(list_regions(boxes[part], sizes))
        for n, region in enumerate(every):
            name = f"{part}_{n}" if len(every) > 1 else part
            try:
                _add(entries, name, region, part, sums)
            except NoSliceError as error:
                raise _no_slice(part, names[part], error, kernel) from None
            except TooManyTilesError:
                raise _too_many(names[part], kernel) from None
    return {
        "tiles.isl": write_objects(HEADER, entries.slices),
        "tiles.yaml": write_document(CODE, entries.found),
    }


def _add(entries: Entries, name: str, region: TileRegion, part: str, sums: Sequence[int]) -> None:
    """Add a region; if conditions differ from tile to tile, add each tile as a region.

    Raises NoSliceError, and TooManyTilesError.
    """
    try:
        entries.add(name, region, part, sums)
    except NoSliceError:
        if math.prod(region.counts) == 1 or not entries.has_conditions():
            raise
        for n, single in enumerate(list_single(region)):
            entries.add(f"{name}_{n}", single, part, sums)


def _sizes(
    program: VolumeProgram, box: isl.Set, volume: str, kernel: Kernel
) -> tuple[list[int], list[int]]:
    """Return the sizes that kernel.yaml gives tiles of a part: of the result, and of sums."""
    rank = box.dim(isl.dim_type.set)
    for name in kernel.tiles:
        if name != volume:
            hint = did_you_mean(name, [volume], "results")
            raise UserError(f"{name} is no result", kernel.key_span("tiles", name), hint)
    whole = [*find_shape(box)]
    sizes = kernel.tiles.get(volume, whole)
    more = len(sizes) - rank
    ranks = find_summed_ranks(program)
    if more < 0 or (more and more not in ranks):
        span = kernel.span("tiles", volume)
        hint = f"one for each of its {rank} dimensions"
        hint += "".join(f", or for those and the {each} that are summed over" for each in ranks)
        raise UserError(f"{len(sizes)} sizes of tiles of {volume}", span, hint)
    return sizes[:rank], sizes[rank:]


def _machine(kernel: Kernel) -> typing.Any:
    """Return the machine for the layer.yaml of a tile: paths start from the folder of the tile."""
    given = kernel.machine
    figures = {"profile": given} if isinstance(given, str) else dict(given)
    if str(figures.get("profile", "")).endswith(".yaml"):
        figures["profile"] = f"../../../{figures['profile']}"
    return figures if len(figures) > 1 else figures.get("profile", given)


def _too_many(volume: str, kernel: Kernel) -> UserError:
    span = kernel.span("tiles", volume) if volume in kernel.tiles else kernel.asked
    hint = "each is a layer: make the tiles larger"
    return UserError(f"{volume} has more than {MOST_TILES} tiles", span, hint)


def _no_slice(part: str, volume: str, error: NoSliceError, kernel: Kernel) -> UserError:
    span = kernel.span("tiles", volume) if volume in kernel.tiles else kernel.asked
    hint = f"a slice has a fixed size, and an offset that is affine in the tile: {error.map}"
    if volume in kernel.tiles:
        hint = f"larger tiles may do; {hint}"
    return UserError(f"what a tile of {part} needs is no slice", span, hint)
