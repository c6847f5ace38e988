"""Split a network from a graph into parts, each of which becomes a layer.

Paper    V Sec. 1: a network is broken up into parts; V Sec. 4.1.1
Reads    operations.yaml, volumes.isl, names.yaml
Writes   parts.yaml
Assumes  operations come after those whose results they use.
Ensures  every operation that an output needs is in one part, but for copies: these are done by
         accesses of a part, or maps of what crosses from part to part. Parts that compute alike
         have one LAIR.
"""

from __future__ import annotations

import typing

from stages.diagnose import UserError
from stages.mapping.yaml_text import write_document
from stages.network.parts.described import Around, NoPartError, describe
from stages.network.parts.grouping import Group, group
from stages.network.parts.resolving import resolve
from stages.volumes.domains import make_domains
from stages.volumes.operation import read_program

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("operations.yaml", "volumes.isl", "names.yaml")
WRITES = ("parts.yaml",)
HEADER = """The parts of the network, each after those whose results it takes.
why: which nodes of the graph they are, and why together; operations: of operations.yaml; output:
the volume that is the result, y; inputs: the slice of a volume that each tensor is, an element at
offset + stride * its own; arrives: those that are no weights. order: in which elements come, one
after another; from: what they are elements of, the result of another part or an input of the
network; otherwise: the value of elements that do not come. leaves: the order of the result."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return parts.yaml. Raises UserError for operations of which no layer can be made."""
    program = resolve(read_program(inputs.yaml("operations.yaml")))
    weights = inputs.yaml("names.yaml")["weights"]
    groups = group(program, weights)
    if not groups:
        hint = "its outputs are inputs, or constants"
        raise UserError(f"{program.name}: nothing is computed", hint=hint)
    around = Around(
        program=program, volumes=make_domains(inputs.objects("volumes.isl")["volumes"]),
        weights=weights, parts={each.result: each.name for each in groups},
    )
    return {"parts.yaml": write_document(HEADER, {g.name: _described(g, around) for g in groups})}


def _described(found: Group, around: Around) -> dict[str, typing.Any]:
    try:
        return describe(found, around)
    except NoPartError as error:
        nodes = ", ".join(f"{o.source} (node {o.line})" for o in found.operations)
        hint = f"it is made of {nodes}"
        raise UserError(f"part {found.name} is no layer: {error.reason}", hint=hint) from None
