"""What tiles.yaml says of the regions of a part, and of the partial results that these take."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import islpy as isl

from lairmake.stages.parts.absent import leave_out_absent
from lairmake.stages.parts.cutting import Region, list_partials, list_single
from lairmake.stages.parts.folding import in_type
from lairmake.stages.parts.matching import NoSliceError, Slice, cover, match_slice
from lairmake.stages.parts.summing import add_partials, given, is_cut, sum_parts, without
from lairmake.stages.parts.tile_layers import free, write_lair, write_layer
from lairmake.stages.parts.tiling import Tile, tile
from lairmake.stages.volumes.operation import Operation, Program

OUT = isl.dim_type.out
MOST_ADDED = 8
"""How many partial results a layer adds; those of more layers are added by others."""
MOST_TILES = 512
"""How many tiles there are at most: each is a layer."""
Described = dict[str, Any]


class TooManyTilesError(Exception):
    """There are more than MOST_TILES tiles."""


class Entries:
    """The entries of tiles.yaml, in the order of building, and the maps of tiles.isl.

    `of` says which volume a part or a term is of; `machine` is what layers name.
    """

    def __init__(self, program: Program, of: Mapping[str, str], machine: Any) -> None:
        self.found: dict[str, Described] = {}
        self.slices: dict[str, isl.Map] = {}
        self._program, self._of, self._machine = program, of, machine
        self._count = 0

    def add(self, name: str, region: Region, part: str, sizes: Sequence[int]) -> None:
        """Add a region of a part; before it come partial results, by the sizes of their tiles.

        Raises NoSliceError, and leaves all as it was; TooManyTilesError.
        """
        before = {**self.found}, {**self.slices}, self._count
        try:
            self._add(name, region, part, sizes)
        except NoSliceError:
            self.found, self.slices, self._count = before
            raise

    def _add(self, name: str, region: Region, part: str, sizes: Sequence[int]) -> None:
        program = leave_out_absent(self._program, region, part)
        output, constant = _slice(match_slice(region.tiles)), program.writer(part).constant
        if constant is not None:
            value = in_type(constant, self._program.types[part])
            self._put(name, region, part, {"constant": value, "output": output})
            return
        sums = {
            each: by for each, by in sum_parts(program, part, len(sizes)).items()
            if is_cut(by, sizes)
        }
        whole = without(region, part, program, sums)
        takes: dict[str, Described] = {}
        for tensor, slice_ in whole.inputs.items():
            if slice_.volume in sums:
                taken = self._taken(name, whole, tensor, sums[slice_.volume], sizes)
                whole, names = self._sum(whole, tensor, sums[slice_.volume], len(taken))
                takes |= dict(zip(names, taken, strict=True))
        self._layer(name, whole, part, {"output": output}, takes)

    def has_conditions(self) -> bool:
        """Return whether instances of some operation are no hyperrectangle."""
        loops = (each.loops for each in self._program.operations if each.kind == "compute")
        return not all(each is None or each.is_box() for each in loops)

    def _taken(
        self, name: str, whole: Tile, tensor: str, by: Operation, sizes: Sequence[int]
    ) -> list[Described]:
        """Add the regions of partial results, and return those that a tile adds, at most a few."""
        taken = list(self._partials(name, whole, tensor, by, sizes))
        while len(taken) > MOST_ADDED:
            few = [taken[k : k + MOST_ADDED] for k in range(0, len(taken), MOST_ADDED)]
            taken = [self._added(name, whole, tensor, by, each) for each in few]
        return taken

    def _partials(
        self, name: str, whole: Tile, tensor: str, by: Operation, sizes: Sequence[int]
    ) -> Iterator[Described]:
        """Add the regions of partial results, and yield each of those that make up one tile."""
        counts = whole.region.counts
        elements = cover(whole.inputs[tensor], whole.region.tiles.domain())
        for region in list_partials(elements, counts, by, sizes):
            for found in self._alike(region, by, len(counts)):
                own = self._next(f"{name}_p")
                self._layer(own, found, by.name, {}, {})
                for index in itertools.product(*map(range, found.region.counts[len(counts) :])):
                    yield {"region": own, "sums": list(index)}

    def _alike(self, region: Region, by: Operation, rank: int) -> list[Tile]:
        """Return the tiles of partial results that have instances, in regions that are alike.

        Where conditions differ from one to the next, each is a region of its own, if that is of one
        tile of the result, which has `rank` dimensions. Raises NoSliceError.
        """
        try:
            found = [self._partial(region, by)]
        except NoSliceError:
            if not self.has_conditions() or math.prod(region.counts[:rank]) > 1:
                raise
            found = [self._partial(each, by) for each in list_single(region)]
        return [each for each in found if each is not None]

    def _partial(self, region: Region, by: Operation) -> Tile | None:
        """Return what tiles of partial results compute; None where nothing counts in any of them.

        Raises NoSliceError.
        """
        program = leave_out_absent(self._program, region, by.name)
        if program.writer(by.name).kind == "constant":
            return None
        return tile(region, by.name, program.operations)

    def _added(
        self, name: str, whole: Tile, tensor: str, by: Operation, taken: Sequence[Described]
    ) -> Described:
        """Add a region that adds a few partial results, and return it as one."""
        if len(taken) == 1:
            return taken[0]
        own = self._next(f"{name}_s")
        start = given(whole.region, by.name, whole.inputs[tensor])
        found, names = self._sum(start, by.name, by, len(taken))
        self._layer(own, found, by.name, {}, dict(zip(names, taken, strict=True)))
        return {"region": own, "sums": []}

    def _next(self, stem: str) -> str:
        return f"{stem}{sum(each.startswith(stem) for each in self.found)}"

    def _sum(
        self, whole: Tile, tensor: str, by: Operation, count: int
    ) -> tuple[Tile, list[str]]:
        """Return a tile that adds up one of its inputs, and what it calls the partial results."""
        known = {*self._program.types, *self._of.values(), *whole.inputs, *whole.computed}
        volume = self._of.get(tensor, tensor)
        stem, way = (free(f"{volume}_{each}", r"\d+", known) for each in ("partial", "sum"))
        names = [f"{stem}{n}" for n in range(count)]
        return add_partials(whole, tensor, names, way, by.results[0].operator), names

    def _layer(
        self, name: str, found: Tile, part: str, output: Described, takes: Mapping[str, Described]
    ) -> None:
        """Add a region of tiles that are layers."""
        names = _names(found, self._of)
        inputs = {tensor: each for tensor, each in found.inputs.items() if tensor not in takes}
        domain = found.region.tiles.domain()
        self.slices |= {f"{name}_{t}": cover(each, domain) for t, each in inputs.items()}
        self._put(name, found.region, part, {
            "tensor": names[part], **output,
            "inputs": {tensor: _slice(each) for tensor, each in inputs.items()},
            **({"takes": dict(takes)} if takes else {}),
            "lair": write_lair(found, self._program.name, names, self._program.types),
            "layer": write_layer(found, names, self._machine),
        })

    def _put(self, name: str, region: Region, part: str, more: Described) -> None:
        volume = self._of[part]
        self.found[name] = {"part": part, "counts": list(region.counts), **more}
        self._count += math.prod(region.counts)
        if self._count > MOST_TILES:
            raise TooManyTilesError
        self.slices[f"{name}_{volume}"] = region.tiles.set_tuple_name(OUT, volume)


def _names(found: Tile, of: Mapping[str, str]) -> dict[str, str]:
    """Return what a tile calls what it computes: the volume, or the part where it has several."""
    volumes = {name: of.get(name, name) for name in found.computed}
    several = {v for v, count in Counter(volumes.values()).items() if count > 1}
    taken = {*found.inputs, *several}
    return {name: name if volume in taken else volume for name, volume in volumes.items()}


def _slice(found: Slice) -> Described:
    return {
        "volume": found.volume, "offset": str(found.offset),
        "stride": list(found.stride), "size": list(found.size),
    }
