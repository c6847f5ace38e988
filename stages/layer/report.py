"""Draw what a layer is and did: its grid, its time and its tasks, in one HTML file.

Paper    no source
Reads    layer.yaml, *.lair, placement.isl, schedule.isl, tasks.yaml, allocations.isl,
         compressions.isl, hulls.isl, memory.isl, simd.yaml, build/layout.yaml,
         build/simd/pe_*.c, build/loops/pe_*.c, build/results.json, chosen.yaml, inputs/*,
         build/usage.npz
Writes   build/report.html
Assumes  the run gave results (simulate); it is run once more, and recorded, if it is short.
Ensures  the file needs no other one, and no network; the same inputs give the same bytes.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Iterator

from stages.fabric.layout_yaml import read_layout
from stages.layer.running import run_on_fabric
from stages.layer.texts.decisions import read_decisions
from stages.layer.texts.graph import read_graph
from stages.mapping.machine import read_machine
from stages.picture.figures import Recorded, Usage
from stages.picture.of_layer import Written, report_layer
from stages.picture.of_run import choose_events, describe_record, read_usage
from stages.reference.data import input_samples

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml",
    "*.lair",
    "placement.isl",
    "schedule.isl",
    "tasks.yaml",
    "allocations.isl",
    "compressions.isl",
    "hulls.isl",
    "memory.isl",
    "simd.yaml",
    "build/layout.yaml",
    "build/simd/pe_*.c",
    "build/loops/pe_*.c",
    "build/results.json",
    "chosen.yaml",
    "inputs/*",
    "build/usage.npz",
)
WRITES = ("build/report.html",)

MOST_HOPS = 50_000_000
"""Up to how many hops a run is recorded for its report: that takes about a minute."""
OBJECTS = ("allocations.isl", "compressions.isl", "hulls.isl", "memory.isl")
ROLE = re.compile(r"build/(\w+)/pe_(\w+)\.c")


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return build/report.html."""
    written, usage = read_written(inputs), read_usage(inputs.content("build/usage.npz"))
    traffic = written.results["fabric"]
    recorded = record(inputs, written, usage) if traffic["hops"] <= MOST_HOPS else None
    return {"build/report.html": report_layer(written, usage, recorded)}


def record(inputs: LayerInputs, written: Written, usage: Usage) -> Recorded:
    """Run the programs with vector instructions once more, and return what a page shows of that."""
    mapping, layer = inputs.mapping(), inputs.lair()
    run = run_on_fabric(
        [inputs.path(f"build/simd/pe_{role}.c") for role in written.layout.roles],
        inputs.source("build/layout.yaml"), read_machine(mapping, inputs.further_path), layer,
        input_samples(mapping, layer, inputs.arrays()), tell=inputs.tell, recorded=True,
        asked=choose_events(written.layout, usage),
    )
    return describe_record(run)


def read_written(inputs: LayerInputs) -> Written:
    """Return what the stages before this one wrote, as far as a page shows it."""
    return Written(
        layout=read_layout(inputs.source("build/layout.yaml")),
        graph=read_graph(inputs.source("tasks.yaml")),
        decisions=read_decisions(inputs.source("simd.yaml")),
        objects={name: inputs.objects(name) for name in OBJECTS},
        programs=dict(_programs(inputs)),
        texts={
            name: inputs.text(name)
            for name in (*inputs.names("*.lair"), "layer.yaml", "placement.isl", "schedule.isl")
        },
        results=json.loads(inputs.text("build/results.json")),
    )


def _programs(inputs: LayerInputs) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield role, variant and text of each program."""
    for pattern in ("build/simd/pe_*.c", "build/loops/pe_*.c"):
        for name in inputs.names(pattern):
            found = ROLE.fullmatch(name)
            assert found is not None
            yield (found[2], found[1]), inputs.text(name)
