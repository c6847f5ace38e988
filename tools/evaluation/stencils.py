"""Cycles of a step of the layers below projects/stencils: docs/stencils.md.

A step is a quarter of what seven invocations take more than three.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lairmake.stages import PIPELINE
from lairmake.stages.diagnose import UserError, source_of
from lairmake.stages.layer.texts.results_json import Results, read_results
from lairmake.stages.layer.texts.simd_yaml import read_decisions
from lairmake.stages.layer.texts.task_graph import Compute, TaskGraph, read_graph
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.mapping.records import read_record
from tools.evaluation.document import table
from tools.evaluation.measure import Case, build
from tools.evaluation.templates import template

MACHINES = ("wse2", "wse3", "ideal")
TIMES = (3, 7)
"""Invocations of the two builds of which a step is measured."""

PES = 3
"""PEs along a side, of which the one inside has all neighbours."""

ROWS = Path(__file__).with_name("stencils.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Cycles a step of a stencil that somebody has measured, and the layer that computes it.

    `block` is how many elements a PE has along a side, on a square of PES; None if as in the layer.
    """

    layer: str
    machine: str
    cycles: int
    block: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """Where cycles are published, of what, and by what the programs there differ."""

    source: str
    covers: str
    differs: str
    rows: tuple[Published, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSources:
    """All sources, in the order of the document."""

    sources: tuple[PublishedSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a layer on a machine.

    `expected` is by the closed form, `around` what tensors would take that are fed back, in cycles;
    `block` the sizes of the box that the busiest PE computes, by statement.
    """

    cycles: float
    expected: float
    around: int
    pes: int
    block: tuple[str, ...]


@cache
def read_published() -> tuple[PublishedSource, ...]:
    """Return the sources of stencils.yaml."""
    return read_record(source_of(ROWS.name, ROWS.read_bytes()), PublishedSources).sources


def list_published() -> list[Published]:
    """Return the rows of all sources."""
    return [row for source in read_published() for row in source.rows]


def on_machines(case: Case) -> Iterator[Case]:
    """Yield a case on each machine."""
    for machine in MACHINES:
        yield dataclasses.replace(case, mapping={**case.mapping, "machine": machine})


def as_published(case: Case, row: Published) -> Case:
    """Return a case with the blocks, and on the machine, of what is published."""
    mapping = {**case.mapping, "machine": row.machine}
    if row.block is not None:
        mapping |= {
            "sizes": {"N": PES * row.block}, "target": f"{{ PE[{PES}, {PES}] }}",
            "placement": re.sub(r"//\d+", f"//{row.block}", case.mapping["placement"]),
        }
    return dataclasses.replace(case, mapping=mapping)


def measure_step(case: Case, workspace: Path) -> Step:
    """Return what a step of a case takes, and is expected to take.

    Raises UserError, also where a value is wrong.
    """
    few, many = (_run(case, workspace, times) for times in TIMES)
    steps = TIMES[1] - TIMES[0]
    moves = few.graph.moves.values()
    return Step(
        cycles=(many.results.cycles.simd - few.results.cycles.simd) / steps,
        expected=sum(move.ways.get("halo", 0) for move in moves)
        + (many.charged - few.charged) / steps
        + len(few.tasks) * load_profile(few.results.machine).find_dispatch_next(),
        around=sum(move.ways.get("around", 0) for move in moves),
        pes=few.results.pes.compute,
        block=tuple(" x ".join(map(str, few.results.tasks[name].sizes)) for name in few.tasks),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Results of a build, its statements' tasks, and the cycles that these should take."""

    results: Results
    graph: TaskGraph
    tasks: tuple[str, ...]
    charged: int


def _run(case: Case, workspace: Path, invocations: int) -> _Run:
    mapping = {**case.mapping, "invocations": invocations}
    folder = open_folder(build(dataclasses.replace(case, mapping=mapping), workspace, PIPELINE))
    sources = {
        name: source_of(name, file_of(folder, name).read_bytes())
        for name in ("build/results.json", "tasks.yaml", "simd.yaml")
    }
    results = read_results(sources["build/results.json"].text)
    if not all(found.right for found in results.check.values()):
        raise UserError(f"{case.name}: a value is wrong", hint="a build of it says which")
    graph, decisions = read_graph(sources["tasks.yaml"]), read_decisions(sources["simd.yaml"])
    tasks = tuple(name for name, task in graph.tasks.items() if isinstance(task, Compute))
    return _Run(
        results=results,
        graph=graph,
        tasks=tasks,
        charged=sum(decisions[name].cycles or 0 for name in tasks),
    )


def document(
    layers: Mapping[str, str], found: Mapping[tuple[str, str], Step], published: Sequence[Step]
) -> str:
    """Return the document: `layers` are the comments of layers by name.

    `found` are steps by layer and machine, `published` those of `list_published`.
    """
    off = [abs(step.expected / step.cycles - 1) for step in found.values()]
    return template("stencils.md.j2").render(
        layers=layers, steps=steps_table(found), published=published_table(published),
        sources=read_published(), most=f"{100 * max(off):.0f} %",
        median=f"{100 * statistics.median(off):.0f} %",
    )


def steps_table(found: Mapping[tuple[str, str], Step]) -> str:
    """Return the cycles of a step of each layer on each machine, and those of the closed form."""
    head = ["layer", "PEs", "elements of a PE"]
    for machine in MACHINES:
        head += [machine, "closed form"]
    return table([*head, f"around, {MACHINES[0]}"], (
        (name, *_of_layer([found[name, machine] for machine in MACHINES]))
        for name in dict.fromkeys(layer for layer, _ in found)
    ))


def _of_layer(steps: Sequence[Step]) -> Iterator[Any]:
    yield steps[0].pes
    yield "; ".join(dict.fromkeys(steps[0].block))
    for step in steps:
        yield from (f"{step.cycles:.0f}", f"{step.expected:.0f}")
    yield steps[0].around


def published_table(steps: Sequence[Step]) -> str:
    """Return the published cycles of a step beside those of the layers."""
    numbers = [n for n, each in enumerate(read_published(), start=1) for _ in each.rows]
    head = ("layer", "elements of a PE", "machine", "published", "here", "times as fast", "source")
    return table(head, (
        (row.layer, step.block[0], row.machine, row.cycles, f"{step.cycles:.0f}",
         f"{row.cycles / step.cycles:.1f}", f"({number})")
        for row, step, number in zip(list_published(), steps, numbers, strict=True)
    ))


def comment_of(case: Case) -> str:
    """Return the comment at the top of a .lair, as one line."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), case.lair.splitlines())
    return " ".join(line.removeprefix("#").strip() for line in lines)
