"""Draw the grid of a layer, a program or a network on one fabric, for a paper.

Paper    no source
Reads    build/layout.yaml, layout.yaml
Writes   build/grid.svg
Assumes  the layout is one of a fabric (render, lower): of a network it is layout.yaml (link).
Ensures  the same layout gives the same bytes.
"""

from __future__ import annotations

import typing

from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.picture.svg import draw_grid

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("build/layout.yaml", "layout.yaml")
WRITES = ("build/grid.svg",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return build/grid.svg."""
    whole = inputs.names("layout.yaml")
    layout = read_layout(inputs.source(whole[0] if whole else "build/layout.yaml"))
    return {"build/grid.svg": draw_grid(layout)}
