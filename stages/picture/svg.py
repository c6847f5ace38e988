"""Pictures of grids for papers, in SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.grid import SIDES, STEPS, Grid, read_colours, read_grid, read_roles
from lairmake.stages.fabric.layout import FabricLayout, PortEntry, PortExit
from lairmake.stages.picture.grid import find_frames, find_lanes, find_places
from lairmake.stages.shipped import shipped
from lairmake.stages.templates import template_in

# --- Outlines of parts, with names that do not meet -----------------------------------------------

LETTER, LINE = 6.4, 14.0
"""Width of a letter, and distance between lines of names, both about, in pixels."""
Box = tuple[float, float, float, float]
"""West, north, east and south of a drawn thing, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A part as a path, and the place of its name; a narrow part has a line from there."""

    part: str
    path: str
    x: str
    y: str


def outline_parts(
    layout: FabricLayout, grid: Grid, size: float, taken: Iterable[Box]
) -> list[Outline]:
    """Return the outlines of the parts of a layout; names stand in the first free line above them.

    `size` is that of a PE in pixels, and `taken` are boxes in which something stands.
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

# --- Grid of a layout: roles, streams, ports, parts -----------------------------------------------
#
# PEs that are alike side by side are one rectangle, and a stream that goes straight on is one line,
# so the picture of a large grid is small.

DATA = ("../../templates/grid.svg.j2",)
"""The template, in a checkout and where it is installed."""
LARGEST, SMALLEST, WIDEST, AROUND = 56.0, 1.0, 900.0, 44.0
"""Largest and least side of a PE, width of a grid of many, and room for ports, in pixels."""
DOTS_FROM = 16.0
"""Side of a PE, in pixels, from which dots show where PEs take and send."""
UNSEEN = 2.0
"""Gap between lines, in pixels, up to which it is closed."""
TINTS = ("#dfe8f2", "#f6e5c8", "#dbecdc", "#eaddf0", "#f8dcd6", "#d3ecef", "#ece8b6", "#e4e4e4")
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#3d9bd8", "#882255", "#6f7d1f")
DASHES = ("", "5 3", "1.5 3", "9 3 1.5 3")
"""Dashes of streams of one hue, as on a page."""
MIDDLE = "middle"
ANCHORS = {-1: "end", 0: MIDDLE, 1: "start"}
"""Anchors of the names of ports, by the step to the west or east."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class SvgRectangle:
    """PEs of one role, in pixels."""

    x: str
    y: str
    width: str
    height: str
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SvgDrawing:
    """A stream as paths.

    These are its lines, heads of arrows where it leaves PEs, dots where PEs are given it, and rings
    where they send it.
    """

    colour: str
    dash: str
    lines: str
    heads: str
    dots: str
    rings: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SvgLabel:
    """A port: the name of its tensor, and an arrow between the name and the grid."""

    text: str
    x: str
    y: str
    anchor: str
    path: str
    head: str
    colour: str


def draw_grid(layout: FabricLayout) -> str:
    """Return the SVG of a layout. Raises ValueError for a wrong layout."""
    grid = read_grid(layout.grid)
    size = min(LARGEST, max(SMALLEST, WIDEST / max(grid.width, grid.height)))
    colours = read_colours(layout.colours, grid)
    lanes = find_lanes(np.any(colours.routes, axis=(0, 2)))
    offsets = [_offset(lane, max(lanes, default=0) + 1) for lane in lanes]
    merged = np.bitwise_or.reduce(colours.routes, axis=0)
    streams = [
        _stream(merged[c.number].reshape(-1, grid.height, grid.width), at, offsets[c.number], size)
        for at, c in enumerate(layout.colours.values())
    ]
    labels = list(_labels(layout, grid, offsets, size)) if size >= DOTS_FROM else []
    outlines = outline_parts(layout, grid, size, list(_rooms(labels)))
    lengths = {
        "beside": max([AROUND, *(LETTER * len(e.text) + 28 for e in labels if e.anchor != MIDDLE)]),
        "above": max([AROUND, *(14 - float(each.y) for each in outlines)]),
        "size": size, "line": max(0.5, size / 32), "gap": size * 0.07, "dot": _mark(size),
        "hole": _mark(size) / 2, "inner_width": grid.width * size,
        "inner_height": grid.height * size,
    }
    return template_in(shipped("templates"), "grid.svg.j2", __name__).render(
        width=spell(lengths["inner_width"] + 2 * lengths["beside"]),
        height=spell(lengths["inner_height"] + lengths["above"] + AROUND),
        has_gaps=size >= 4, rectangles=list(_rectangles(layout, grid, size)), streams=streams,
        labels=labels, outlines=outlines,
        **{name: spell(length) for name, length in lengths.items()},
    )


def _offset(lane: int, count: int) -> float:
    """Return how far from the middle of a PE a lane is, in PEs."""
    return (lane - (count - 1) / 2) * min(0.11, 0.56 / count)


def _rectangles(layout: FabricLayout, grid: Grid, size: float) -> Iterator[SvgRectangle]:
    roles = read_roles(layout.roles, grid).reshape(grid.height, grid.width)
    for number in range(len(layout.roles)):
        for x, y, width, height in list_rectangles(roles == number):
            yield SvgRectangle(
                x=spell(x * size), y=spell(y * size), width=spell(width * size),
                height=spell(height * size), colour=TINTS[number % len(TINTS)],
            )


def list_rectangles(here: Bools) -> Iterator[tuple[int, int, int, int]]:
    """Yield x, y, width and height of rectangles that make up a set of PEs, [height][width].

    Equal rows, one below the other, are cut alike.
    """
    changes = np.flatnonzero(np.any(here[1:] != here[:-1], axis=1)) + 1
    starts = [0, *changes.tolist()]
    for first, end in zip(starts, [*starts[1:], len(here)], strict=True):
        for begin, stop in list_runs(here[first]):
            yield begin, first, stop - begin, end - first


def list_runs(here: Bools, gap: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the runs of true values in a row: the first index, and the one after the last.

    Between two runs there are more than `gap` false values: nearer ones are one run.
    """
    edges = np.flatnonzero(np.diff(here.astype(np.int8), prepend=0, append=0))
    begins, ends = edges[::2], edges[1::2]
    far = begins[1:] - ends[:-1] > gap
    firsts, lasts = begins[:1].tolist() + begins[1:][far].tolist(), ends[:-1][far].tolist()
    yield from zip(firsts, lasts + ends[-1:].tolist(), strict=True)


