"""Tiles as layer folders, partial sums, and the entries of tiles.yaml."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl
import yaml

from lairmake.stages.parts.partition import SIGNS, find_reduced, spell_conditions
from lairmake.stages.parts.rewrites import in_type
from lairmake.stages.parts.tiling import (
    NoSliceError,
    PartTile,
    Rows,
    Slice,
    TileRegion,
    TileStatement,
    cover,
    leave_out_absent,
    list_partials,
    list_single,
    match_slice,
    tile,
)
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.volumes.operation import VolumeOperation, VolumeProgram

OUT = isl.dim_type.out

# --- LAIR and layer.yaml of a tile ----------------------------------------------------------------
#
# A layer.yaml keeps all tensors of a tile in memory. The elements of the tile's result lie on a
# rectangle of PEs, along its two longest dimensions; each PE computes its own. All tiles of a
# region are the same layer, on other values.

MOST_PES = 16
"""Largest number of PEs of a tile along a dimension."""

NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*\()")


Loops = Mapping[str, Mapping[int, str]]
"""Names of iterators by their places, for each tensor that a statement computes."""


def write_lair(
    tile: PartTile, kernel: str, names: Mapping[str, str], types: Mapping[str, str],
    loops: Loops | None = None,
) -> str:
    """Return the LAIR of a tile: a node for each operation, and a graph of several nodes.

    `names` has the names of computed tensors, `types` the types of all volumes, `loops` the names
    of iterators: d0, d1, ... by default.
    """
    declared = {
        name: _declared(_called(name, names), types[slice_.volume], slice_.size)
        for name, slice_ in {**tile.inputs, **tile.computed}.items()
    }
    stem = stems(tile, names)
    loops = name_loops(tile, stem) if loops is None else loops
    nodes = [
        _node(each, names, declared, stem.node, loops[each.tensor]) for each in tile.statements
    ]
    if len(nodes) > 1:
        nodes.append(_graph(tile, kernel, names, declared, stem))
    return "\n".join(nodes)


def _declared(name: str, type_: str, size: Sequence[int]) -> str:
    return f"{type_} {name}{''.join(f'[{each}]' for each in size)}"


def _called(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stems:
    """Prefixes of the names of a tile's nodes and iterators, with which no tensor collides."""

    node: str
    iterator: str


def stems(tile: PartTile, names: Mapping[str, str]) -> Stems:
    """Return the prefixes of names in the LAIR of a tile."""
    tensors = {*tile.inputs, *names.values()}
    return Stems(node=free("make_", r"\w+", tensors), iterator=free("d", r"\d+", tensors))


def free(stem: str, rest: str, tensors: Collection[str]) -> str:
    """Return a prefix such that no tensor has its name, followed by a match of `rest`."""
    while any(re.fullmatch(stem + rest, name) for name in tensors):
        stem += "_"
    return stem


def name_loops(tile: PartTile, stem: Stems) -> Loops:
    """Return names that count iterators, d0, d1, ..., including those of a single value."""
    return {
        each.tensor: {k: f"{stem.iterator}{k}" for k in iterators(each)} for each in tile.statements
    }


def iterators(statement: TileStatement) -> list[int]:
    """Return the dimensions of instances that LAIR writes: those with several values.

    A statement with a single instance is still written with one dimension.
    """
    return [k for k, size in enumerate(statement.size) if size > 1] or [0]


def _node(
    statement: TileStatement, names: Mapping[str, str], declared: Mapping[str, str], stem: str,
    called: Mapping[int, str],
) -> str:
    """Return the node of a statement; `called` has the names of its iterators by place."""
    tensors = dict.fromkeys(tensor for tensor, _ in statement.reads.values())
    head = ", ".join(declared[tensor] for tensor in tensors)
    own = names[statement.tensor]
    sizes = ", ".join(str(statement.size[k]) for k in called) if statement.size else "1"
    target = f"{own}{_indices(statement.target, called)}"
    accesses = {
        label: f"{_called(tensor, names)}{_indices(rows, called)}"
        for label, (tensor, rows) in statement.reads.items()
    }
    value = NAME.sub(lambda word: accesses.get(word[0], word[0]), statement.value)
    return (
        f"lair {stem}{own}():\n"
        f"  {head} -> {declared[statement.tensor]}\n{{\n"
        f"  all ({', '.join(called.values())}) in ({sizes}){_where(statement, called)}\n"
        f"    {target} {statement.operator} {value}\n}}\n"
    )


