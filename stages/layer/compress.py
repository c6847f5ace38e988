"""Compress the instance sets: the same instances in fewer dimensions.

Paper    V Sec. 5.2, (17)-(34)
Reads    tasks.yaml, instances.isl
Writes   compressions.isl    per task T: T_compression, T, T_access
Assumes  T_known holds the symbolic constants with which T is invoked.
Ensures  T_compression is a bijection from the compressed instance set to the instance set.
         Raises TooManyOperations for a task on which isl would work for minutes.
Differs  an equality that is not written in the set, as in V Ex. 5.7, is removed as well. Instances
         in strips, as those of a block-cyclic placement, have dimensions along these.
"""

from __future__ import annotations

import typing

from lairmake.stages.layer.task_sets import write_compressions
from lairmake.stages.layer.texts.isl_files import Instances
from lairmake.stages.layer.texts.task_graph import read_graph

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("tasks.yaml", "instances.isl")
WRITES = ("compressions.isl",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return compressions.isl."""
    graph = read_graph(inputs.source("tasks.yaml"))
    instances = Instances(inputs.objects("instances.isl"))
    return {"compressions.isl": write_compressions(graph, instances)}
