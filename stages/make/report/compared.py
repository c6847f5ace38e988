"""Results of several builds beside each other, and which of them are not worse than another."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lairmake.stages.make.core.faults import list_wrong

COLUMNS = ("cycles", "loops", "speedup", "bound", "memory", "pes")
"""By what rows can be sorted, but for keys."""
SAID = {"cycles": "cycles", "loops": "loops", "speedup": "speed-up", "bound": "bound",
        "memory": "memory", "pes": "PEs"}
"""What a table and a plot call these."""


WORK = ("data", "invocations", "parameters", "sizes")
"""What keys begin with that say how much there is to do."""
NO_RESULTS = "no results, as of a kernel of which no parts are asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What results say: cycles, with loops only, the bound and by what; bytes on the fullest PE,
    of so many; how many PEs compute, of networks and programs how many there are. None is what the
    results of a kind do not have."""

    cycles: int
    loops: int | None = None
    speedup: float | None = None
    bound: int | None = None
    by: str | None = None
    bytes: int | None = None
    of: int | None = None
    pes: int | None = None

    @property
    def memory(self) -> float | None:
        """How full the fullest PE is, from 0 to 1."""
        return None if self.bytes is None or not self.of else self.bytes / self.of


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A build: how each key was set, its folder, and its figures, or why there are none.

    `error` is a line, `text` all that the build said; both are empty of what is right.
    """

    keys: Mapping[str, str]
    folder: str
    figures: Figures | None
    error: str = ""
    text: str = ""


def row_of(
    keys: Mapping[str, str], folder: str, results: Mapping[str, Any] | None, refused: str
) -> Row:
    """Return the row of a build, of which a stage `refused` what it says, or nothing."""
    if refused:
        first = refused.partition("\n")[0]
        error = first.partition("error: ")[2] or first
        return Row(keys=keys, folder=folder, figures=None, error=error, text=refused.rstrip())
    if results is None:
        return Row(keys=keys, folder=folder, figures=None, error=NO_RESULTS, text=NO_RESULTS)
    wrong = list_wrong(results)
    error = f"WRONG: {', '.join(wrong)}" if wrong else ""
    return Row(keys=keys, folder=folder, figures=figures_of(results), error=error, text=error)


def figures_of(results: Mapping[str, Any]) -> Figures:
    """Return the figures in a `build/results.json` of any kind."""
    if "outputs" in results:
        memory, (columns, rows) = results["memory"], results["field"]
        return Figures(
            cycles=results["cycles"], bytes=memory["workers"], of=memory["of"], pes=columns * rows
        )
    if "parts" in results:
        return _of_parts(results)
    cycles, memory, bound = results["cycles"], results["memory"], results["bound"]
    return Figures(
        cycles=cycles["simd"], loops=cycles["loops"], speedup=results["speedup"],
        bound=bound["cycles"], by=bound["by"], bytes=memory["bytes_per_pe"], of=memory["of"],
        pes=results["pes"]["compute"] if "pes" in results else None,
    )


def _of_parts(results: Mapping[str, Any]) -> Figures:
    """Return the figures of parts: of the one fabric on which they run, or one after another.

    On one fabric only the programs with vector instructions run.
    """
    cycles, fabric = results["one_after_another"], results.get("fabric")
    fullest = max(
        (part["memory"] for part in results["parts"].values()),
        key=lambda memory: memory["bytes_per_pe"] / memory["of"],
    )
    size, of = fullest["bytes_per_pe"], fullest["of"]
    if fabric:
        return Figures(cycles=fabric["cycles"], bytes=size, of=of, pes=math.prod(fabric["pes"]))
    return Figures(
        cycles=cycles["simd"], loops=cycles["loops"],
        speedup=round(cycles["loops"] / cycles["simd"], 3), bytes=size, of=of,
    )


def is_right(row: Row) -> bool:
    """Return whether there are figures, and all values are right."""
    return row.figures is not None and not row.error


def knows_pes(rows: Sequence[Row]) -> bool:
    """Return whether it is known of all that are right how many PEs they take."""
    return all(r.figures.pes is not None for r in rows if r.figures is not None and not r.error)


def list_work(keys: Iterable[str]) -> list[str]:
    """Return the keys that say how much there is to do."""
    return [key for key in keys if key.partition(".")[0] in WORK]


def work_of(row: Row) -> tuple[str, ...]:
    """Return how much a build has to do: rows are compared with those that have as much."""
    return tuple(row.keys[key] for key in list_work(row.keys))


def front_of(rows: Sequence[Row]) -> frozenset[int]:
    """Return the rows than which none that has as much to do is better: in fewer cycles on no more
    PEs, or in no more cycles on fewer PEs. Where not all PEs are known these are the fewest cycles.
    """
    has_pes = knows_pes(rows)
    points = {
        at: (work_of(row), row.figures.cycles, (row.figures.pes or 0) if has_pes else 0)
        for at, row in enumerate(rows) if row.figures is not None and not row.error
    }
    return frozenset(
        at for at, own in points.items()
        if not any(each != own and each[0] == own[0] and each[1] <= own[1] and each[2] <= own[2]
                   for each in points.values())
    )


def sort_rows(rows: Sequence[Row], column: str) -> list[Row]:
    """Return rows by a column, the least first; those without figures stay last, in their order."""
    def value(row: Row) -> tuple[bool, float]:
        found = getattr(row.figures, column) if row.figures is not None else None
        return found is None, found or 0.0

    return sorted(rows, key=value) if column else list(rows)


def data_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows as JSON has them."""
    front = front_of(rows)
    return [_data_of_row(row, at in front) for at, row in enumerate(rows)]


def _data_of_row(row: Row, is_front: bool) -> dict[str, Any]:
    found = row.figures
    figures = None if found is None else {
        "cycles": found.cycles, "loops": found.loops, "speedup": found.speedup,
        "bound": found.bound, "by": found.by, "bytes": found.bytes, "of": found.of,
        "pes": found.pes,
    }
    return {
        "set": dict(row.keys), "folder": row.folder, "right": is_right(row), "pareto": is_front,
        "figures": figures, "error": row.text or None,
    }


def csv_of(rows: Sequence[Row]) -> str:
    """Return rows as a text of comma-separated values, with a line of titles."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for line in _lines(rows):
        writer.writerow("" if each is None else each for each in line)
    return written.getvalue()


def _lines(rows: Sequence[Row]) -> Iterator[Sequence[Any]]:
    figures = ("cycles", "loops", "speedup", "bound", "by", "bytes", "of", "pes")
    yield *(key for row in rows[:1] for key in row.keys), *figures, "pareto", "error", "folder"
    for found, row in zip(data_of(rows), rows, strict=True):
        values = found["figures"] or {}
        own = (values.get(each) for each in figures)
        yield *row.keys.values(), *own, int(found["pareto"]), row.error, row.folder