def _where(statement: TileStatement, called: Mapping[int, str]) -> str:
    """Return the conditions under which instances run."""
    if statement.where is None:
        return ""
    return f" where {' and '.join(spell_conditions(statement.where, called))}"


def _indices(rows: Rows, called: Mapping[int, str]) -> str:
    return "".join(f"[{_affine(row, called)}]" for row in rows)


def _affine(row: Sequence[int], called: Mapping[int, str]) -> str:
    """Return an index as text; iterators with a single value are zero."""
    terms = [
        name if row[k] == 1 else f"{row[k]}*{name}" for k, name in called.items() if row[k]
    ]
    if row[-1] or not terms:
        terms.append(str(row[-1]))
    return " + ".join(terms).replace("+ -", "- ")


def _graph(
    tile: PartTile, kernel: str, names: Mapping[str, str], declared: Mapping[str, str], stem: Stems
) -> str:
    *_, last = tile.statements
    calls = []
    for statement in tile.statements:
        own = names[statement.tensor]
        tensors = dict.fromkeys(_called(t, names) for t, _ in statement.reads.values())
        calls.append(f"  {own} = {stem.node}{own}()({', '.join(tensors)})\n")
    head = ", ".join(declared[name] for name in tile.inputs)
    top = f"  {head} -> {declared[last.tensor]}\n"
    taken = {*tile.inputs, *names.values(), *(f"{stem.node}{each}" for each in names.values())}
    while kernel in taken:
        kernel += "_"
    return f"graph {kernel}():\n{top}{{\n{''.join(calls)}}}\n"


