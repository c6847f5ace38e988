"""Compose the element maps of a program: which inputs an element of an output needs.

Paper    F Def. 4.14 and 4.15
Reads    volumes.isl, operations.yaml, elements.isl
Writes   program.isl    { output[element] -> input[element] }
Assumes  operations come after those whose results they use.
Ensures  the map is the transitive closure of all element maps, between outputs and inputs.
Differs  an input may be the result of an operation; what it needs itself is followed as well.
"""

from __future__ import annotations

import typing

from lairmake.stages.poly.text import write_objects
from lairmake.stages.volumes.element_maps import chosen, program_map
from lairmake.stages.volumes.operation import read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("volumes.isl", "operations.yaml", "elements.isl")
WRITES = ("program.isl",)
HEADER = """The program map (Friebel et al., IMPACT 2023, definitions 4.14 and 4.15).
{ output[element] -> input[element] }: which elements of inputs an element of an output needs."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return program.isl."""
    program = read_program(inputs.yaml("operations.yaml"))
    volumes = inputs.objects("volumes.isl")["volumes"]
    found = program_map(
        program.operations, inputs.objects("elements.isl"),
        chosen(program.outputs, volumes), chosen(program.inputs, volumes),
    )
    return {"program.isl": write_objects(HEADER, {"program": found})}
