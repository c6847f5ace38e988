"""Check what crosses from one part of a network to another.

Paper    V Sec. 4.1.2: how tensors arrive and leave
Reads    network.yaml, */layer.yaml, */chosen.yaml, */*.lair, */lair.isl, */placement.isl
Writes   crossings.yaml, */crossed.isl
Assumes  every part is well-formed (parse), and placed (place).
Ensures  of what crosses both ends have one type, and agree element by element; every element that a
         part takes is one that another gives.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator

import islpy as isl

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.mapping.network_yaml import (
    Crossing,
    End,
    Network,
    describe_network,
    read_network_file,
)
from lairmake.stages.mapping.ports import Direction, read_ports
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.network.crossing import CrossingStop, check_crossing, check_given, check_sizes
from lairmake.stages.network.maps import list_unknown_ends, read_moves
from lairmake.stages.poly.canonical import find_set
from lairmake.stages.poly.sides import bounding_rectangle
from lairmake.stages.poly.text import spell_object, write_objects

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "network.yaml: parts, tensors",
    "*/layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "*/layer.yaml: tensors, invocations",
    "*/chosen.yaml",
    "*/*.lair",
    "*/lair.isl",
    "*/placement.isl",
)
WRITES = ("crossings.yaml", "*/crossed.isl")
HEADER = """What crosses from one part to another, element by element as both ends say.
part.tensor: the tensor that it is, its type and sizes, and by what it crosses: memory, or ports."""
MOVED = """Which elements of what other parts give an input is made of.
input_n: { output[element] -> input[element] } for the n-th output that network.yaml names."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return crossings.yaml. Raises UserErrors with all faults."""
    network = describe_network(inputs.file("network.yaml", read_network_file))
    missing = dict(_missing(inputs, network))
    layers = {part: inputs.part(part).lair() for part in network.parts if part not in missing}
    _raise([*missing.values(), *list_unknown_ends(network, layers)])
    errors: list[UserError] = []
    found: dict[str, typing.Any] = {}
    moved: dict[str, dict[str, isl.Map]] = {}
    for crossing in network.crossings:
        try:
            described, moves = _cross(inputs, crossing)
        except UserError as error:
            errors.append(error)
            continue
        found[str(crossing.to)] = described
        if not crossing.is_whole:
            names = {f"{crossing.to.tensor}_{n}": each for n, each in enumerate(moves)}
            moved[crossing.to.part] = moved.get(crossing.to.part, {}) | names
    _raise(errors)
    files = {f"{part}/crossed.isl": write_objects(MOVED, maps) for part, maps in moved.items()}
    return {"crossings.yaml": write_document(HEADER, found)} | files


def _raise(errors: typing.Iterable[UserError]) -> None:
    found = list(errors)
    if found:
        raise UserErrors(found)


def _missing(inputs: Inputs, network: Network) -> Iterator[tuple[str, UserError]]:
    """Yield the name of every part that is not a layer folder, with an error."""
    for name, path in network.parts.items():
        if not inputs.part(name).names("layer.yaml"):
            hint = f"a part is a folder here, or `{name}: path/to/folder` from here"
            yield name, UserError(f"{path} holds no layer.yaml", network.spans[name], hint)


def _cross(
    inputs: Inputs, crossing: Crossing
) -> tuple[dict[str, typing.Any], list[isl.Map]]:
    """Return a description of a crossing, and { output[e] -> input[e'] } for each of its outputs.

    Raises UserError where its ends do not agree.
    """
    arriving, taken = _stop(inputs, crossing.to, "arrives"), []
    for each in crossing.given:
        leaving = _stop(inputs, each.end, "leaves")
        if each.map is None:
            check_sizes(leaving, arriving, each.span)
        moves = read_moves(each.map, each.end, leaving.tensor, crossing.to, arriving.tensor)
        taken.append((leaving, moves, each.span))
    check_given(arriving, [(s.end, moves, span) for s, moves, span in taken], crossing.span)
    by = [check_crossing(leaving, moves, arriving, span) for leaving, moves, span in taken]
    tensor = {"type": arriving.tensor.type, "sizes": list(arriving.tensor.shape)}
    if crossing.is_whole:
        return {"is": str(crossing.given[0].end), **tensor, "by": by[0]}, []
    maps = [moves for _, moves, _ in taken]
    parts = [
        {"is": str(each.end), "map": spell_object(moves), "by": way}
        for each, moves, way in zip(crossing.given, maps, by, strict=True)
    ]
    return {**tensor, "of": parts}, maps


def _stop(inputs: Inputs, end: End, direction: Direction) -> CrossingStop:
    """Return the tensor at one end, with its order from layer.yaml of the part."""
    part = inputs.part(end.part)
    mapping, objects = part.mapping(), part.objects("lair.isl")
    placed = isl.Set.from_union_set(part.objects("placement.isl")["target"])
    target = bounding_rectangle(placed)
    elements = typing.cast(isl.Set, find_set(objects["tensors"], end.tensor))
    return CrossingStop(
        end=end,
        tensor=part.lair().tensors[end.tensor],
        order=read_ports(mapping, end.tensor, direction, elements, target),
        target=target,
        times=mapping.invocations,
    )
