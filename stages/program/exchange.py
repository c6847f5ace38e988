"""Find which operands lie on other PEs, by which hops they come, and which PEs take part in what.

Paper    E Sec. 4.3, 6.1.4
Reads    objects.yaml, graph.yaml, accesses.isl
Writes   exchanges.isl, filters.isl
Assumes  slices of PEs have step 1, so that those that take part are boxes.
Ensures  each hop is from a PE to its neighbour on one side, inside the field.
"""

from __future__ import annotations

import typing

from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.irg.regions import read_regions
from lairmake.stages.program.sections.hops import find_hops, list_boxes
from lairmake.stages.program.sections.hops_isl import write_exchanges, write_filters

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("objects.yaml", "graph.yaml", "accesses.isl")
WRITES = ("exchanges.isl", "filters.isl")


def run(inputs: Inputs) -> dict[str, str]:
    """Return exchanges.isl and filters.isl."""
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    accesses = inputs.source("accesses.isl")
    regions = read_regions(accesses, graph)
    hops = find_hops(graph, regions, accesses)
    filters = write_filters(list_boxes(graph, regions, hops))
    return {"exchanges.isl": write_exchanges(hops), "filters.isl": filters}
