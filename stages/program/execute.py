"""Run the programs on the simulated fabric, and compare what they give with NumPy and the graph.

Paper    E Sec. 3, 4
Reads    program.yaml, objects.yaml, graph.yaml, addresses.yaml, sections.yaml, build/data/*.npy,
         build/numpy/*.npy, build/graph/*.npy, build/counts.json, build/layout.yaml,
         build/vm/pe_*.c
Writes   build/outputs/*.npy, build/results.json
Assumes  source and graph agree (interpret).
Ensures  every value was computed by the programs; all three agree bit for bit.
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "objects.yaml", "graph.yaml", "addresses.yaml", "sections.yaml",
         "build/data/*.npy", "build/numpy/*.npy", "build/graph/*.npy", "build/counts.json",
         "build/layout.yaml", "build/vm/pe_*.c")
WRITES = ("build/outputs/*.npy", "build/results.json")


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the outputs of the fabric, and what is known of the run."""
    raise NotImplementedError
