"""Give every entry of the graph an address, and memory that nobody needs any more to others.

Paper    seed 004, Sec. 5.5
Reads    program.yaml, objects.yaml, graph.yaml, accesses.isl
Writes   addresses.yaml
Assumes  ids of nodes are in the order in which they run.
Ensures  entries that live at one time do not overlap; arrays are aligned.
"""

from __future__ import annotations

import typing

from stages.diagnose import UserError

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "objects.yaml", "graph.yaml", "accesses.isl")
WRITES = ("addresses.yaml",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return addresses.yaml."""
    raise UserError("remember is under construction")
