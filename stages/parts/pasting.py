"""Which tiles there are, which take the results of others, and where their slices are.

Source   F Alg. 1 and 2: ExtractSlice, InsertSlice
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.poly.functions import find_least
from lairmake.stages.volumes.operation import NAME

Described = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A tile: its name, its region in tiles.yaml, and its index along each dimension."""

    name: str
    region: Described
    index: tuple[int, ...]


def list_placed_tiles(regions: Mapping[str, Described]) -> Iterator[Placed]:
    """Yield the tiles of every region of tiles.yaml, those that others take before them.

    Raises UserError for a name that no region or tensor may have: these become files.
    """
    for name, region in regions.items():
        for each in (name, *region.get("inputs", ()), *region.get("takes", ())):
            if not NAME.fullmatch(str(each)):
                hint = "letters, digits and _, no digit first"
                raise UserError(f"tiles.yaml: {each} cannot be a name", hint=hint)
        for index in itertools.product(*map(range, region["counts"])):
            yield Placed(name=tile_name(regions, name, index), region=region, index=index)


def tile_name(regions: Mapping[str, Described], region: str, index: Sequence[int]) -> str:
    """Return the name of a tile: its region's, or `region_t0_1` where that has several."""
    counts = regions[region]["counts"]
    own = [str(i) for i, count in zip(index, counts, strict=True) if count > 1]
    return f"{region}_t{'_'.join(own)}" if own else region


def taken_by(regions: Mapping[str, Described], tile: Placed) -> dict[str, tuple[str, str]]:
    """Return the tile, and the tensor of it, that each input of a tile is the result of."""
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
    """Return, by tile, the files that are written for it, and the tiles whose results it takes."""
    return {
        tile.name: (
            [f"{kernel}.lair", "layer.yaml", *(f"inputs/{t}.npy" for t in tile.region["inputs"])],
            taken_by(regions, tile),
        )
        for tile in list_placed_tiles(regions) if "constant" not in tile.region
    }


def where(slice_: Described, index: Sequence[int]) -> tuple[slice, ...]:
    """Return the elements of a slice for a tile, as NumPy counts them."""
    point = isl.Map(slice_["offset"]).intersect_domain(isl.Set(f"{{ {list(index)} }}")).range()
    offsets = [find_least(point, k).to_python() for k in range(point.dim(isl.dim_type.set))]
    return tuple(
        slice(first, first + stride * (size - 1) + 1, stride)
        for first, stride, size in zip(offsets, slice_["stride"], slice_["size"], strict=True)
    )
