"""Run the source of a program with NumPy, as `python` would.

Paper    seed 004, Sec. 5.2
Reads    program.yaml, *.py, objects.yaml, build/data/*.npy
Writes   build/numpy/*.npy
Assumes  the program may be run: it is code of its user, in a process of its own.
Ensures  its objects began with the data that the graph begins with.
"""

from __future__ import annotations

import typing

from stages.diagnose import UserError

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "*.py", "objects.yaml", "build/data/*.npy")
WRITES = ("build/numpy/*.npy",)


def run(inputs: Inputs) -> dict[str, bytes]:
    """Return the outputs of the source."""
    raise UserError("rehearse is under construction")
