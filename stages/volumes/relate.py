"""Find the volume element map of every operation.

Paper    F Def. 4.10; VEM from MLIR
Reads    volumes.isl, operations.yaml
Writes   elements.isl    { result[element] -> operand[element] }
Assumes  sizes fit (shape, describe).
Ensures  every map lies within its implied context: the index domains of results and operands.
Differs  a literal in the body of an operation is code, no operand; so is a sum's neutral element.
"""

from __future__ import annotations

import typing

from lairmake.stages.poly.text import write_objects
from lairmake.stages.volumes.element_maps import element_map
from lairmake.stages.volumes.operation import read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("volumes.isl", "operations.yaml")
WRITES = ("elements.isl",)
HEADER = """Volume element maps (Friebel et al., IMPACT 2023, definition 4.10).
For each operation, by its (first) result: { result[element] -> operand[element] }, which elements
of its operands an element of a result needs."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return elements.isl."""
    program = read_program(inputs.yaml("operations.yaml"))
    volumes = inputs.objects("volumes.isl")["volumes"]
    maps = {
        operation.name: element_map(operation, volumes)
        for operation in program.operations
        if operation.operands
    }
    return {"elements.isl": write_objects(HEADER, maps)}
