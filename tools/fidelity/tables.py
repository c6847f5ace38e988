"""Text of docs/fidelity.md, from the cycles of programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lairmake.stages.machine.profile import Profile, load_profile
from tools.evaluation.document import table
from tools.evaluation.templates import template
from tools.fidelity.rows import Measured, Model, Models, Rows, modelled
from tools.fidelity.running import cycles_of

HEAD = ("program", "machine", "published", "ours", "ratio", "within", "source", "grade")
Cycles = Mapping[tuple[str, int, int], int]
"""Cycles by program, elements and PEs."""


def model_machine(models: Models) -> Profile:
    """Return the machine that the model assumes."""
    return load_profile(models.profile, models.figures)


def run_models(library: Path, models: Models) -> Cycles:
    """Return the cycles of the programs of the models."""
    machine = model_machine(models)
    return {at: cycles_of(library, *at, machine) for at in points_of(models)}


def points_of(models: Models) -> Iterator[tuple[str, int, int]]:
    """Yield each program with each number of elements and of PEs."""
    for model in models.programs:
        for elements in models.elements:
            yield from ((model.program, elements, pes) for pes in models.pes)


def run_measured(library: Path, rows: Rows) -> list[int]:
    """Return the cycles of the other programs, in order."""
    return [
        cycles_of(library, row.program, row.elements, row.size, load_profile(row.machine))
        for row in rows.programs
    ]


def document(rows: Rows, modelled_cycles: Cycles, measured: list[int]) -> str:
    """Return the document."""
    pairs = list(zip(rows.programs, measured, strict=True))
    return template("fidelity.md.j2").render(
        machine=model_machine(rows.models),
        points=len(rows.models.elements) * len(rows.models.pes),
        patterns=[_model(rows.models, model, modelled_cycles) for model in rows.models.programs],
        table=table(HEAD, (_row(row, ours) for row, ours in pairs)),
        within=sum(_is_within(row, ours) for row, ours in pairs),
        programs=rows.programs,
    )


def _model(models: Models, model: Model, found: Cycles) -> dict[str, Any]:
    """Return a table of elements by PEs: ours, and the model's in brackets where they differ."""
    ramp = model_machine(models).ramp
    rows, exact = [], 0
    for elements in models.elements:
        cells = []
        for pes in models.pes:
            ours = found[model.program, elements, pes]
            expected = modelled(model.program, elements, pes, ramp)
            exact += ours == expected
            cells.append(f"{ours}" if ours == expected else f"{ours} ({expected})")
        rows.append((elements, *cells))
    head = ("B", *(f"P = {pes}" for pes in models.pes))
    return {"of": model, "exact": exact, "table": table(head, rows)}


def _row(row: Measured, ours: int) -> tuple[Any, ...]:
    within = f"{'yes' if _is_within(row, ours) else 'no'}, {row.band} %"
    return (row.title, row.machine, row.published, ours, f"{ours / row.published:.2f}", within,
            row.source, row.grade)


def _is_within(row: Measured, ours: int) -> bool:
    return abs(ours - row.published) * 100 <= row.band * row.published
