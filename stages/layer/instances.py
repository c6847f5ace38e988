"""Find what one invocation of each task runs.

Paper    V Sec. 5.1, (11)-(16)
Reads    lair.isl, adapted.isl, tasks.yaml, routes.isl, allocations.isl
Writes   instances.isl    per task T: T, T_known, T_access
Assumes  every element that a PE takes from a stream has one index there.
Ensures  T_known holds all symbolic constants with which T may be invoked.
Differs  index counts from the first element that a column needs, as adapters make it, V (5).
"""

from __future__ import annotations

import typing

from lairmake.stages.layer.task_sets import write_instances
from lairmake.stages.layer.texts.isl_files import Routing, read_adapted
from lairmake.stages.layer.texts.task_graph import read_graph
from lairmake.stages.skewing.elements import read_lair

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("lair.isl", "adapted.isl", "tasks.yaml", "routes.isl", "allocations.isl")
WRITES = ("instances.isl",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return instances.isl."""
    graph = read_graph(inputs.source("tasks.yaml"))
    lair = read_lair(inputs.objects("lair.isl"))
    adapted = read_adapted(inputs.objects("adapted.isl"))
    routes = Routing(inputs.objects("routes.isl"))
    allocations = inputs.objects("allocations.isl")
    return {"instances.isl": write_instances(graph, lair, adapted, routes, allocations)}
