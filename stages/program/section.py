"""Cut the graph into sections, vectors of calls of procedures, and the states of the executive.

Paper    E Sec. 4.1, 6.1.1, 6.1.2
Reads    program.yaml, objects.yaml, graph.yaml, accesses.isl, addresses.yaml, exchanges.isl,
         filters.isl
Writes   sections.yaml
Assumes  an exchange is between neighbours (exchange); entries do not overlap while they live.
Ensures  calls run in the order of the graph; vectors fit into the memory of the response PEs.
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "objects.yaml", "graph.yaml", "accesses.isl", "addresses.yaml",
         "exchanges.isl", "filters.isl")
WRITES = ("sections.yaml",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return sections.yaml."""
    raise NotImplementedError
