"""Allocate local memory for the tensors that a PE keeps.

Paper    V Sec. 4.3, (7)-(9)
Reads    lair.isl, adapted.isl, tasks.yaml, routes.isl
Writes   allocations.isl    accessed, to_local, local
Assumes  the placement is single-valued.
Ensures  0 <= l < size for every accessed element; to_local is injective per PE, in a ring among the
         elements that are in memory at a time.
Differs  the offset may be quasi-affine in the PE's coordinates: Sec. 4.3 does not need it affine. A
         tensor of which a PE keeps strips, or elements of a lattice, has dimensions along these;
         one that rolls has a dimension more, for the slots of its chunks, or lies where it depends
         on the chunk that is taken, if windows reach over several of them.
"""

from __future__ import annotations

import typing

from lairmake.stages.layer.task_sets import write_allocations
from lairmake.stages.layer.texts.isl_files import Routing, read_adapted
from lairmake.stages.layer.texts.task_graph import read_graph
from lairmake.stages.skewing.elements import read_lair

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("lair.isl", "adapted.isl", "tasks.yaml", "routes.isl")
WRITES = ("allocations.isl",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return allocations.isl."""
    graph = read_graph(inputs.source("tasks.yaml"))
    lair = read_lair(inputs.objects("lair.isl"))
    adapted = read_adapted(inputs.objects("adapted.isl"))
    routes = Routing(inputs.objects("routes.isl"))
    return {"allocations.isl": write_allocations(graph, lair, adapted, routes)}
