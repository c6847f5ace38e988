"""Text of docs/fidelity.md, from the cycles of programs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lairmake.stages.machine.profile import Profile, load_profile
from tools.evaluation.document import table
from tools.evaluation.templates import template
from tools.fidelity.rows import Measured, Model, Models, Row, Rows, modelled
from tools.fidelity.running import cycles_of, find_file

HEAD = ("program", "file", "machine", "published", "ours", "ratio", "within", "grade")
TITLES = {"fitted": "Rows that figures were chosen by", "unseen": "Rows that none was chosen by"}
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
        cycles_of(library, measured.program, row.elements, row.size, load_profile(row.machine),
                  row.options)
        for measured, row in rows.list_measured()
    ]


def document(rows: Rows, modelled_cycles: Cycles, measured: list[int]) -> str:
    """Return the document."""
    return template("fidelity.md.j2").render(
        machine=model_machine(rows.models),
        points=len(rows.models.elements) * len(rows.models.pes),
        patterns=[_model(rows.models, model, modelled_cycles) for model in rows.models.programs],
        titles=TITLES, **{use: _of_use(use, rows, measured) for use in TITLES},
    )


def list_tables(rows: Rows, measured: list[int]) -> str:
    """Return both tables of programs that were measured."""
    return "\n\n".join(
        f"{TITLES[use]}\n\n{_of_use(use, rows, measured)['table']}" for use in TITLES)


def _of_use(use: str, rows: Rows, measured: list[int]) -> dict[str, Any]:
    """Return the table of the rows of one use, and how far they are off."""
    pairs = zip(rows.list_measured(), measured, strict=True)
    found = [(program, row, ours) for (program, row), ours in pairs if program.use == use]
    head = (*HEAD, "figures") if use == "fitted" else HEAD
    errors = [abs(ours - row.published) / row.published for _, row, ours in found]
    worst = max(range(len(found)), key=errors.__getitem__)
    return {
        "table": table(head, (_row(*each) for each in found)),
        "programs": list({id(program): program for program, _, _ in found}.values()),
        "count": len(found), "within": sum(_is_within(*each) for each in found),
        "near": sum(error <= 0.15 for error in errors),
        "median": f"{100 * statistics.median(errors):.1f}", "worst": _titled(*found[worst][:2]),
        "off": f"{100 * errors[worst]:.0f}",
    }


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


def _titled(program: Measured, row: Row) -> str:
    return f"{program.name}, {row.title}"


def _row(program: Measured, row: Row, ours: int) -> tuple[Any, ...]:
    within = f"{'yes' if _is_within(program, row, ours) else 'no'}, {program.band} %"
    figures = (program.figure,) if program.use == "fitted" else ()
    return (_titled(program, row), f"`{find_file(program.program)}`", row.machine, row.published,
            ours, f"{ours / row.published:.2f}", within, program.grade, *figures)


def _is_within(program: Measured, row: Row, ours: int) -> bool:
    return abs(ours - row.published) * 100 <= program.band * row.published
