"""Run all parts of a network on one fabric, sample after sample, and compare with the parts.

Paper    V Sec. 6
Reads    network.yaml, parts.yaml, layout.yaml, build/bridges/pe_*.c, */layer.yaml,
         */chosen.yaml, */*.lair, */inputs/*, */build/layout.yaml, */build/simd/pe_*.c,
         */build/outputs/*.npy
Writes   build/fabric.json, build/usage.npz
Assumes  parts lie where their layouts do (link), and were simulated one by one on the same inputs.
Ensures  the same inputs give the same bytes; every value was computed by the programs of the parts,
         byte for byte, and equals what they gave alone.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator, Mapping

from lairmake.stages.fabric.grid import check_texts, read_grid
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.fabric.usage import find_usage, write_usage
from lairmake.stages.network.whole.running import read_network_of, run_network
from lairmake.stages.reference.data import stack_samples
from lairmake.stages.reference.evaluate import find_largest_error, is_same

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "network.yaml: parts, tensors",
    "parts.yaml",
    "layout.yaml",
    "build/bridges/pe_*.c",
    "*/layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "*/layer.yaml: tensors, machine, invocations, data",
    "*/chosen.yaml",
    "*/*.lair",
    "*/inputs/*",
    "*/build/layout.yaml",
    "*/build/simd/pe_*.c",
    "*/build/outputs/*.npy",
)
WRITES = ("build/fabric.json", "build/usage.npz")


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return build/fabric.json, and the usage of the machine."""
    network, source = read_network_of(inputs), inputs.source("layout.yaml")
    layout = read_layout(source)
    check_texts(layout, source)
    found = run_network(inputs, network, layout, source)
    grid, samples = read_grid(layout.grid), len(found.completed)
    first, last = found.completed[0] or found.cycles, found.completed[-1] or found.cycles
    results = {
        "pes": [grid.width, grid.height],
        "samples": samples,
        "first": first,
        "interval": round((last - first) / (samples - 1), 1) if samples > 1 else None,
        "cycles": found.cycles,
        "check": dict(_checks(inputs, found)),
    }
    return {
        "build/fabric.json": json.dumps(results, indent=2) + "\n",
        "build/usage.npz": write_usage(find_usage(found)),
    }


def _checks(inputs: Inputs, found: FabricRun) -> Iterator[tuple[str, Mapping[str, typing.Any]]]:
    """Yield whether each output equals that of its part alone, bit for bit (-0 equals 0)."""
    for name, values in found.outputs.items():
        part, _, tensor = name.partition(".")
        expected = inputs.part(part).array(f"build/outputs/{tensor}.npy")
        given = stack_samples(values)
        yield name, {
            "right": is_same(given, expected), "max_abs_error": find_largest_error(given, expected)
        }