def write_layer(tile: PartTile, names: Mapping[str, str], machine: Any) -> str:
    """Return the layer.yaml of a tile.

    The compiler places the tile where an element is computed from others of the tile at other
    places.
    """
    *_, last = tile.statements
    elements = {k for row in last.target for k, factor in enumerate(row[:-1]) if factor}
    kept = iterators(last)
    own = [k for k in kept if k in elements]
    chosen = sorted(sorted(own, key=lambda k: -last.size[k])[:2])
    blocks = {k: -(-last.size[k] // MOST_PES) for k in chosen}
    counts = [-(-last.size[k] // blocks[k]) for k in reversed(chosen)]
    stem = stems(tile, names)
    d = stem.iterator
    place = [f"{d}{k}//{blocks[k]}" if blocks[k] > 1 else f"{d}{k}" for k in reversed(chosen)]
    loops = ", ".join(f"{d}{k}" for k in kept)
    x_y = ", ".join([*place, "0", "0"][:2])
    width, height = [*counts, 1, 1][:2]
    described = {"machine": machine, "target": f"{{ PE[{width}, {height}] }}"}
    if _is_in_place(tile):
        node = f"{stem.node}{names[last.tensor]}"
        described["placement"] = f"{{ {node}[{loops}] -> PE[{x_y}] }}"
    return yaml.safe_dump(described, sort_keys=False, width=100)


def _is_in_place(tile: PartTile) -> bool:
    """Return whether all computed elements that a tile reads are at the place of the reader."""
    return all(
        rows == each.target
        for each in tile.statements
        for tensor, rows in each.reads.values()
        if tensor in tile.computed
    )

# --- Sums of partial results ----------------------------------------------------------------------
#
# Source   F Alg. 2, which leaves open what tiles of reductions need

def sum_parts(program: VolumeProgram, part: str, rank: int) -> dict[str, VolumeOperation]:
    """Return the operations that sum over `rank` dimensions and give a part, by their results.

    It is the part's own operation, or those whose results that operation reads.
    """
    found = {name: by for name, by in _sums(program, part).items() if _rank(by) == rank}
    return found if rank else {}


def find_summed_ranks(program: VolumeProgram) -> list[int]:
    """Return the numbers of dimensions that operations with partial results sum over."""
    parts = program.outputs
    return sorted({_rank(by) for part in parts for by in _sums(program, part).values()})


def _sums(program: VolumeProgram, part: str) -> dict[str, VolumeOperation]:
    writer = program.writer(part)
    if _rank(writer):
        return {part: writer}
    return {name: program.writer(name) for name in writer.operands if _rank(program.writer(name))}


def _rank(operation: VolumeOperation) -> int:
    return len(find_reduced(operation.results[0])) if operation.kind == "compute" else 0


def is_cut(operation: VolumeOperation, sizes: Sequence[int]) -> bool:
    """Return whether a sum has several partial results, with the given sizes of tiles."""
    assert operation.loops is not None
    ends = bounding_box(operation.loops)
    lengths = [ends[k][1] - ends[k][0] + 1 for k in find_reduced(operation.results[0])]
    return any(length > size for length, size in zip(lengths, sizes, strict=True))


def without(
    region: TileRegion, part: str, program: VolumeProgram, sums: Mapping[str, VolumeOperation]
) -> PartTile:
    """Return the tile of a region, with the results of `sums` as its inputs."""
    if part in sums:
        return given(region, part, match_slice(region.tiles))
    return tile(region, part, [each for each in program.operations if each.name not in sums])


def given(region: TileRegion, tensor: str, slice_: Slice) -> PartTile:
    """Return a tile whose result is an input, until `add_partials` computes it."""
    return PartTile(
        region=region, output=slice_, inputs={tensor: slice_}, computed={}, statements=()
    )


def add_partials(
    tile: PartTile, tensor: str, names: Sequence[str], stem: str, operator: str
) -> PartTile:
    """Return a tile that computes one of its inputs from partial results.

    The partial results become inputs with the names in `names`. They are added from the left, each
    sum in the type of the tensor. The names of intermediate sums begin with `stem`.
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
) -> Iterator[TileStatement]:
    rows = _same(len(size))
    before = names[0]
    if len(names) == 1:
        yield TileStatement(
            tensor=tensor, size=size, operator="=", value=before,
            reads={before: (before, rows)}, target=rows,
        )
    for n, name in enumerate(names[1:], start=1):
        own = tensor if n == len(names) - 1 else f"{stem}{n}"
        yield TileStatement(
            tensor=own, size=size, operator="=", value=SIGNS[operator].format(before, name),
            reads={before: (before, rows), name: (name, rows)}, target=rows,
        )
        before = own


def _same(rank: int) -> Rows:
    """Return the access of each instance to the element at its own place."""
    return tuple(tuple(int(k == n) for k in range(rank + 1)) for n in range(rank))

# --- Entries of tiles.yaml ------------------------------------------------------------------------

MOST_ADDED = 8
"""Largest number of partial results that a layer adds; further layers add up their sums."""
MOST_TILES = 512
"""Largest number of tiles, each of which is a layer."""
Described = dict[str, Any]


class TooManyTilesError(Exception):
    """There are more than MOST_TILES tiles."""


class Entries:
    """The entries of tiles.yaml, in the order of building, and the maps of tiles.isl.

    `of` has the volume of each part and term; `machine` is the machine in layers.
    """

    def __init__(self, program: VolumeProgram, of: Mapping[str, str], machine: Any) -> None:
        self.found: dict[str, Described] = {}
        self.slices: dict[str, isl.Map] = {}
        self._program, self._of, self._machine = program, of, machine
        self._count = 0

    def add(self, name: str, region: TileRegion, part: str, sizes: Sequence[int]) -> None:
        """Add a region of a part, after its partial results with tiles of the sizes `sizes`.

        Raises NoSliceError, without any change to the entries, and TooManyTilesError.
        """
        before = {**self.found}, {**self.slices}, self._count
        try:
            self._add(name, region, part, sizes)
        except NoSliceError:
            self.found, self.slices, self._count = before
            raise

    def _add(self, name: str, region: TileRegion, part: str, sizes: Sequence[int]) -> None:
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
        """Return whether the instances of some operation are no hyperrectangle."""
        loops = (each.loops for each in self._program.operations if each.kind == "compute")
        return not all(each is None or each.is_box() for each in loops)

    def _taken(
        self, name: str, whole: PartTile, tensor: str, by: VolumeOperation, sizes: Sequence[int]
    ) -> list[Described]:
        """Add the regions of partial results, and return the few results that a tile adds."""
        taken = list(self._partials(name, whole, tensor, by, sizes))
        while len(taken) > MOST_ADDED:
            few = [taken[k : k + MOST_ADDED] for k in range(0, len(taken), MOST_ADDED)]
            taken = [self._added(name, whole, tensor, by, each) for each in few]
        return taken

    def _partials(
        self, name: str, whole: PartTile, tensor: str, by: VolumeOperation, sizes: Sequence[int]
    ) -> Iterator[Described]:
        """Add the regions of partial results, and yield each partial result of one tile."""
        counts = whole.region.counts
        elements = cover(whole.inputs[tensor], whole.region.tiles.domain())
        for region in list_partials(elements, counts, by, sizes):
            for found in self._alike(region, by, len(counts)):
                own = self._next(f"{name}_p")
                self._layer(own, found, by.name, {}, {})
                for index in itertools.product(*map(range, found.region.counts[len(counts) :])):
                    yield {"region": own, "sums": list(index)}

    def _alike(self, region: TileRegion, by: VolumeOperation, rank: int) -> list[PartTile]:
        """Return the tiles of partial results that have instances, one for each region.

        Where conditions differ from tile to tile, each tile is a region, if the region has only one
        tile of the result, which has `rank` dimensions. Raises NoSliceError.
        """
        try:
            found = [self._partial(region, by)]
        except NoSliceError:
            if not self.has_conditions() or math.prod(region.counts[:rank]) > 1:
                raise
            found = [self._partial(each, by) for each in list_single(region)]
        return [each for each in found if each is not None]

    def _partial(self, region: TileRegion, by: VolumeOperation) -> PartTile | None:
        """Return the tiles of partial results of a region; None if none of them has an instance.

        Raises NoSliceError.
        """
        program = leave_out_absent(self._program, region, by.name)
        if program.writer(by.name).kind == "constant":
            return None
        return tile(region, by.name, program.operations)

    def _added(
        self,
        name: str,
        whole: PartTile,
        tensor: str,
        by: VolumeOperation,
        taken: Sequence[Described],
    ) -> Described:
        """Add a region that adds a few partial results, and return it as one partial result."""
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
        self, whole: PartTile, tensor: str, by: VolumeOperation, count: int
    ) -> tuple[PartTile, list[str]]:
        """Return a tile that adds up one of its inputs, and the names of the partial results."""
        known = {*self._program.types, *self._of.values(), *whole.inputs, *whole.computed}
        volume = self._of.get(tensor, tensor)
        stem, way = (free(f"{volume}_{each}", r"\d+", known) for each in ("partial", "sum"))
        names = [f"{stem}{n}" for n in range(count)]
        return add_partials(whole, tensor, names, way, by.results[0].operator), names

    def _layer(
        self,
        name: str,
        found: PartTile,
        part: str,
        output: Described,
        takes: Mapping[str, Described],
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

    def _put(self, name: str, region: TileRegion, part: str, more: Described) -> None:
        volume = self._of[part]
        self.found[name] = {"part": part, "counts": list(region.counts), **more}
        self._count += math.prod(region.counts)
        if self._count > MOST_TILES:
            raise TooManyTilesError
        self.slices[f"{name}_{volume}"] = region.tiles.set_tuple_name(OUT, volume)


def _names(found: PartTile, of: Mapping[str, str]) -> dict[str, str]:
    """Return the names of computed tensors in a tile: the volume, or the part of several."""
    volumes = {name: of.get(name, name) for name in found.computed}
    several = {v for v, count in Counter(volumes.values()).items() if count > 1}
    taken = {*found.inputs, *several}
    return {name: name if volume in taken else volume for name, volume in volumes.items()}


def _slice(found: Slice) -> Described:
    return {
        "volume": found.volume, "offset": str(found.offset),
        "stride": list(found.stride), "size": list(found.size),
    }
