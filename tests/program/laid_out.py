"""The virtual machine of a field, painted, and as a layout without tensors."""

from functools import cache

import numpy as np

from lairmake.stages.diagnose import Source
from lairmake.stages.fabric.grid import read_colours, read_grid
from lairmake.stages.fabric.layout import FabricLayout, Role, RoleMemory
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.program.vm.colours import Features, number_colours
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.machine import paint_machine
from lairmake.stages.program.vm.paint_isl import read_painting, write_painting

ALL = Features(neighbours=True, worker_sums=True, executive_sums=True, global_scalars=True)


@cache
def paint_text(width, height, responses=1, features=ALL):
    geometry = Geometry(width=width, height=height, responses=responses)
    return write_painting(paint_machine(geometry, features))


@cache
def paint(width, height, responses=1, features=ALL):
    """Return what is read of the text that is painted."""
    text = paint_text(width, height, responses, features)
    return read_painting(Source(path="paint.isl", text=text))


def make_layout(painting, width, height, profile="wse2"):
    return FabricLayout(
        grid=f"{{ PE[x, y] : 0 <= x < {width} and 0 <= y < {height + 3} }}",
        roles={name: Role(at=str(pes), memory=RoleMemory(data=0, code=0), tensors={})
               for name, pes in painting.roles.items()},
        colours=number_colours(painting.colours, load_profile(profile)),
        arrivals={}, departures={},
    )


def read_routes(layout):
    """Return the grid, and colours as the engine gets them."""
    grid = read_grid(layout.grid)
    return grid, read_colours(layout.colours, grid)


def nothing(dtype):
    return np.zeros(0, dtype)
