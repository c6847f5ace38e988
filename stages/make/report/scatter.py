"""A plot of several builds as a picture of its own: cycles over PEs, the Pareto front as a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lairmake.stages.make.report.compared import Row, front_of, is_right, knows_pes, work_of
from lairmake.stages.make.report.compared_table import cells_of
from lairmake.stages.shipped import shipped
from lairmake.stages.templates import template_in

DATA = ("../../../templates/scatter.svg.j2",)
"""In a checkout, and where it is installed."""
LEFT, RIGHT, TOP, BOTTOM = 70, 690, 30, 370
STEPS = (1, 2, 2.5, 5, 10)
TICKS = 6
LONGEST = 28
"""How many characters a label has at most."""
LETTER, LINE = 6.2, 13.0
"""How wide a character of a label is at most, and how high a line, in pixels."""
ROUND = 5.0
"""How far from a point a label stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of an axis: where it stands, in pixels, and what it says."""

    at: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A build: where it stands, whether on the front, its label or nothing, and all about it."""

    x: float
    y: float
    is_front: bool
    work: tuple[str, ...]
    label: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text beside a point: where it begins, or ends."""

    x: str
    y: str
    anchor: str
    text: str


Box = tuple[float, float, float, float]


def scatter(rows: Sequence[Row]) -> str:
    """Return the SVG of the rows that are right: over the number of a row where PEs are not known.

    The front lies on top. A label that would cover another one, or a point, is left out; all is in
    the title of its point.
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


def _places(rows: Sequence[Row], has_pes: bool) -> Iterator[tuple[int, int, int]]:
    """Yield across and up of each row that is right, and its number."""
    for at, row in enumerate(rows):
        if row.figures is not None and is_right(row):
            yield (row.figures.pes or 0) if has_pes else at + 1, row.figures.cycles, at


def _points(
    rows: Sequence[Row], has_pes: bool, most_x: float, most_y: float
) -> Iterator[Point]:
    front = front_of(rows)
    for x, y, at in _places(rows, has_pes):
        said = " ".join(" ".join(text.split()) for text in rows[at].keys.values())
        keys = ", ".join(f"{key} {' '.join(text.split())}" for key, text in rows[at].keys.items())
        yield Point(
            x=_across(x, most_x), y=_up(y, most_y), is_front=at in front,
            work=work_of(rows[at]),
            label=said if len(said) <= LONGEST else f"{said[: LONGEST - 3]}...",
            title=f"{keys}: {', '.join(cells_of(rows[at]))}",
        )


def _fronts(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Yield the points of each front from left to right: of builds that have as much to do."""
    for work in dict.fromkeys(p.work for p in points):
        yield sorted(
            (p for p in points if p.is_front and p.work == work), key=lambda p: (p.x, p.y)
        )


def _labels(points: Sequence[Point]) -> Iterator[Label]:
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
                yield Label(x=f"{x:.1f}", y=f"{y:.1f}", anchor=anchor, text=point.label)
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
