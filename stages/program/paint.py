"""Paint the virtual machine: which PE has which role, and where routers send each colour.

Paper    E Sec. 4, 6.2
Reads    program.yaml, objects.yaml, graph.yaml, filters.isl, sections.yaml
Writes   paint.isl
Assumes  nothing of sections but which procedures there are, and how many response PEs.
Ensures  no two properties of a PE clash; time does not grow with the field.
"""

from __future__ import annotations

import typing

from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.sections.sections_yaml import read_sections
from lairmake.stages.program.vm.colours import find_features
from lairmake.stages.program.vm.geometry import Geometry, check_colours, check_machine
from lairmake.stages.program.vm.machine import paint_machine
from lairmake.stages.program.vm.paint_isl import write_painting

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("program.yaml: machine", "objects.yaml", "graph.yaml", "filters.isl", "sections.yaml")
WRITES = ("paint.isl",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return paint.isl."""
    program = inputs.program()
    machine = read_machine(program, inputs)
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    sections = read_sections(
        inputs.source("sections.yaml"), inputs.source("filters.isl"), graph)
    width, height = graph.field
    geometry = Geometry(width=width, height=height, responses=sections.responses)
    check_machine(geometry, machine, program.span("machine"))
    region = paint_machine(geometry, find_features(sections))
    check_colours(region, machine, program.span("machine"))
    return {"paint.isl": write_painting(region)}
