"""Dependence of cycles on figures that nobody has measured, at half and at double.

The programs are those that were compiled for the figures as they are.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lairmake.stages import PIPELINE
from lairmake.stages.diagnose import UserError
from lairmake.stages.layer import outcome, simulate
from lairmake.stages.machine.profile import load_profile, read_grades
from lairmake.stages.machine.scarcity import UNPUBLISHED
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.reference.data import input_samples
from tools.evaluation.document import table
from tools.evaluation.measure import Case, build
from tools.evaluation.templates import template

MACHINE = "wse2"
MOVED = 0.25
"""Part of the cycles of a layer: by a larger change the layer counts as moved."""

UNCHARGED = ("code_base", "code_task", "task_ids", "threads", "descriptors", "remote")
"""Figures that are limits, sizes or weights: a change of them changes what is compiled."""

HEAD = ("figure", "value", "grade", "tried", "fewest", "median", "most", "moved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure of the machine with another value."""

    figure: str
    grade: str
    value: Any
    tried: Any


def list_changes(*, charged: bool = True) -> list[Change]:
    """Return the figures that are chosen or worked out (C), each at half and at double.

    With `charged`, they are those that change the cycles of a run, else those of compilation.
    """
    profile = load_profile(MACHINE)
    found = []
    for figure, grade in read_grades(MACHINE).items():
        if grade not in UNPUBLISHED or (figure not in UNCHARGED) != charged:
            continue
        value = getattr(profile, figure)
        tries = (not value,) if isinstance(value, bool) else (value // 2, 2 * value)
        found += [
            Change(figure=figure, grade=grade, value=value, tried=tried) for tried in tries
        ]
    return found


def run_changed(case: Case, workspace: Path) -> list[int | None]:
    """Return the cycles of a case as it is, then with each change; None if it no longer runs."""
    folder = build(case, workspace, PIPELINE[:-1])
    changes: list[Mapping[str, Any]] = [{}, *({c.figure: c.tried} for c in list_changes())]
    return [_cycles(folder, change) for change in changes]


def _cycles(folder: Path, change: Mapping[str, Any]) -> int | None:
    path = folder / "layer.yaml"
    mapping = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(
        yaml.safe_dump({**mapping, "machine": {"profile": MACHINE, **change}}), encoding="utf-8"
    )
    inputs = FolderInputs(open_folder(folder), simulate.READS)
    layer = inputs.lair()
    samples = input_samples(inputs.mapping(), layer, inputs.arrays())
    try:
        return outcome.run_programs(inputs, "simd", samples, layer).cycles
    except UserError:
        return None


def document(found: Mapping[str, list[int | None]], tables: Mapping[str, str]) -> str:
    """Return the document, by layer; `tables` are those of figures that are not charged."""
    return template("chosen.md.j2").render(
        **tables, table=layers_table(found), layers=len(found), machine=MACHINE,
        moved=f"{MOVED:.0%}",
    )


def layers_table(found: Mapping[str, list[int | None]]) -> str:
    """Return what each change does to the cycles of all layers."""
    return table(HEAD, _rows(found))


def _rows(found: Mapping[str, list[int | None]]) -> Iterator[tuple[Any, ...]]:
    for number, change in enumerate(list_changes(), start=1):
        ratios = [
            cycles[number] / cycles[0] for cycles in found.values()  # type: ignore[operator]
            if cycles[0] and cycles[number] is not None
        ]
        ratios = ratios or [1.0]
        count = sum(abs(ratio - 1) > MOVED for ratio in ratios)
        moved = f"**{count} of {len(ratios)}**" if count else "none"
        yield (change.figure, _shown(change.value), change.grade, _shown(change.tried),
               f"{min(ratios):.2f}", f"{statistics.median(ratios):.2f}", f"{max(ratios):.2f}",
               moved)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
