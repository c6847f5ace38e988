"""Enumerate the sizes of instance sets that are boxes, but not of one fixed size.

Paper    V Sec. 5.4, (42) (43), Ex. 5.10
Reads    layer.yaml, chosen.yaml, tasks.yaml, instances.isl, compressions.isl
Writes   sizes.isl    per task T: T_sizes, T_offset, T_hull, T_identifiers
Assumes  the symbolic constants with which a task is invoked are known.
Ensures  a size is T_offset plus an identifier; an identifier lies in the box T_hull.
"""

from __future__ import annotations

import typing

from lairmake.stages.layer.task_sets import write_sizes
from lairmake.stages.layer.texts.isl_files import Compressions, Instances
from lairmake.stages.layer.texts.task_graph import read_graph

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: simd.prefer",
    "chosen.yaml",
    "tasks.yaml",
    "instances.isl",
    "compressions.isl",
)
WRITES = ("sizes.isl",)


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return sizes.isl."""
    graph = read_graph(inputs.source("tasks.yaml"))
    instances = Instances(inputs.objects("instances.isl"))
    compressed = Compressions(inputs.objects("compressions.isl"))
    prefer = inputs.mapping().simd.prefer
    return {"sizes.isl": write_sizes(graph, instances, compressed, prefer)}
