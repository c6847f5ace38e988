"""Write the programs of the virtual machine, one a role, and the layout that they run on.

Paper    E Sec. 6.1
Reads    program.yaml, objects.yaml, graph.yaml, accesses.isl, addresses.yaml, sections.yaml,
         paint.isl
Writes   build/vm/pe_*.c, build/layout.yaml
Assumes  arguments are as sections/program.py says.
Ensures  the programs need no more memory, queues and tasks than a PE has.
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "objects.yaml", "graph.yaml", "accesses.isl", "addresses.yaml",
         "sections.yaml", "paint.isl")
WRITES = ("build/vm/pe_*.c", "build/layout.yaml")


def run(inputs: Inputs) -> dict[str, str]:
    """Return the programs, in C, and build/layout.yaml."""
    raise NotImplementedError
