"""Paint the virtual machine: which PE has which role, and where routers send each colour.

Paper    E Sec. 4, 6.2
Reads    program.yaml, objects.yaml, graph.yaml, sections.yaml
Writes   paint.isl
Assumes  nothing of sections but which procedures there are, and how many response PEs.
Ensures  no two properties of a PE clash; time does not grow with the field.
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "objects.yaml", "graph.yaml", "sections.yaml")
WRITES = ("paint.isl",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return paint.isl."""
    raise NotImplementedError
