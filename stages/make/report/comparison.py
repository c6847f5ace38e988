"""Comparison of builds: rows, table and plot."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lairmake.stages.diagnose import plural
from lairmake.stages.make.core.verdict import list_wrong
from lairmake.stages.make.report.colour import paint
from lairmake.stages.shipped import shipped
from lairmake.stages.templates import template_in

# --- Rows of a comparison, and their Pareto front -------------------------------------------------

COLUMNS = ("cycles", "loops", "speedup", "bound", "memory", "pes")
"""Columns, besides keys, by which rows can be sorted."""
SAID = {"cycles": "cycles", "loops": "loops", "speedup": "speed-up", "bound": "bound",
        "memory": "memory", "pes": "PEs"}
"""Titles of the columns in a table and a plot."""


WORK = ("data", "invocations", "parameters", "sizes")
"""Beginnings of the keys that say how much there is to do."""
NO_RESULTS = "no results, as of a kernel of which no parts are asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFigures:
    """Figures of a build, each None where results of its kind do not have it.

    Cycles, also with loops only; the bound, and what binds; bytes on the fullest PE, of so many;
    and the PEs that compute, or for networks and programs all PEs.
    """

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
        """The part of the fullest PE's memory that is used, from 0 to 1."""
        return None if self.bytes is None or not self.of else self.bytes / self.of


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """A build: the setting of each key, its folder, and its figures or the reason for none.

    `error` is a line, `text` all that the build said; both are empty where everything is right.
    """

    keys: Mapping[str, str]
    folder: str
    figures: BuildFigures | None
    error: str = ""
    text: str = ""


def row_of(
    keys: Mapping[str, str], folder: str, results: Mapping[str, Any] | None, refused: str
) -> ComparisonRow:
    """Return the row of a build; `refused` is what a stage said that refused it, or empty."""
    if refused:
        first = refused.partition("\n")[0]
        error = first.partition("error: ")[2] or first
        return ComparisonRow(
            keys=keys, folder=folder, figures=None, error=error, text=refused.rstrip()
        )
    if results is None:
        return ComparisonRow(
            keys=keys, folder=folder, figures=None, error=NO_RESULTS, text=NO_RESULTS
        )
    wrong = list_wrong(results)
    error = f"WRONG: {', '.join(wrong)}" if wrong else ""
    return ComparisonRow(
        keys=keys, folder=folder, figures=figures_of(results), error=error, text=error
    )


def figures_of(results: Mapping[str, Any]) -> BuildFigures:
    """Return the figures in a `build/results.json` of any kind."""
    if "outputs" in results:
        memory, (columns, rows) = results["memory"], results["field"]
        return BuildFigures(
            cycles=results["cycles"], bytes=memory["workers"], of=memory["of"], pes=columns * rows
        )
    if "parts" in results:
        return _of_parts(results)
    cycles, memory, bound = results["cycles"], results["memory"], results["bound"]
    return BuildFigures(
        cycles=cycles["simd"], loops=cycles["loops"], speedup=results["speedup"],
        bound=bound["cycles"], by=bound["by"], bytes=memory["bytes_per_pe"], of=memory["of"],
        pes=results["pes"]["compute"] if "pes" in results else None,
    )


def _of_parts(results: Mapping[str, Any]) -> BuildFigures:
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
        return BuildFigures(
            cycles=fabric["cycles"], bytes=size, of=of, pes=math.prod(fabric["pes"])
        )
    return BuildFigures(
        cycles=cycles["simd"], loops=cycles["loops"],
        speedup=round(cycles["loops"] / cycles["simd"], 3), bytes=size, of=of,
    )


def is_right(row: ComparisonRow) -> bool:
    """Return whether a row has figures, and all values are right."""
    return row.figures is not None and not row.error


def knows_pes(rows: Sequence[ComparisonRow]) -> bool:
    """Return whether the number of PEs is known of all rows that are right."""
    return all(r.figures.pes is not None for r in rows if r.figures is not None and not r.error)


