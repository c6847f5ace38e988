"""Draw what a layer is and did: its grid, its time and its tasks, in one HTML file.

Paper    no source
Reads    layer.yaml, *.lair, placement.isl, schedule.isl, tasks.yaml, allocations.isl,
         compressions.isl, hulls.isl, memory.isl, simd.yaml, build/layout.yaml,
         build/simd/pe_*.c, build/loops/pe_*.c, build/multicast/*.c, build/multicast/*.yaml,
         build/enough/*.c, build/enough/*.yaml, build/results.json,
         chosen.yaml, inputs/*, build/usage.npz, build/sweep/sweep.json
Writes   build/report.html
Assumes  the run gave results (simulate); it is run once more, and recorded, if it is short.
Ensures  the file needs no other one, and no network; the same inputs give the same bytes.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from functools import partial

from lairmake.stages.fabric.coordinates import find_offset
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.layer.outcome import record
from lairmake.stages.layer.texts.simd_yaml import read_decisions
from lairmake.stages.layer.texts.task_graph import read_graph
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.picture.pages import (
    SWEEP,
    WrittenPage,
    find_accessed,
    read_sweep,
    report_layer,
    report_stop,
)
from lairmake.stages.picture.run import read_usage, record_again
from lairmake.stages.picture.tasks import VARIANTS, find_role

if typing.TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import FabricStop
    from lairmake.stages.mapping.inputs import LayerInputs

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
    "build/multicast/*.c",
    "build/multicast/*.yaml",
    "build/enough/*.c",
    "build/enough/*.yaml",
    "build/results.json",
    "chosen.yaml",
    "inputs/*",
    "build/usage.npz",
    "build/sweep/sweep.json",
)
WRITES = ("build/report.html",)

OBJECTS = ("allocations.isl", "compressions.isl", "hulls.isl", "memory.isl")


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return build/report.html."""
    written, usage = read_written(inputs), read_usage(inputs.content("build/usage.npz"))
    recorded = record_again(written.layout, usage, partial(record, inputs))
    sweep = read_sweep(map(inputs.source, inputs.names(SWEEP)))
    return {"build/report.html": report_layer(written, usage, recorded, sweep)}


def draw_stop(inputs: LayerInputs, stop: FabricStop) -> str:
    """Return the page of a layer whose fabric stopped: it has no results."""
    objects = {name: inputs.objects(name) for name in ("allocations.isl", "memory.isl")}
    machine = read_machine(inputs.mapping(), inputs)
    return report_stop(
        stop, inputs.lair().name, f"a layer on {machine.name}", dict(_programs(inputs)),
        _texts(inputs), partial(record, inputs, variant=stop.programs),
        find_accessed(objects, find_offset(read_layout(stop.layout))),
    )


def read_written(inputs: LayerInputs) -> WrittenPage:
    """Return what the stages before this one wrote, as far as a page shows it."""
    return WrittenPage(
        layout=read_layout(inputs.source("build/layout.yaml")),
        graph=read_graph(inputs.source("tasks.yaml")),
        decisions=read_decisions(inputs.source("simd.yaml")),
        objects={name: inputs.objects(name) for name in OBJECTS},
        programs=dict(_programs(inputs)),
        texts=_texts(inputs),
        results=json.loads(inputs.text("build/results.json")),
    )


def _texts(inputs: LayerInputs) -> dict[str, str]:
    names = (*inputs.names("*.lair"), "layer.yaml", "placement.isl", "schedule.isl")
    return {name: inputs.text(name) for name in names}


def _programs(inputs: LayerInputs) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield role, variant and text of each program."""
    for variant in VARIANTS:
        for name in inputs.names(f"build/{variant}/pe_*.c"):
            yield (find_role(name), variant), inputs.text(name)
