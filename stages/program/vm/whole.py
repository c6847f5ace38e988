"""The virtual machine, painted: all of its regions above each other.

Paper    E Sec. 6.2, Listing 12
"""

from __future__ import annotations

from functools import lru_cache

from lairmake.stages.program.regions.region import Region, unite
from lairmake.stages.program.vm.checker import paint_checker
from lairmake.stages.program.vm.control import paint_control
from lairmake.stages.program.vm.features import Features, list_colours
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.roles import paint_roles
from lairmake.stages.program.vm.sums import paint_sums
from lairmake.stages.program.vm.trees import paint_trees


@lru_cache(maxsize=1)
def paint_machine(geometry: Geometry, features: Features) -> Region:
    """Return the virtual machine for what a program uses; at least 4 columns, 1 response a side.

    The last one is kept: paint writes it, and lower looks whether somebody edited it.
    """
    painted = [paint_roles(geometry), paint_control(geometry),
               paint_trees(geometry, list_colours(features))]
    if features.neighbours:
        painted.append(paint_checker(geometry))
    if features.sums:
        painted.append(paint_sums(geometry, features.executive_sums))
    return unite(*painted)