def list_work(keys: Iterable[str]) -> list[str]:
    """Return the keys that say how much there is to do."""
    return [key for key in keys if key.partition(".")[0] in WORK]


def work_of(row: ComparisonRow) -> tuple[str, ...]:
    """Return how much a build has to do: rows are compared with those that have as much."""
    return tuple(row.keys[key] for key in list_work(row.keys))


def front_of(rows: Sequence[ComparisonRow]) -> frozenset[int]:
    """Return the indices of the rows on the Pareto front: no row with as much to do is better.

    A better row takes fewer cycles on no more PEs, or no more cycles on fewer PEs. Where not all
    PEs are known, a better row takes fewer cycles.
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


def sort_rows(rows: Sequence[ComparisonRow], column: str) -> list[ComparisonRow]:
    """Return rows by a column, the least first; rows without a figure stay last, in their order."""
    def value(row: ComparisonRow) -> tuple[bool, float]:
        found = getattr(row.figures, column) if row.figures is not None else None
        return found is None, found or 0.0

    return sorted(rows, key=value) if column else list(rows)


def data_of(rows: Sequence[ComparisonRow]) -> list[dict[str, Any]]:
    """Return rows as JSON has them."""
    front = front_of(rows)
    return [_data_of_row(row, at in front) for at, row in enumerate(rows)]


def _data_of_row(row: ComparisonRow, is_front: bool) -> dict[str, Any]:
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


def csv_of(rows: Sequence[ComparisonRow]) -> str:
    """Return rows as a text of comma-separated values, with a line of titles."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for line in _lines(rows):
        writer.writerow("" if each is None else each for each in line)
    return written.getvalue()


def _lines(rows: Sequence[ComparisonRow]) -> Iterator[Sequence[Any]]:
    figures = ("cycles", "loops", "speedup", "bound", "by", "bytes", "of", "pes")
    yield *(key for row in rows[:1] for key in row.keys), *figures, "pareto", "error", "folder"
    for found, row in zip(data_of(rows), rows, strict=True):
        values = found["figures"] or {}
        own = (values.get(each) for each in figures)
        yield *row.keys.values(), *own, int(found["pareto"]), row.error, row.folder

# --- Table of builds, on lines that fit on a terminal ---------------------------------------------

FRONT = "*"
BETTER = "takes fewer cycles on as few PEs, or as few on fewer"
FEWEST = "takes fewer cycles"
NARROW = 80
"""Width, in columns, of a table that goes to a file or a pipe."""
LEAST = 6
"""Least width, in columns of the terminal, of the value of a key."""
GAP, REST = "  ", "..."


def table(name: str, rows: Sequence[ComparisonRow], width: int = NARROW) -> str:
    """Return rows as text: settings, figures or errors, and a mark for the Pareto front."""
    front, keys = front_of(rows), list(rows[0].keys)
    columns = [each for each in COLUMNS if any(_cell(row.figures, each) for row in rows)]
    figures = [[_cell(row.figures, each) for each in columns] for row in rows]
    titles = [SAID[each] for each in columns]
    widths = [max(map(len, each)) for each in zip(titles, *figures, strict=True)]
    room = width - len(GAP) - 3 - sum(each + len(GAP) for each in widths)
    settings = [[" ".join(text.split()) for text in row.keys.values()] for row in rows]
    heads = _short(keys)
    wide = _fitting([max(map(len, each)) for each in zip(heads, *settings, strict=True)], room)
    lines = [*_title(name, rows, front, width), _line("", heads, wide, titles, widths)]
    for at, row in enumerate(rows):
        mark = FRONT if at in front else ""
        text = _line(mark, settings[at], wide, figures[at], widths)
        if row.error:
            text = _cut(_line("", settings[at], wide, [row.error], [0]), width)
        lines.append(paint("red" if row.error else "bold", text) if row.error or mark else text)
    return "".join(f"{line}\n" for line in lines)


