"""Run the intermediate language, which gives the graph of the program and its first data.

Paper    E Sec. 5.4
Reads    program.yaml, program.il; the source only to say where errors are
Writes   objects.yaml, graph.yaml, accesses.isl, build/data/*.npy
Assumes  the program may be run: it is code of its user, in a process of its own.
Ensures  ids of nodes are in the order in which they run; each operand has a relation.
"""

from __future__ import annotations

import typing
from functools import partial

from stages.program.child.parent import run_apart
from stages.program.il.run import capture_program, find_line

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "program.il")
WRITES = ("objects.yaml", "graph.yaml", "accesses.isl", "build/data/*.npy")


def run(inputs: Inputs) -> dict[str, bytes]:
    """Return the texts of the graph, and the data that it begins with."""
    il = inputs.text("program.il")
    return run_apart(capture_program, inputs, {"il": il}, find_line=partial(find_line, il))
