"""Approximate compressed instance sets by boxes of fixed size.

Paper    V Sec. 5.3, (35)-(41), Ex. 5.8, 5.9
Reads    tasks.yaml, instances.isl, compressions.isl, allocations.isl
Writes   hulls.isl    per task T: T_offset, T_size, T_hull, T_extra, ..., T_minimum, T_maximum
Assumes  local memory is allocated for every element that a task accesses.
Ensures  T_hull holds all instances of T; T_outside and T_conflict what extra ones do harm to.
"""

from __future__ import annotations

import typing

from lairmake.stages.layer.task_sets import write_hulls
from lairmake.stages.layer.texts.isl_files import Compressions, Instances
from lairmake.stages.layer.texts.task_graph import read_graph

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("tasks.yaml", "compressions.isl", "instances.isl", "allocations.isl")
WRITES = ("hulls.isl",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return hulls.isl."""
    graph = read_graph(inputs.source("tasks.yaml"))
    instances = Instances(inputs.objects("instances.isl"))
    compressed = Compressions(inputs.objects("compressions.isl"))
    allocations = inputs.objects("allocations.isl")
    return {"hulls.isl": write_hulls(graph, instances, compressed, allocations)}
