"""Outlines of the parts of a network in a picture for a paper, with names that do not meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from lairmake.stages.fabric.grid import Grid
from lairmake.stages.fabric.layout import Layout
from lairmake.stages.picture.framed import find_frames

LETTER, LINE = 6.4, 14.0
"""About how wide a letter is, and how far apart lines of names are, in pixels."""
Box = tuple[float, float, float, float]
"""West, north, east and south of what is drawn, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A part as a path, and its name: where it begins, with a line from there to a narrow part."""

    part: str
    path: str
    x: str
    y: str


def outline_parts(layout: Layout, grid: Grid, size: float, taken: Iterable[Box]) -> list[Outline]:
    """Return the parts of a layout, each with its name in the first line above it that is free.

    `size` is that of a PE in pixels, and `taken` is where something stands.
    """
    found, boxes = [], list(taken)
    for frame in sorted(find_frames(layout), key=lambda each: (each.y, each.x)):
        x, y = (frame.x - grid.west) * size, (frame.y - grid.north) * size
        width, height, long = frame.width * size, frame.height * size, LETTER * len(frame.part)
        left = x + (2 if long + 2 <= width else (width - long) / 2)
        lines = ((left, y - 16 - LINE * n, left + long, y - 4 - LINE * n) for n in count())
        box = next(line for line in lines if not any(_meet(line, other) for other in boxes))
        boxes.append(box)
        sides = "M{} {}h{}v{}H{}z".format(*map(spell, (x, y, width, height, x)))
        is_far = box[3] < y - LINE and long + 2 > width
        up = f"M{spell(x + width / 2)} {spell(box[3])}V{spell(y)}" if is_far else ""
        found.append(
            Outline(part=frame.part, path=sides + up, x=spell(left), y=spell(box[3] - 1))
        )
    return found


def spell(length: float) -> str:
    """Return a length, or a place, in hundredths of a pixel."""
    return f"{length:.2f}".rstrip("0").rstrip(".")


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
