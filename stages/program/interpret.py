"""Run the graph in NumPy, and once more with all values at their addresses; compare both.

Paper    seed 004, Sec. 3 and 8.5: a validation system in NumPy
Reads    program.yaml, objects.yaml, graph.yaml, accesses.isl, addresses.yaml, build/data/*.npy,
         build/numpy/*.npy
Writes   build/graph/*.npy, build/results.json
Assumes  nothing of the source but what it gave.
Ensures  source, graph and graph at addresses agree bit for bit; a NaN equals a NaN.
"""

from __future__ import annotations

import typing

from stages.diagnose import UserError

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = (
    "program.yaml",
    "objects.yaml",
    "graph.yaml",
    "accesses.isl",
    "addresses.yaml",
    "build/data/*.npy",
    "build/numpy/*.npy",
)
WRITES = ("build/graph/*.npy", "build/results.json")


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the outputs of the graph, and what is known of the run."""
    raise UserError("interpret is under construction")
