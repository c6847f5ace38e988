"""Run the programs on the simulated fabric, and compare what they give with NumPy and the graph.

Paper    E Sec. 3, 4
Reads    program.yaml, objects.yaml, graph.yaml, filters.isl, sections.yaml,
         build/data/*.npy, build/numpy/*.npy, build/graph/*.npy, build/counts.json,
         build/layout.yaml, build/vm/pe_*.c
Writes   build/outputs/*.npy, build/results.json, build/usage.npz
Assumes  source and graph agree (interpret).
Ensures  every value was computed by the programs; all three agree bit for bit.
"""

from __future__ import annotations

import typing

from lairmake.stages.fabric.usage import find_usage, write_usage
from lairmake.stages.program.interpreter.run import write_array
from lairmake.stages.program.lowering.results import write_results
from lairmake.stages.program.lowering.running import run_fabric_of

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "program.yaml: machine",
    "objects.yaml",
    "graph.yaml",
    "filters.isl",
    "sections.yaml",
    "build/data/*.npy",
    "build/numpy/*.npy",
    "build/graph/*.npy",
    "build/counts.json",
    "build/layout.yaml",
    "build/vm/pe_*.c",
)
WRITES = ("build/outputs/*.npy", "build/results.json", "build/usage.npz")


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the outputs of the fabric, and the results of the run."""
    outputs, done, results = run_fabric_of(inputs, {})
    files: dict[str, str | bytes] = {
        f"build/outputs/{name}.npy": write_array(value) for name, value in outputs.items()}
    used = write_usage(find_usage(done))
    return files | {"build/results.json": write_results(results), "build/usage.npz": used}
