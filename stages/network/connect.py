"""Check what crosses from one part of a network to another.

Paper    V Sec. 4.1.2: how tensors arrive and leave
Reads    network.yaml, */layer.yaml, */chosen.yaml, */*.lair, */lair.isl, */placement.isl
Writes   crossings.yaml
Assumes  every part is well-formed (parse), and placed (place).
Ensures  both ends of a crossing are one tensor, of the same type and sizes, and agree element by
         element.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator

import islpy as isl

from stages.diagnose import UserError, UserErrors
from stages.lair.names import did_you_mean
from stages.mapping.network_yaml import Crossing, End, Network, read_network
from stages.mapping.ports import Direction, read_ports
from stages.mapping.yaml_text import write_document
from stages.network.crossing import Stop, check_crossing
from stages.poly.pieces import find_set
from stages.poly.side import bounding_rectangle

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = (
    "network.yaml",
    "*/layer.yaml",
    "*/chosen.yaml",
    "*/*.lair",
    "*/lair.isl",
    "*/placement.isl",
)
WRITES = ("crossings.yaml",)
HEADER = """What crosses from one part to another, element by element as both ends say.
part.tensor: the tensor that it is, its type and sizes, and by what it crosses: memory, or ports."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return crossings.yaml. Raises UserErrors with all that is wrong."""
    network = read_network(inputs.source("network.yaml"))
    _raise(_missing(inputs, network))
    _raise(error for crossing in network.crossings for error in _unknown(inputs, crossing))
    errors, found = [], {}
    for crossing in network.crossings:
        try:
            found[str(crossing.to)] = _describe(inputs, crossing)
        except UserError as error:
            errors.append(error)
    _raise(errors)
    return {"crossings.yaml": write_document(HEADER, found)}


def _raise(errors: typing.Iterable[UserError]) -> None:
    found = list(errors)
    if found:
        raise UserErrors(found)


def _missing(inputs: Inputs, network: Network) -> Iterator[UserError]:
    """Yield an error for every part that is no layer folder."""
    for name, path in network.parts.items():
        if not inputs.part(name).names("layer.yaml"):
            hint = f"a part is a folder here, or `{name}: path/to/folder` from here"
            yield UserError(f"{path} holds no layer.yaml", network.spans[name], hint)


def _unknown(inputs: Inputs, crossing: Crossing) -> Iterator[UserError]:
    """Yield an error for an end that its part does not have."""
    to, source = inputs.part(crossing.to.part).lair(), inputs.part(crossing.source.part).lair()
    for end, tensors, kind, span in (
        (crossing.to, to.inputs, "input", crossing.key_span),
        (crossing.source, source.outputs, "output", crossing.span),
    ):
        names = [tensor.name for tensor in tensors]
        if end.tensor not in names:
            hint = did_you_mean(end.tensor, names, f"{kind}s")
            yield UserError(f"{end.part} has no {kind} {end.tensor}", span, hint)


def _describe(inputs: Inputs, crossing: Crossing) -> dict[str, typing.Any]:
    """Return what a crossing is. Raises UserError where its ends do not agree."""
    leaving = _stop(inputs, crossing.source, "leaves")
    arriving = _stop(inputs, crossing.to, "arrives")
    by = check_crossing(leaving, arriving, crossing.span)
    tensor = leaving.tensor
    return {
        "is": str(crossing.source), "type": tensor.type, "sizes": list(tensor.shape), "by": by
    }


def _stop(inputs: Inputs, end: End, direction: Direction) -> Stop:
    """Return the tensor at one end, with its order as the part's layer.yaml gives it."""
    part = inputs.part(end.part)
    mapping, objects = part.mapping(), part.objects("lair.isl")
    placed = isl.Set.from_union_set(part.objects("placement.isl")["target"])
    target = bounding_rectangle(placed)
    elements = typing.cast(isl.Set, find_set(objects["tensors"], end.tensor))
    return Stop(
        end=end,
        tensor=part.lair().tensors[end.tensor],
        order=read_ports(mapping, end.tensor, direction, elements, target),
        target=target,
        times=mapping.invocations,
    )
