"""Turn the statements of a LAIR node into instance sets and access relations.

Paper    V Sec. 4.1.1
Reads    layer.yaml, *.lair
Writes   lair.isl    instances, tensors, reads, writes; views, idle, internal, carried
Assumes  nothing: every rule of LAIR is checked here.
Ensures  accesses are affine, and inside the tensors.
Differs  instance sets are rectangular from zero only where a statement has no conditions; a
         statement may access a tensor several times, and has a view for each further access.
"""

from __future__ import annotations

import typing

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.lair.statements import polyhedral_description
from lairmake.stages.mapping.layer_names import check_names
from lairmake.stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors, moves, placement, schedule, search, analysis",
    "*.lair",
)
WRITES = ("lair.isl",)
HEADER = """Instance sets and access relations of the statements (Sec. 4.1.1).
instances: { statement[iterators] }, tensors: { tensor[element] },
reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance."""
IDLE_HEADER = """
idle: { statement[iterators] } that do not run, but have a place: an element to which nothing is
reduced is there, and what it is at first.
"""
VIEWS_HEADER = """
views: { view[element] -> tensor[element] }, further accesses of statements to a tensor: each has a
name of its own, and the memory of the tensor.
"""
GRAPH_HEADER = """
internal: { tensor[element] } of what only other statements read, if there is any.
carried: { tensor[element] -> source[element] }: what it is in the next invocation, if not the same.
"""


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return lair.isl."""
    layer = inputs.lair()
    errors = list(check_names(inputs.mapping(), layer))
    if errors:
        raise UserErrors(errors)
    objects = polyhedral_description(layer)
    header = HEADER + (IDLE_HEADER.rstrip() if "idle" in objects else "")
    header += VIEWS_HEADER.rstrip() if "views" in objects else ""
    header += GRAPH_HEADER if layer.internals or layer.carries else ""
    return {"lair.isl": write_objects(header, objects)}
