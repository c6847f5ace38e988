"""Gain and cost of eliminating broadcasts: tables and plots of docs/broadcast.md.

Source   M Sec. IV
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lairmake.stages.diagnose import source_of
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.mapping.records import read_record
from lairmake.stages.skewing.skew_yaml import Counted, GridPart, SkewCounts
from tools.evaluation.document import table
from tools.evaluation.measure import Case, build
from tools.evaluation.plot import plot
from tools.evaluation.templates import template

STAGES = ("parse", "place", "schedule", "skew", "count")
SIDES = (1, 2, 4, 8, 16, 32)
"""Numbers of PEs along each side of the grids on which the product of matrices is counted."""


def counted(case: Case, workspace: Path) -> SkewCounts:
    """Return the counts.yaml of a case; nothing else of the case is built.

    Raises UserError or UserErrors.
    """
    folder = open_folder(build(case, workspace, STAGES))
    path = file_of(folder, "counts.yaml")
    return read_record(source_of(str(path), path.read_bytes()), SkewCounts)


def document(found: Mapping[str, SkewCounts], grids: Mapping[int, SkewCounts]) -> str:
    """Return the document, from counts by layer, and of the product by the side of the grid."""
    return template("broadcast.md.j2").render(
        example=example_table(found["matmul"]),
        places=places_table(found["matmul"]),
        layers=layers_table(found),
        edges=edges_table(found),
        grids=grids_table(grids),
    )


def pictures(grids: Mapping[int, SkewCounts]) -> dict[str, str]:
    """Return the plots by name, as SVG."""
    remote = {
        "before": [(float(side), _percent(each.before)[0]) for side, each in grids.items()],
        "after": [(float(side), _percent(each.after)[0]) for side, each in grids.items()],
    }
    steps = {"after / before": [(float(side), _longer(counts)) for side, counts in grids.items()]}
    return {
        "remote": _drawn(remote, "remote accesses, %"),
        "steps": _drawn(steps, "steps, after over before"),
    }


def _drawn(lines: Mapping[str, list[tuple[float, float]]], label: str) -> str:
    return template("plot.svg.j2").render(plot(lines, "PEs along a side", label, True))


def example_table(counts: SkewCounts) -> str:
    """Return the table of Sec. IV, and the steps."""
    rows = [
        (name, *(f"{_percent(each)[k]:.3f} %" for each in (counts.before, counts.after)))
        for k, name in enumerate(("remote accesses", "neighbour accesses", "local accesses"))
    ]
    steps = ("steps", counts.before.steps, counts.after.steps)
    return table(("", "before", "after"), [*rows, steps])


def places_table(counts: SkewCounts) -> str:
    """Return the remote accesses of a PE of each part of the grid."""
    after = counts.after.pes
    rows = (
        (name.replace("_", " "), part.number, _of_one(part), _of_one(after[name]))
        for name, part in counts.before.pes.items()
    )
    return table(("PEs", "number", "remote accesses of each before", "after"), rows)


def _of_one(part: GridPart) -> str:
    """Return the remote accesses of one PE; of those of a part with different ones, the mean."""
    mean = _mean(part)
    return str(int(mean)) if mean.is_integer() else f"{mean:.1f}"


def _mean(part: GridPart) -> float:
    return part.remote / part.number


def layers_table(found: Mapping[str, SkewCounts]) -> str:
    """Return, for each layer, the traffic saved and the latency paid."""
    head = ("layer", "accesses", "remote before", "after", "fewer by", "neighbour before", "after",
            "local before", "after", "steps before", "after", "longer by")
    return table(head, (_row(name, counts) for name, counts in found.items()))


def _row(name: str, counts: SkewCounts) -> tuple[Any, ...]:
    """Return a layer's row; `fewer by` and `longer by` are factors."""
    before, after = counts.before, counts.after
    shares = [
        f"{percent:.2f} %"
        for pair in zip(_percent(before), _percent(after), strict=True)
        for percent in pair
    ]
    fewer = before.whole.remote / max(1, after.whole.remote)
    return (
        name, before.whole.accesses, *shares[:2], f"{fewer:.2f}", *shares[2:],
        before.steps, after.steps, f"{_longer(counts):.2f}",
    )


def edges_table(found: Mapping[str, SkewCounts]) -> str:
    """Return, for each layer, the remote accesses of a PE inside, and of those with the most."""
    head = ("layer", "inside before", "after", "most before", "after", "after at")
    return table(head, (_edges(name, counts) for name, counts in found.items()))


def _edges(name: str, counts: SkewCounts) -> tuple[Any, ...]:
    before, after = counts.before.pes, counts.after.pes
    most = [max(pes, key=lambda part: _mean(pes[part])) for pes in (before, after)]
    return (
        name, _of_one(before["inside"]), _of_one(after["inside"]), _of_one(before[most[0]]),
        _of_one(after[most[1]]), most[1].replace("_", " "),
    )


def grids_table(grids: Mapping[int, SkewCounts]) -> str:
    """Return remote accesses and steps of the product by the side of the grid."""
    head = ("PEs", "remote before", "after", "steps before", "after", "longer by")
    return table(head, (
        (
            f"{side} x {side}",
            *(f"{_percent(each)[0]:.3f} %" for each in (counts.before, counts.after)),
            counts.before.steps, counts.after.steps, f"{_longer(counts):.2f}",
        )
        for side, counts in grids.items()
    ))


def _percent(clock: Counted) -> list[float]:
    """Return the shares of remote, neighbour and local accesses, in percent."""
    found = clock.whole
    every = max(1, found.accesses)
    return [100 * part / every for part in (found.remote, found.neighbour, found.local)]


def _longer(counts: SkewCounts) -> float:
    return counts.after.steps / counts.before.steps
