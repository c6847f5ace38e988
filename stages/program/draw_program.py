"""Draw the grid of a program's machine, for a paper: roles, streams and ports.

Paper    no source
Reads    build/layout.yaml
Writes   build/grid.svg
Assumes  the layout is one of a fabric (lower).
Ensures  the same layout gives the same bytes.
"""

from __future__ import annotations

import typing

from stages.fabric.layout_yaml import read_layout
from stages.picture.svg import draw_grid

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("build/layout.yaml",)
WRITES = ("build/grid.svg",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return build/grid.svg."""
    return {"build/grid.svg": draw_grid(read_layout(inputs.source("build/layout.yaml")))}
