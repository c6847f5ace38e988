"""Draw what a network is made of: its parts, what crosses between them, and where they lie.

Paper    no source
Reads    network.yaml, crossings.yaml, parts.yaml, fitted.yaml, layout.yaml,
         build/bridges/pe_*.c, build/results.json, build/usage.npz, */layer.yaml, */chosen.yaml,
         */*.lair, */inputs/*, */build/layout.yaml, */build/simd/pe_*.c, build/sweep/sweep.json
Writes   build/report.html
Assumes  all parts were simulated (conclude, confirm). A run of all of them on one fabric (operate)
         is run once more, and recorded, if it is short.
Ensures  the file needs no other one, and no network; the same inputs give the same bytes.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator, Mapping
from functools import partial

from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.network.whole.running import record
from lairmake.stages.picture.pages import (
    SWEEP,
    WholeOnPage,
    describe_parts,
    list_edges,
    read_sweep,
    report_stop,
    report_whole,
)
from lairmake.stages.picture.run import FabricOnPage, describe_fabric, read_usage, record_again
from lairmake.stages.picture.tasks import describe_programs, find_role

if typing.TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import FabricStop
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "network.yaml",
    "crossings.yaml",
    "parts.yaml",
    "fitted.yaml",
    "layout.yaml",
    "build/bridges/pe_*.c",
    "build/results.json",
    "build/usage.npz",
    "*/layer.yaml",
    "*/chosen.yaml",
    "*/*.lair",
    "*/inputs/*",
    "*/build/layout.yaml",
    "*/build/simd/pe_*.c",
    "build/sweep/sweep.json",
)
WRITES = ("build/report.html",)
TEXTS = ("network.yaml", "crossings.yaml", "parts.yaml")


def run(inputs: Inputs) -> dict[str, str]:
    """Return build/report.html."""
    results = json.loads(inputs.text("build/results.json"))
    names = tuple(results["parts"])
    layouts = {name: read_layout(inputs.part(name).source("build/layout.yaml")) for name in names}
    return {"build/report.html": report_whole(WholeOnPage(
        title="Network", says=_said(results), results=results,
        texts=_texts(inputs),
        parts=describe_parts(layouts, _expected(inputs)),
        edges=tuple(list_edges(results["crossings"])),
        fabric=_fabric(inputs, names) if "fabric" in results else None,
        sweep=read_sweep(map(inputs.source, inputs.names(SWEEP))),
    ))}


def _fabric(inputs: Inputs, names: tuple[str, ...]) -> FabricOnPage:
    """Return the one fabric of all parts, and what ran there."""
    programs = dict(_programs(inputs, names))
    layout = read_layout(inputs.source("layout.yaml"))
    usage = read_usage(inputs.content("build/usage.npz"))
    recorded = record_again(layout, usage, partial(record, inputs))
    return describe_fabric(layout, describe_programs(programs), usage, recorded)


def draw_stop(inputs: Inputs, stop: FabricStop) -> str:
    """Return the page of a network whose one fabric stopped: it has no results."""
    roles = (name.partition(".") for name in read_layout(stop.layout).roles)
    names = tuple(dict.fromkeys(part for part, dot, _ in roles if dot))
    says = f"a network of {len(names)} parts on one fabric"
    return report_stop(
        stop, "Network", says, dict(_programs(inputs, names)), _texts(inputs),
        partial(record, inputs),
    )


def _texts(inputs: Inputs) -> dict[str, str]:
    return {name: inputs.text(name) for each in TEXTS for name in inputs.names(each)}


def _said(results: Mapping[str, typing.Any]) -> str:
    machines = sorted({part["machine"] for part in results["parts"].values()})
    return f"a network of {len(results['parts'])} parts, on {', '.join(machines)}"


def _expected(inputs: Inputs) -> dict[str, int]:
    """Return the cycles that parts of a graph were expected to take when they were fitted."""
    if not inputs.names("parts.yaml"):
        return {}
    fitted = inputs.yaml("fitted.yaml").items()
    return {name: said["cycles"] for name, said in fitted if "cycles" in said}


def _programs(inputs: Inputs, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield role, variant and text of each program on the fabric of all parts."""
    for name in inputs.names("build/bridges/pe_*.c"):
        yield (find_role(name), "simd"), inputs.text(name)
    for part in names:
        files = inputs.part(part)
        for name in files.names("build/simd/pe_*.c"):
            yield (f"{part}.{find_role(name)}", "simd"), files.text(name)