def _title(
    name: str, rows: Sequence[ComparisonRow], front: frozenset[int], width: int
) -> Iterator[str]:
    """Yield how many rows there are, and what the mark of the front means."""
    wrong = sum(row.figures is not None and bool(row.error) for row in rows)
    refused = sum(row.figures is None for row in rows)
    said = [plural(len(rows), "combination")]
    said += [f"{refused} refused"] * bool(refused) + [f"{wrong} WRONG"] * bool(wrong)
    yield f"{name}: {', '.join(said)}"
    if front:
        keys, work = list(rows[0].keys), list_work(rows[0].keys)
        same = ", ".join(text for key, text in zip(keys, _short(keys), strict=True) if key in work)
        other = f"no other of the same {same}" if same else "no other"
        yield _cut(f"{GAP}{FRONT} {other} {BETTER if knows_pes(rows) else FEWEST}", width)


def _line(
    mark: str, settings: Sequence[str], wide: Sequence[int], cells: Sequence[str],
    widths: Sequence[int],
) -> str:
    """Return a line: texts to the left, numbers to the right."""
    texts = [_cut(text, width).ljust(width) for text, width in zip(settings, wide, strict=True)]
    numbers = [text.rjust(width) for text, width in zip(cells, widths, strict=True)]
    return f"{GAP}{GAP.join([mark.ljust(1), *texts, *numbers])}".rstrip()


def _short(keys: Sequence[str]) -> list[str]:
    """Return keys by their last names, where no other one has that."""
    last = [key.rpartition(".")[2] for key in keys]
    return [short if last.count(short) == 1 else key for key, short in zip(keys, last, strict=True)]


def _fitting(widths: list[int], room: int) -> list[int]:
    """Return widths of columns that fit into so much room, if they may be as narrow; the widest
    are cut first."""
    fitting = list(widths)
    while sum(fitting) + len(GAP) * (len(fitting) - 1) > room and max(fitting) > LEAST:
        fitting[fitting.index(max(fitting))] -= 1
    return fitting


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - len(REST)].rstrip()}{REST}"


def _cell(figures: BuildFigures | None, column: str) -> str:
    """Return a figure as text, empty where there is none."""
    value = getattr(figures, column) if figures is not None else None
    if value is None:
        return ""
    return {"speedup": f"{value:.2f}", "memory": f"{100 * value:.0f} %"}.get(column, str(value))


def cells_of(row: ComparisonRow) -> Iterator[str]:
    """Yield the figures of a row in words, for a plot."""
    for column in COLUMNS:
        if cell := _cell(row.figures, column):
            yield f"{SAID[column]} {cell}"

# --- Plot of builds: cycles over PEs, Pareto front ------------------------------------------------

DATA = ("../../../templates/scatter.svg.j2",)
"""The template, in a checkout and where it is installed."""
LEFT, RIGHT, TOP, BOTTOM = 70, 690, 30, 370
STEPS = (1, 2, 2.5, 5, 10)
TICKS = 6
LONGEST = 28
"""Number of characters of a label, at most."""
LETTER, LINE = 6.2, 13.0
"""Width of a character of a label, at most, and height of a line, in pixels."""
ROUND = 5.0
"""Distance from a point to its label, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of an axis: its place, in pixels, and its text."""

    at: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotPoint:
    """A build in the plot: its place in pixels, label or nothing, and a title with all of it."""

    x: float
    y: float
    is_front: bool
    work: tuple[str, ...]
    label: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PointLabel:
    """A text beside a point: the place where it begins, or ends."""

    x: str
    y: str
    anchor: str
    text: str


Box = tuple[float, float, float, float]


