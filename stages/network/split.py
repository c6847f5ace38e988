"""Split a network from a graph into parts, each of which becomes a layer.

Paper    V Sec. 1: a network is broken up into parts; V Sec. 4.1.1
Reads    operations.yaml, volumes.isl, names.yaml, network.yaml
Writes   parts.yaml
Assumes  operations come after those whose results they use.
Ensures  every operation that an output needs is in one part, or in all pieces of one that is cut,
         but for copies: these are done by accesses of a part, or maps of what crosses from part to
         part. Parts that compute alike have one LAIR.
"""

from __future__ import annotations

import itertools
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.lair.grammar import parse_lair
from lairmake.stages.lair.specialise import specialise
from lairmake.stages.mapping.layer_names import check_names
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.network_yaml import GraphMapping, read_graph
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.network.parts.dividing import DividedPiece, cut
from lairmake.stages.network.parts.grouping import OperationGroup, find_padded, group, resolve
from lairmake.stages.network.parts.part import (
    RESULT,
    PartSurroundings,
    SaidOfPart,
    describe,
    find_room,
)
from lairmake.stages.parts.partition import find_constants
from lairmake.stages.parts.tiling import NoSliceError
from lairmake.stages.volumes.operation import (
    VolumeOperation,
    VolumeProgram,
    make_domains,
    read_program,
)

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "operations.yaml",
    "volumes.isl",
    "names.yaml",
    "network.yaml: type, machine, target, parts, floorplan",
)
WRITES = ("parts.yaml",)
HEADER = """The parts of the network, each after those whose results it takes.
why: which nodes of the graph they are, and why together; operations: of operations.yaml; output:
the volume that is the result, y; inputs: the slice of a volume that each tensor is, an element at
offset + stride * its own; arrives: those that are no weights. order: in which elements come, one
after another; from: what they are elements of, the result of another part or an input of the
network; otherwise: the value of elements that do not come. leaves: the order of the result."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return parts.yaml.

    Raises UserError for operations that no layer can compute, and UserErrors for unknown names of
    parts, tensors, statements and iterators in network.yaml.
    """
    program = resolve(read_program(inputs.yaml("operations.yaml")))
    weights = set(inputs.yaml("names.yaml")["weights"])
    groups = group(program, weights)
    if not groups:
        raise UserError(f"{program.name}: nothing is computed", hint=_explain(program))
    volumes = make_domains(inputs.objects("volumes.isl")["volumes"])
    given = inputs.file_or_empty("network.yaml", read_graph)
    memory, numbers = read_machine(given, inputs).memory, find_constants(program)
    padded = find_padded(program, numbers)
    parts: dict[str, list[DividedPiece]] = {}
    for each in groups:
        room = find_room(each.name, given, memory)
        try:
            parts[each.result] = cut(each, volumes[each.result], padded, weights, room)
        except NoSliceError as error:
            raise _no_layer(each, error) from None
    around = PartSurroundings(program=program, weights=weights, numbers=numbers, parts=parts)
    pieces = itertools.chain.from_iterable(parts.values())
    described = {piece.name: describe(piece, around) for piece in pieces}
    errors = [*given.check_parts(list(described)), *_check_said(given, described)]
    if errors:
        raise UserErrors(errors)
    return {"parts.yaml": write_document(HEADER, described)}


def _check_said(given: GraphMapping, described: Mapping[str, Any]) -> Iterator[UserError]:
    """Yield an error for each unknown name in the entries of network.yaml for parts."""
    for name, part in described.items():
        if name in given.parts and given.folder_of(name) is None:
            lair = Source(path=name, text=part["lair"])
            layer = specialise(parse_lair(lair), None, {}, {})
            said = SaidOfPart(
                name=name, graph=given, arrives=part["arrives"], leaves=[RESULT]
            )
            yield from check_names(said, layer)


def _explain(program: VolumeProgram) -> str:
    """Return a description of a network that computes nothing: at most, elements move."""
    moving = _list_nodes(each for each in program.operations if each.kind == "copy")
    if not moving:
        return "its outputs are inputs, or constants"
    moved = f"{moving} only move: add a node that computes, as Relu"
    return f"its outputs are elements of inputs, or constants, which {moved}"


def _no_layer(found: OperationGroup, error: NoSliceError) -> UserError:
    nodes = _list_nodes(found.operations)
    reason = f"what it needs of a tensor is no slice: {error.map}"
    return UserError(f"part {found.name} is no layer: {reason}", hint=f"it is made of {nodes}")


def _list_nodes(operations: Iterable[VolumeOperation]) -> str:
    return ", ".join(dict.fromkeys(f"{o.source} (node {o.line})" for o in operations))
