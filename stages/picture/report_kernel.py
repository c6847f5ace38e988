"""Draw what a kernel is made of: its parts, and the tiles of its result.

Paper    F Alg. 1 and 2 have the parts and tiles
Reads    kernel.yaml, *.mlir, operations.yaml, volumes.isl, tiles.yaml, build/results.json,
         */build/layout.yaml, build/sweep/sweep.json
Writes   build/report.html
Assumes  tiles that kernel.yaml asks for were simulated (assemble).
Ensures  the file needs no other one, and no network; the same inputs give the same bytes.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator, Mapping, Sequence

from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.parts.tiling import PlacedTile, list_placed_tiles, taken_by, where
from lairmake.stages.picture.pages import (
    SWEEP,
    PageEdge,
    PageTile,
    WholeOnPage,
    describe_parts,
    read_sweep,
    report_whole,
)
from lairmake.stages.volumes.operation import read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs
from lairmake.stages.mapping.kernel_yaml import read_kernel

READS = (
    "kernel.yaml",
    "*.mlir",
    "operations.yaml",
    "volumes.isl",
    "tiles.yaml",
    "build/results.json",
    "*/build/layout.yaml",
    "build/sweep/sweep.json",
)
WRITES = ("build/report.html",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return build/report.html."""
    data = inputs.yaml("operations.yaml")
    program = read_program(data)
    given = inputs.names("kernel.yaml")
    texts = {name: inputs.text(name) for name in (*inputs.names("*.mlir"), *given)}
    texts["volumes.isl"] = inputs.text("volumes.isl")
    regions, results = {}, {}
    if inputs.file_or_empty("kernel.yaml", read_kernel).has_parts:
        regions = inputs.yaml("tiles.yaml")
        results = json.loads(inputs.text("build/results.json"))
    tiles = list(list_placed_tiles(regions))
    layouts = {
        name: read_layout(inputs.part(name).source("build/layout.yaml"))
        for name in results.get("parts", ())
    }
    said = f"{len(layouts)} parts" if layouts else f"{len(program.operations)} operations"
    return {"build/report.html": report_whole(WholeOnPage(
        title=str(data["kernel"]), says=f"a kernel of {said}", results=results, texts=texts,
        parts=describe_parts(layouts), edges=tuple(_edges(regions, tiles)),
        tiles=tuple(_tile(tile) for tile in tiles if "output" in tile.region),
        sweep=read_sweep(map(inputs.source, inputs.names(SWEEP))),
    ))}


def _edges(
    regions: Mapping[str, typing.Any], tiles: Sequence[PlacedTile]
) -> Iterator[PageEdge]:
    for tile in tiles:
        for tensor, (source, _) in taken_by(regions, tile).items():
            yield PageEdge(source=source, target=tile.name, tensor=tensor)


def _tile(tile: PlacedTile) -> PageTile:
    """Return where the result of a tile lies in that of the kernel."""
    slices = where(tile.region["output"], tile.index)
    return PageTile(
        name=tile.name, least=tuple(each.start for each in slices),
        steps=tuple(each.step for each in slices), sizes=tuple(tile.region["output"]["size"]),
    )
