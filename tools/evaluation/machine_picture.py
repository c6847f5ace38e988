"""Picture docs/virtual_machine.svg: the virtual machine of a small field, from its painting.

`python -m tools.evaluation.machine_picture` writes it.

Paper    E Fig. 2 and 4
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lairmake.stages.diagnose import Source
from lairmake.stages.fabric.grid import SIDES, STEPS, Grid, members, read_colours
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.program.vm.colours import Features, number_colours
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.machine import paint_machine
from lairmake.stages.program.vm.paint_isl import read_painting, write_painting
from lairmake.stages.program.vm.regions import Painting
from tools.evaluation.templates import template

PLACE = Path(__file__).resolve().parents[2] / "docs" / "virtual_machine.svg"
GEOMETRY = Geometry(width=10, height=6, responses=2)
SIZE, MARGIN = 48, 20
"""Pixels of a PE, and of the margin around all PEs."""

FILLS = {"worker": "#f4f4f4", "reduction": "#d9ead3", "response": "#fde5cd",
         "executive": "#f4b6b6", "merge": "#cfe2f3"}
LETTERS = {"response": "R", "executive": "E", "merge": "M"}
DRAWN = {
    "args": ("#3465a4", -8), "args_dist": ("#cc6600", 8), "ctrl_coord": ("#aa0000", 0),
    "reduction_1": ("#4e9a06", 8), "reduction_2": ("#4e9a06", 8), "reduction_4": ("#75507b", 14),
}
"""Colours that are drawn: their strokes, and their distances in pixels from the middle of PEs."""


def draw_machine() -> str:
    """Return the picture as SVG."""
    features = Features(worker_sums=True)
    text = write_painting(paint_machine(GEOMETRY, features))
    painting = read_painting(Source(path="paint.isl", text=text))
    grid = Grid(west=0, north=0, width=GEOMETRY.width, height=GEOMETRY.rows)
    return template("machine.svg.j2").render(
        width=grid.width * SIZE + 2 * MARGIN, height=grid.height * SIZE + 2 * MARGIN + 30,
        size=SIZE, pes=_list_pes(painting, grid), lines=_list_lines(painting, grid),
        legend=_list_legend(grid), ends={name: stroke for name, (stroke, _) in DRAWN.items()},
    )


def _list_pes(painting: Painting, grid: Grid) -> list[dict[str, Any]]:
    """Return a square for each PE, white where it has no role."""
    roles = {(x, y): "" for x in range(grid.width) for y in range(grid.height)}
    for role, pes in painting.roles.items():
        for y, x in np.argwhere(members(pes, grid)):
            roles[int(x), int(y)] = role
    return [{"x": MARGIN + x * SIZE, "y": MARGIN + y * SIZE, "fill": FILLS.get(role, "white"),
             "letter": LETTERS.get(role), "left": MARGIN + x * SIZE + 3,
             "top": MARGIN + y * SIZE + 11} for (x, y), role in roles.items()]


def _list_lines(painting: Painting, grid: Grid) -> list[dict[str, Any]]:
    """Return, of each colour that is drawn, a line to each side that a router sends to."""
    colours = read_colours(number_colours(painting.colours, load_profile("wse2")), grid)
    found = []
    for name, (stroke, shift) in DRAWN.items():
        routes = np.bitwise_or.reduce(colours.routes[:, colours.names.index(name)], axis=(0, 1))
        for side, (dx, dy) in ((each, STEPS[each]) for each in SIDES[:-1]):
            for pe in np.flatnonzero(routes >> SIDES.index(side) & 1):
                row, column = divmod(int(pe), grid.width)
                x, y = (MARGIN + k * SIZE + SIZE // 2 + shift for k in (column, row))
                found.append({"x": x, "y": y, "to_x": x + dx * (SIZE - 6),
                              "to_y": y + dy * (SIZE - 6), "stroke": stroke, "name": name})
    return found


def _list_legend(grid: Grid) -> list[dict[str, Any]]:
    """Return what fills and strokes mean, in two rows below."""
    top = MARGIN + grid.height * SIZE + 18
    strokes = {"args, ctrl": "args", "args_dist, ctrl_dist": "args_dist",
               "ctrl_coord": "ctrl_coord", "reduction_1, 2": "reduction_1",
               "reduction_4": "reduction_4"}
    roles = {f"{LETTERS[role]}: {role}" if role in LETTERS else role: fill
             for role, fill in FILLS.items()}
    lefts = [MARGIN + each for each in (0, 80, 205, 290, 390)]
    rows = [roles, {said: DRAWN[name][0] for said, name in strokes.items()}]
    return [{"x": x, "right": x + 14, "top": top + 16 * row - 8, "y": top + 16 * row,
             "fill": fill, "text": said}
            for row, each in enumerate(rows)
            for x, (said, fill) in zip(lefts, each.items(), strict=True)]


if __name__ == "__main__":
    PLACE.write_text(draw_machine(), encoding="utf-8")
