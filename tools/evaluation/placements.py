"""Placements found for layers that have one: cycles with the given and the found placements.

Each layer is built as it is, then without its placement, then with ports that may be anywhere, too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.layer.texts.results_json import read_results
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from tools.evaluation.document import table
from tools.evaluation.measure import Case, build

HEAD = ("layer", "given", "found", "ratio", "ports anywhere", "ratio", "search, s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Cycles with the given placement, with a found one, and with found ports; None where refused.

    `seconds` is the processor time of the stages up to the one that takes a candidate.
    """

    given: int
    found: int | None
    anywhere: int | None
    seconds: float


def find_placements(case: Case, workspace: Path) -> Placed:
    """Return what a search finds for a case that has a placement. Raises UserError(s)."""
    given = find_cycles(case, workspace)
    assert given is not None, f"{case.name} builds as it is"
    start = time.process_time()
    _try(leave_open(case, anywhere=False), workspace, "settle")
    seconds = time.process_time() - start
    found, anywhere = (find_cycles(leave_open(case, anywhere=a), workspace) for a in (False, True))
    return Placed(given=given, found=found, anywhere=anywhere, seconds=seconds)


def leave_open(case: Case, *, anywhere: bool) -> Case:
    """Return a case without its placement, and without ports if tensors go `anywhere`."""
    mapping = {key: value for key, value in case.mapping.items() if key != "placement"}
    if anywhere:
        tensors: Mapping[str, Mapping[str, Any]] = mapping.get("tensors", {})
        mapping["tensors"] = {
            name: {key: True if key in ("arrives", "leaves") else value for key, value in t.items()}
            for name, t in tensors.items()
        }
    return Case(name=case.name, lair=case.lair, mapping=mapping, inputs=case.inputs)


def find_cycles(case: Case, workspace: Path) -> int | None:
    """Return the cycles of a case; None where it is refused, or a value is wrong."""
    folder = _try(case, workspace, "simulate")
    if folder is None:
        return None
    results = read_results((folder / "build" / "results.json").read_text(encoding="utf-8"))
    return results.cycles.simd if all(c.right for c in results.check.values()) else None


def _try(case: Case, workspace: Path, last: str) -> Path | None:
    """Return the folder in which a case was built up to a stage, None where it is refused."""
    folder = build(case, workspace, ())
    try:
        for layer, stage in tasks_until(open_folder(folder), last):
            run_stage(stage, layer)
    except (UserError, UserErrors):
        return None
    return folder


def layers_table(found: Mapping[str, Placed], *, timed: bool = True) -> str:
    """Return the cycles of each layer, below them the ratios of all, and if `timed` the seconds."""
    rows = [
        (name, f.given, _shown(f.found), _ratio(f.found, f.given), _shown(f.anywhere),
         _ratio(f.anywhere, f.given), f"{f.seconds:.1f}")
        for name, f in found.items()
    ]
    last = len(HEAD) if timed else -1
    below = "\n".join(_summary(list(found.values())))
    return f"{table(HEAD[:last], [row[:last] for row in rows])}\n\n{below}"


def _shown(cycles: int | None) -> str:
    return "refused" if cycles is None else str(cycles)


def _ratio(cycles: int | None, given: int) -> str:
    return "" if cycles is None else f"{cycles / given:.2f}"


def _summary(found: Sequence[Placed]) -> Iterator[str]:
    """Yield the median and the most of the ratios."""
    for what, of in (("found", "found"), ("with ports anywhere", "anywhere")):
        ratios = [getattr(f, of) / f.given for f in found if getattr(f, of) is not None]
        if ratios:
            median, most = statistics.median(ratios), max(ratios)
            yield f"{what}: median {median:.2f}, most {most:.2f}, {len(ratios)} of {len(found)}"
