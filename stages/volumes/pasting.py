"""Take the slices of tiles out of volumes, and put results of tiles into one.

Source   Friebel et al., IMPACT 2023, Algorithms 1 and 2: ExtractSlice, InsertSlice
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from stages.lair.strided import Array
from stages.volumes.evaluate import UFUNCS

Described = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A tile: its name, its region in tiles.yaml, and its index along each dimension."""

    name: str
    region: Described
    index: tuple[int, ...]


def placed_tiles(regions: Mapping[str, Described]) -> Iterator[Placed]:
    """Yield the tiles of every region of tiles.yaml: `region`, or `region_t0_1` for several."""
    for name, region in regions.items():
        counts = region["counts"]
        for index in itertools.product(*map(range, counts)):
            own = [str(i) for i, count in zip(index, counts, strict=True) if count > 1]
            suffix = f"_t{'_'.join(own)}" if own else ""
            yield Placed(name=f"{name}{suffix}", region=region, index=index)


def part_names(regions: Mapping[str, Described]) -> list[str]:
    """Return the names of the tiles that are layers: all but constants."""
    return [each.name for each in placed_tiles(regions) if "constant" not in each.region]


def where(slice_: Described, index: Sequence[int]) -> tuple[slice, ...]:
    """Return the elements of a slice for a tile, as NumPy counts them."""
    point = isl.Map(slice_["offset"]).intersect_domain(isl.Set(f"{{ {list(index)} }}")).range()
    offsets = [point.dim_min_val(k).to_python() for k in range(point.dim(isl.dim_type.set))]
    return tuple(
        slice(first, first + stride * (size - 1) + 1, stride)
        for first, stride, size in zip(offsets, slice_["stride"], slice_["size"], strict=True)
    )


def paste(result: Array, tile: Placed, values: Array) -> None:
    """Put what a tile gave into a result, by the operator of its region."""
    place = where(tile.region["output"], tile.index)
    ufunc = UFUNCS.get(tile.region.get("operator", "="))
    with np.errstate(all="ignore"):
        result[place] = values if ufunc is None else ufunc(result[place], values)


def start_of(regions: Mapping[str, Described], result: Array) -> None:
    """Put what nothing was added to yet where tiles are partial results."""
    for tile in placed_tiles(regions):
        operator = tile.region.get("operator", "=")
        if operator in UFUNCS:
            result[where(tile.region["output"], tile.index)] = neutral(operator, result.dtype)


def neutral(operator: str, type_: np.dtype[Any]) -> Any:
    """Return what an operator of reductions leaves as it is, in a type."""
    if operator in ("+=", "*="):
        return 0 if operator == "+=" else 1
    limits: Any = np.finfo(type_) if type_.kind == "f" else np.iinfo(type_)
    return limits.min if operator == "max=" else limits.max