def _stream(to: NDArray[np.uint8], at: int, offset: float, size: float) -> SvgDrawing:
    """Draw a stream; `to` is [side from][height][width], of bits of sides."""
    out = np.bitwise_or.reduce(to, axis=0)
    sides = out.copy()
    for side in range(len(SIDES)):
        sides |= (to[side] != 0).astype(np.uint8) << side
    given, sent = out & (1 << SIDES.index("ramp")) != 0, to[SIDES.index("ramp")] != 0
    rows = _lines(_halves(sides, "W", "E"), offset, size, upright=False)
    columns = _lines(_halves(sides.T, "N", "S"), offset, size, upright=True)
    return SvgDrawing(
        colour=HUES[at % len(HUES)], dash=DASHES[at // len(HUES) % len(DASHES)],
        lines=" ".join([*rows, *columns]),
        heads=" ".join(_heads(out, offset, size)),
        dots=" ".join(_points(given, offset, size)), rings=" ".join(_points(sent, offset, size)),
    )


def _halves(sides: NDArray[np.uint8], before: str, behind: str) -> Bools:
    """Return [line][2 * cell]: whether a stream runs from each side to the middle of each PE."""
    found = [(sides & (1 << SIDES.index(side))) != 0 for side in (before, behind)]
    return np.stack(found, axis=-1).reshape(len(sides), -1)


def _lines(halves: Bools, offset: float, size: float, upright: bool) -> Iterator[str]:
    """Yield paths of lines along rows, or columns; they bend where a stream has its lane."""
    gap = int(2 * UNSEEN / size)
    for line in np.flatnonzero(halves.any(axis=1)).tolist():
        across = spell((line + 0.5 + offset) * size)
        for begin, end in list_runs(halves[line], gap):
            ends = [spell(_end(each, offset) * size) for each in (begin, end)]
            yield (f"M{across} {ends[0]}V{ends[1]}" if upright else
                   f"M{ends[0]} {across}H{ends[1]}")


def _end(half: int, offset: float) -> float:
    """Return where a half of a PE begins: at its side, or where the stream has its lane in it."""
    return half / 2 + (offset if half % 2 else 0)


def _points(here: Bools, offset: float, size: float) -> Iterator[str]:
    """Yield paths of points, which round ends of lines make dots; none where PEs are small."""
    if size >= DOTS_FROM:
        for y, x in np.argwhere(here).tolist():
            place = ((each + 0.5 + offset) * size for each in (x, y))
            yield "M{} {}h0".format(*map(spell, place))


def _heads(out: NDArray[np.uint8], offset: float, size: float) -> Iterator[str]:
    """Yield the heads of arrows at the sides that a stream goes out of PEs; none of small ones."""
    for side in SIDES[:-1] if size >= DOTS_FROM else ():
        dx, dy = STEPS[side]
        for y, x in np.argwhere(out & (1 << SIDES.index(side)) != 0).tolist():
            at = (x + 0.5 + (dx / 2 or offset)) * size, (y + 0.5 + (dy / 2 or offset)) * size
            yield _head(at, (dx, dy), _mark(size))


def _mark(size: float) -> float:
    """Return how large a dot is, or the head of an arrow, in a PE of a size."""
    return min(6.0, size / 6)


def _head(tip: tuple[float, float], step: tuple[int, int], size: float = 6.0) -> str:
    """Return the path of an arrow's head."""
    (x, y), (dx, dy), long, half = tip, step, 5 * size / 6, size / 2
    back = [(x - long * dx + half * s * dy, y - long * dy + half * s * dx) for s in (1, -1)]
    points = (spell(each) for each in (x, y, *back[0], *back[1]))
    return "M{} {}L{} {}L{} {}z".format(*points)


def _labels(
    layout: FabricLayout, grid: Grid, offsets: Sequence[float], size: float
) -> Iterator[SvgLabel]:
    numbers = {name: each.number for name, each in layout.colours.items()}
    hues = dict(zip(layout.colours, range(len(layout.colours)), strict=True))
    ports: list[PortEntry | PortExit] = [*layout.arrivals.values(), *layout.departures.values()]
    for port in ports:
        colour = port.colour if isinstance(port, PortEntry) else port.colours[0]
        hue = HUES[hues[colour] % len(HUES)]
        yield from _labels_of(port, grid, offsets[numbers[colour]], size, hue)


def _labels_of(
    port: PortEntry | PortExit, grid: Grid, offset: float, size: float, colour: str
) -> Iterator[SvgLabel]:
    dx, dy = STEPS[port.side]
    places = find_places(isl.Map(port.order))
    for x, y in zip(*(each.tolist() for each in places), strict=True):
        lane = [0.0 if step else offset for step in (dx, dy)]
        middle = [(x - grid.west + 0.5 + lane[0]) * size, (y - grid.north + 0.5 + lane[1]) * size]
        near = [middle[0] - dx * size / 2, middle[1] - dy * size / 2]
        far = [near[0] + dx * AROUND * 0.45, near[1] + dy * AROUND * 0.45]
        enters = isinstance(port, PortEntry)
        tip, step = (near, (-dx, -dy)) if enters else (far, (dx, dy))
        off = AROUND * (0.55 if dx else 0.72)
        yield SvgLabel(
            text=port.tensor, colour=colour, head=_head((tip[0], tip[1]), step),
            x=spell(near[0] + dx * off), y=spell(near[1] + dy * off), anchor=ANCHORS[dx],
            path="M{} {}L{} {}".format(*map(spell, (*near, *far))),
        )


def _rooms(labels: Sequence[SvgLabel]) -> Iterator[Box]:
    """Yield what each name of a port above or below the grid takes, with its arrow."""
    for label in labels:
        if label.anchor == MIDDLE:
            x, y, half = float(label.x), float(label.y), LETTER * len(label.text) / 2 + 2
            yield x - half, y - 8, x + half, y + AROUND
