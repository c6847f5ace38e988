"""Effect on layers of limits and sizes of a machine that nobody has published.

Figures that are not charged decide what programs there are, and whether any: so layers are compiled
anew with half and with double of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lairmake.stages import PIPELINE
from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.fabric.layout import FabricLayout, read_layout
from lairmake.stages.layer.texts.results_json import Results, read_results
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.layers import open_folder
from tools.evaluation.chosen import MACHINE, MOVED, Change, list_changes
from tools.evaluation.document import table
from tools.evaluation.measure import Case, build, on_machine, write_mapping

HEAD = ("figure", "value", "grade", "tried", "other programs", "refused", "fewest", "most", "moved")
HEAD_OF_LIMITS = ("layer", "figure", "has", "enough", "cycles", "with enough")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Results of a layer as it is, and its cycles with each change, None where it is refused.

    `others` says, for each change, whether the layer has other programs.
    """

    results: Results
    cycles: tuple[int | None, ...]
    others: tuple[bool, ...]


def try_limits(case: Case, workspace: Path) -> Tried:
    """Return the trial of a case, with each change of the figures that are not charged."""
    folder = build(case, workspace, PIPELINE)
    results, programs = _results(folder), _programs(folder)
    cycles, others = [], []
    for change in list_changes(charged=False):
        machine = {"profile": MACHINE, change.figure: change.tried}
        write_mapping(folder, on_machine(case, machine))
        compiled = _compile_again(folder)
        others.append(compiled and _programs(folder) != programs)
        if others[-1]:
            run_stage("simulate", folder)
        found = _results(folder) if others[-1] else results
        cycles.append(found.cycles.simd if compiled else None)
    return Tried(results=results, cycles=tuple(cycles), others=tuple(others))


def _compile_again(folder: Path) -> bool:
    """Run the stages that depend on the machine; return whether none of them refuses the layer.

    `route` is the first, and simd the next one if the routes are as they were.
    """
    texts = open_folder(folder).cache
    before = {name: (texts / name).read_bytes() for name in declaration("route").writes}
    try:
        routed = run_stage("route", folder)
        for stage in PIPELINE[PIPELINE.index("simd" if routed == before else "allocate") : -1]:
            run_stage(stage, folder)
    except (UserError, UserErrors):
        for name in before:
            (texts / name).write_bytes(b"")  # what follows is not of these routes
        return False
    return True


def _programs(folder: Path) -> tuple[dict[str, bytes], FabricLayout]:
    """Return the programs, and the layout but for how much memory they take."""
    layout = folder / "build/layout.yaml"
    programs = {path.name: path.read_bytes() for path in folder.glob("build/simd/*.c")}
    return programs, replace(read_layout(source_of(str(layout), layout.read_bytes())), roles={})


def _results(folder: Path) -> Results:
    return read_results((folder / "build/results.json").read_text(encoding="utf-8"))


def changes_table(found: Mapping[str, Tried]) -> str:
    """Return what each change does to all layers."""
    changes = enumerate(list_changes(charged=False))
    return table(HEAD, (_row(number, change, found) for number, change in changes))


def _row(number: int, change: Change, found: Mapping[str, Tried]) -> tuple[Any, ...]:
    ratios = [
        cycles / each.results.cycles.simd for each in found.values()
        if (cycles := each.cycles[number]) is not None
    ]
    refused = len(found) - len(ratios)
    others = sum(each.others[number] for each in found.values())
    count = sum(abs(ratio - 1) > MOVED for ratio in ratios)
    return (change.figure, change.value, change.grade, change.tried, others or "none",
            refused or "none", f"{min(ratios, default=1):.2f}", f"{max(ratios, default=1):.2f}",
            f"**{count} of {len(ratios)}**" if count else "none")


def limits_table(found: Mapping[str, Tried]) -> str:
    """Return the layers that a limit binds, and their cycles where there is enough."""
    return table(HEAD_OF_LIMITS, _limited(found))


def _limited(found: Mapping[str, Tried]) -> Iterator[tuple[Any, ...]]:
    for name, tried in found.items():
        if (limits := tried.results.limits) is not None:
            for figure, limit in limits.figures.items():
                yield (name, figure, limit.of, limit.enough, tried.results.cycles.simd,
                       limits.cycles)