def scatter(rows: Sequence[ComparisonRow]) -> str:
    """Return the SVG of the rows that are right: cycles over PEs.

    Where not all PEs are known, it is cycles over the number of the row. The front lies on top. A
    label that would cover another one, or a point, is left out; the title of a point has all of it.
    """
    has_pes = knows_pes(rows)
    xs = _ticks(max((x for x, _, _ in _places(rows, has_pes)), default=1))
    ys = _ticks(max((y for _, y, _ in _places(rows, has_pes)), default=1))
    points = list(_points(rows, has_pes, xs[-1], ys[-1]))
    drawn = template_in(shipped("templates"), "scatter.svg.j2", __name__).render(
        x_label="PEs" if has_pes else "combination", y_label="cycles",
        xs=[Tick(at=f"{_across(x, xs[-1]):.1f}", text=f"{x:g}") for x in xs],
        ys=[Tick(at=f"{_up(y, ys[-1]):.1f}", text=f"{y:g}") for y in ys],
        fronts=[" ".join(f"{p.x:.1f},{p.y:.1f}" for p in each) for each in _fronts(points)],
        points=[{"x": f"{p.x:.1f}", "y": f"{p.y:.1f}", "is_front": p.is_front, "title": p.title}
                for p in sorted(points, key=lambda p: p.is_front)],
        labels=list(_labels(points)),
    )
    return drawn


def _places(rows: Sequence[ComparisonRow], has_pes: bool) -> Iterator[tuple[int, int, int]]:
    """Yield across and up of each row that is right, and its number."""
    for at, row in enumerate(rows):
        if row.figures is not None and is_right(row):
            yield (row.figures.pes or 0) if has_pes else at + 1, row.figures.cycles, at


def _points(
    rows: Sequence[ComparisonRow], has_pes: bool, most_x: float, most_y: float
) -> Iterator[PlotPoint]:
    front = front_of(rows)
    for x, y, at in _places(rows, has_pes):
        said = " ".join(" ".join(text.split()) for text in rows[at].keys.values())
        keys = ", ".join(f"{key} {' '.join(text.split())}" for key, text in rows[at].keys.items())
        yield PlotPoint(
            x=_across(x, most_x), y=_up(y, most_y), is_front=at in front,
            work=work_of(rows[at]),
            label=said if len(said) <= LONGEST else f"{said[: LONGEST - 3]}...",
            title=f"{keys}: {', '.join(cells_of(rows[at]))}",
        )


def _fronts(points: Sequence[PlotPoint]) -> Iterator[list[PlotPoint]]:
    """Yield the points of each front from left to right: of builds that have as much to do."""
    for work in dict.fromkeys(p.work for p in points):
        yield sorted(
            (p for p in points if p.is_front and p.work == work), key=lambda p: (p.x, p.y)
        )


def _labels(points: Sequence[PlotPoint]) -> Iterator[PointLabel]:
    """Yield the labels for which there is room, those of the front first."""
    taken: list[Box] = [(p.x - ROUND, p.y - ROUND, p.x + ROUND, p.y + ROUND) for p in points]
    for point in sorted(points, key=lambda p: not p.is_front):
        wide = LETTER * len(point.label)
        for anchor, left, y in (
            ("start", point.x + ROUND + 2, point.y), ("end", point.x - ROUND - 2 - wide, point.y),
            ("middle", point.x - wide / 2, point.y - LINE), ("middle", point.x - wide / 2,
                                                           point.y + LINE),
        ):
            box = (left, y - LINE / 2, left + wide, y + LINE / 2)
            if left >= LEFT and left + wide <= RIGHT + ROUND and not _covers(box, taken):
                taken.append(box)
                x = left + {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
                yield PointLabel(x=f"{x:.1f}", y=f"{y:.1f}", anchor=anchor, text=point.label)
                break


def _covers(box: Box, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    return any(left < r and x < right and top < b and y < bottom for x, y, r, b in taken)


def _across(value: float, most: float) -> float:
    return LEFT + value / most * (RIGHT - LEFT)


def _up(value: float, most: float) -> float:
    return BOTTOM - value / most * (BOTTOM - TOP)


def _ticks(most: float) -> list[float]:
    """Return whole round numbers from 0 to at least `most`, of 1 or more; at most TICKS steps."""
    least = 10.0 ** max(0, math.floor(math.log10(most / TICKS)))
    steps = (least * s for s in STEPS if (least * s).is_integer())
    step = next(each for each in steps if each * TICKS >= most)
    return [k * step for k in range(math.ceil(round(most / step, 9)) + 1)]
