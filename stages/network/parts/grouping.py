"""Groups of operations that become parts of a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Source, Span
from lairmake.stages.lair.layer import Layer, Tensor
from lairmake.stages.lair.tree import make_plain_name
from lairmake.stages.mapping.layer_yaml import Data
from lairmake.stages.parts.evaluation import evaluate, extents
from lairmake.stages.parts.partition import affine_pieces, find_constants, find_ends, find_needed
from lairmake.stages.parts.rewrites import split_loops
from lairmake.stages.parts.tiling import (
    NoSliceError,
    PartTile,
    Slice,
    TileStatement,
    list_regions,
    tile,
    where,
)
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import find_function_in
from lairmake.stages.reference.data import generate, read_inputs
from lairmake.stages.reference.strided import Array
from lairmake.stages.volumes.operation import VolumeOperation, VolumeProgram, make_domains

IN, OUT, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.div

# --- Groups of operations -------------------------------------------------------------------------
#
# Source   V Sec. 1: a network is broken up into parts, each compiled for PEs of its own
#
# All operations of a node of the graph are in one part, as those of a softmax. A node that follows
# a part joins it if it needs no element of another PE: a function of each element, or a pooling of
# which no two windows share an element.

POOLED = ("+=", "max=", "min=")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationGroup:
    """The operations of a part, in order; the last one gives its result.

    `why` is the reason for the group. `name` is the operator of its first contraction, else of its
    first node, with a number.
    """

    name: str
    operations: tuple[VolumeOperation, ...]
    why: str

    @property
    def result(self) -> str:
        """Return the volume of the result."""
        return self.operations[-1].name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uses:
    """Uses of volumes: `readers` has the operations that read each volume, by name.

    `outputs` are the volumes that the network gives, `weights` those that are known.
    """

    readers: Mapping[str, Sequence[str]]
    outputs: Set[str]
    weights: Set[str]


def group(program: VolumeProgram, weights: Collection[str]) -> list[OperationGroup]:
    """Return the parts of a program, each after those whose results it needs.

    The program has only operations that outputs need, with reads through plain copies (`resolve`).
    `weights` are the inputs that are known.
    """
    uses = _find_uses(program, weights)
    found: list[list[list[VolumeOperation]]] = []
    homes: dict[str, int] = {}
    for node in _nodes(program, uses):
        given = (each for each in node[0].operands if each in homes)
        before = next((each for each in given if _stays(node, found[homes[each]], uses)), None)
        if before is None:
            homes[node[-1].name] = len(found)
            found.append([node])
        else:
            homes[node[-1].name] = homes.pop(before)
            found[homes[node[-1].name]].append(node)
    return list(_named(found))


def _find_uses(program: VolumeProgram, weights: Collection[str]) -> _Uses:
    readers: dict[str, list[str]] = {}
    for each in program.operations:
        for name in each.operands:
            readers.setdefault(name, []).append(each.name)
    return _Uses(readers=readers, outputs={*program.outputs}, weights={*weights})


def _nodes(program: VolumeProgram, uses: _Uses) -> Iterator[list[VolumeOperation]]:
    """Yield the computations of each node; one by one for a node with several results."""
    by_line: dict[int, list[VolumeOperation]] = {}
    for each in program.operations:
        if each.kind == "compute":
            by_line.setdefault(each.line, []).append(each)
    for node in by_line.values():
        own = {each.name for each in node}
        used = [n for n in own if n in uses.outputs or not own.issuperset(uses.readers.get(n, ()))]
        if used == [node[-1].name]:
            yield node
        else:
            yield from ([each] for each in node)


def _stays(
    node: Sequence[VolumeOperation], home: Sequence[Sequence[VolumeOperation]], uses: _Uses
) -> bool:
    """Return whether a node joins the part that it follows."""
    result = home[-1][-1].name
    if len(node) > 1 or result in uses.outputs:
        return False
    chain = all(_follows(after, before.name, uses) for before, after in pairwise(home[0]))
    return chain and _follows(node[0], result, uses)


def _follows(operation: VolumeOperation, result: str, uses: _Uses) -> bool:
    """Return whether an operation is the only reader of a result, and needs no other PE."""
    alone = list(uses.readers[result]) == [operation.name]
    others = set(operation.operands) - {result} - uses.weights
    return alone and not others and _is_local(operation, result)


def _is_local(operation: VolumeOperation, operand: str) -> bool:
    """Return whether each element of an operand is needed for one of the result, on one PE."""
    (result,) = operation.results
    reads = [read for read in operation.reads.values() if read.get_tuple_name(OUT) == operand]
    if result.operator == "=":
        return all(read.is_injective() for read in reads)
    return result.operator in POOLED and len(operation.reads) == 1 and reads[0].is_injective()


def _named(found: Sequence[Sequence[Sequence[VolumeOperation]]]) -> Iterator[OperationGroup]:
    """Yield the parts with their names."""
    count = Counter[str]()
    for nodes in found:
        operations = [each for node in nodes for each in node]
        first = next((each for each in operations if _contracts(each)), operations[0])
        stem = make_plain_name(first.source.lower())
        count[stem] += 1
        yield OperationGroup(
            name=f"{stem}{count[stem]}", operations=tuple(operations), why=_why(nodes)
        )


def _contracts(operation: VolumeOperation) -> bool:
    return operation.results[0].operator == "+=" and len(operation.reads) > 1


def _why(nodes: Sequence[Sequence[VolumeOperation]]) -> str:
    first, *rest = [node[0] for node in nodes]
    said = f"{first.source}, node {first.line}"
    if rest:
        return f"{said}; {', '.join(each.source for each in rest)} after it stay on its PEs"
    if len(nodes[0]) > 1:
        return f"{said}, is one part"
    return f"{said}, is alone: what follows it needs elements of several PEs, or of other parts"

# --- Tiles of groups, cached ----------------------------------------------------------------------
#
# Most parts of a deep network are alike. The names of volumes and reads do not change a tile,
# except for volumes that are needed twice: these get further names.

MOST_REMEMBERED = 256
FOUND: dict[tuple[str, ...], PartTile | None] = {}
"""Tiles of this process by the text of groups with names `v0`, `v1`, ...; None for groups whose
tile has further names, or that have no tile."""


def tile_group(elements: isl.Set, operations: Sequence[VolumeOperation]) -> PartTile:
    """Return the tile for a box of the last computation's result. Raises NoSliceError."""
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


def _tile(elements: isl.Set, operations: Sequence[VolumeOperation]) -> PartTile:
    sizes = [high + 1 - low for low, high in bounding_box(elements)]
    (region,) = list_regions(elements, sizes)
    return tile(region, operations[-1].name, operations)


def _tile_unnamed(elements: isl.Set, operations: Sequence[VolumeOperation]) -> PartTile | None:
    """Return the tile for a box; None if there is none, or if volumes are needed twice."""
    try:
        found = _tile(elements, operations)
    except NoSliceError:
        return None
    volumes = {name: each.volume for name, each in {**found.inputs, **found.computed}.items()}
    return found if all(name == volume for name, volume in volumes.items()) else None


def _unname(operation: VolumeOperation, names: Mapping[str, str]) -> VolumeOperation:
    """Return a computation with other names of its volumes, and no value.

    Reads are named by their positions.
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


def _tell(operation: VolumeOperation) -> Iterator[str]:
    """Yield the texts that distinguish a computation from others."""
    (result,) = operation.results
    yield from (operation.name, result.operator, str(result.init))
    yield from map(str, (operation.loops, result.writes, *operation.reads.values()))


def _name(
    found: PartTile, operations: Sequence[VolumeOperation], names: Mapping[str, str]
) -> PartTile:
    """Return a tile with the real names of volumes, values and reads."""
    real = {other: name for name, other in names.items()}
    by_name = {names[each.name]: each for each in operations}
    tiles = found.region.tiles.set_tuple_name(OUT, real[found.output.volume])
    return PartTile(
        region=replace(found.region, tiles=tiles),
        output=_name_slice(found.output, real),
        inputs={real[name]: _name_slice(each, real) for name, each in found.inputs.items()},
        computed={real[name]: _name_slice(each, real) for name, each in found.computed.items()},
        statements=tuple(_name_statement(s, by_name[s.tensor], real) for s in found.statements),
    )


def _name_slice(found: Slice, real: Mapping[str, str]) -> Slice:
    return replace(found, volume=real[found.volume])


def _name_statement(
    found: TileStatement, by: VolumeOperation, real: Mapping[str, str]
) -> TileStatement:
    reads = zip(by.reads, found.reads.values(), strict=True)
    return replace(
        found, tensor=by.name, value=by.results[0].value,
        reads={label: (real[tensor], rows) for label, (tensor, rows) in reads},
    )

# --- Reads through copies -------------------------------------------------------------------------
#
# Source   F Def. 4.10: a copy has no values of its own
#
# An access can do some copies itself, such as a transposition or a slice: these disappear between
# two operations, and where dimensions are collapsed, the loops of the reader are split. Other
# copies differ from element to element, as a padding: they become maps of what crosses from part to
# part.

def resolve(program: VolumeProgram) -> VolumeProgram:
    """Return the operations that the outputs need; computations read through plain copies."""
    plain = find_constants(program)
    operations = tuple(
        _through(each, program, plain) if each.kind == "compute" else each
        for each in find_needed(program)
    )
    found = replace(program, operations=operations)
    return replace(found, operations=tuple(find_needed(found)))


def _through(
    operation: VolumeOperation, program: VolumeProgram, plain: Mapping[str, float]
) -> VolumeOperation:
    """Return a computation that reads through the copies that accesses can do."""
    split = split_loops(operation, lambda read: [_follow(read, program, plain)[-1]])
    assert split.loops is not None
    reads = {}
    for label, read in split.reads.items():
        ends = _follow(read.intersect_domain(split.loops), program, plain)
        reads[label] = next((end for end in reversed(ends) if is_affine(end)), read)
    return replace(split, reads=reads)


def _follow(read: isl.Map, program: VolumeProgram, plain: Mapping[str, float]) -> list[isl.Map]:
    """Return a read, then the same read through one copy, through two, and so on.

    The list ends before a copy of which instances read several pieces, as of a concatenation, and
    before a number.
    """
    found = [read]
    while (writer := program.writer(found[-1].get_tuple_name(OUT) or "")).kind == "copy":
        pieces = [
            through for copy in writer.copies for piece in affine_pieces(copy)
            if not (through := found[-1].apply_range(piece).coalesce()).is_empty()
        ]
        if len(pieces) != 1 or pieces[0].get_tuple_name(OUT) in plain:
            break
        found.append(pieces[0])
    return found


def is_affine(read: isl.Map) -> bool:
    """Return whether a function is one expression without quotients."""
    pieces: list[isl.MultiAff] = []
    find_function_in(read).coalesce().foreach_piece(lambda _, by: pieces.append(by))
    if len(pieces) != 1:
        return False
    return all(not pieces[0].get_at(k).dim(DIV) for k in range(pieces[0].dim(OUT)))


def trace(elements: isl.Map, program: VolumeProgram) -> dict[str, isl.Map]:
    """Return { x[e] -> v[e'] } by volumes v that are no copies, from { x[e] -> volume[e'] }.

    Numbers are volumes, too: `find_constants` has their values.
    """
    found: dict[str, isl.Map] = {}
    for end in find_ends(elements, program, {}):
        name = end.get_tuple_name(OUT) or ""
        found[name] = found[name].union(end) if name in found else end
    return {name: each.coalesce() for name, each in found.items()}


def find_padded(program: VolumeProgram, numbers: Collection[str]) -> set[str]:
    """Return the copies that have elements of `numbers`, as padding has."""
    found: set[str] = set()
    for each in program.operations:
        if each.kind == "copy" and any(n in numbers or n in found for n in each.operands):
            found.add(each.name)
    return found

# --- Values of a network --------------------------------------------------------------------------
#
# Source   F Def. 4.10: volumes are what operations give; `evaluate` says how each is rounded

NOWHERE = Span(source=Source(path="", text=""), start=0, end=0)


def make_inputs(
    program: VolumeProgram, volumes: isl.UnionSet, weights: Collection[str], data: Data,
    given: Mapping[str, Array], invocations: int = 1,
) -> list[dict[str, Array]]:
    """Return the inputs of a network, in their types and shapes: from files, or made by `data`.

    Each invocation has one of each input; a file without an axis for invocations is the same in
    all. Raises UserErrors for a file that does not fit its input.
    """
    domains = make_domains(volumes)
    tensors = tuple(
        Tensor(name=each.name, type=program.types[each.name], span=NOWHERE,
               shape=extents(domains[each.name], {}))
        for each in program.operations if each.kind == "input" and each.name not in weights
    )
    layer = Layer(name=program.name, inputs=tensors, outputs=(), statements=())
    names = [tensor.name for tensor in tensors]
    read = read_inputs(dict(given), layer, invocations, names)
    made, _ = generate(layer, data.seed, data.kind, data.density, (), invocations, names)
    return [
        {**inputs, **{name: values[n % len(values)] for name, values in read.items()}}
        for n, inputs in enumerate(made)
    ]


def take(described: Mapping[str, Any], values: Mapping[str, Array]) -> dict[str, Array]:
    """Return the input tensors of a part, as slices of the values of all volumes."""
    return {
        tensor: values[slice_["volume"]][where(slice_, [0] * _rank(slice_["offset"]))]
        for tensor, slice_ in described["inputs"].items()
    }


def _rank(offset: str) -> int:
    return int(isl.MultiAff(offset).dim(isl.dim_type.in_))


def put_together(
    parts: Mapping[str, Mapping[str, Any]], given: Mapping[str, Array], volumes: isl.UnionSet
) -> dict[str, Array]:
    """Return the volumes that parts computed, with the pieces of a volume joined."""
    domains, results = make_domains(volumes), dict[str, Array]()
    for name, each in parts.items():
        volume, piece = each["output"], each.get("piece")
        if piece is None:
            results[volume] = given[name]
            continue
        empty = np.zeros(extents(domains[volume], {}), given[name].dtype)
        whole = results.setdefault(volume, empty)
        whole[where(piece, [0] * _rank(piece["offset"]))] = given[name]
    return results


def pass_on(
    program: VolumeProgram, volumes: isl.UnionSet, inputs: Mapping[str, Array],
    results: Mapping[str, Array],
) -> dict[str, Array]:
    """Return all volumes that follow by copies from inputs and from these `results` of parts.

    Other computations, and copies of them, are left out.
    """
    kept: dict[str, VolumeOperation] = {}
    for each in program.operations:
        if each.name in results:
            kept[each.name] = _stub(each)
        elif each.kind != "compute" and kept.keys() >= set(each.operands):
            kept[each.name] = each
    return evaluate(_with(program, list(kept.values())), volumes, {**inputs, **results})


def _stub(operation: VolumeOperation) -> VolumeOperation:
    return VolumeOperation(
        name=operation.name, kind="input", source=operation.source, line=operation.line
    )


def _with(program: VolumeProgram, operations: Sequence[VolumeOperation]) -> VolumeProgram:
    return replace(program, operations=tuple(operations))
