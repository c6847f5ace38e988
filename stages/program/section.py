"""Cut the graph into sections, vectors of calls of procedures, and the states of the executive.

Paper    E Sec. 4.1, 6.1.1, 6.1.2
Reads    program.yaml, objects.yaml, graph.yaml, accesses.isl, addresses.yaml, exchanges.isl,
         filters.isl
Writes   sections.yaml
Assumes  an exchange is between neighbours (exchange); entries do not overlap while they live.
Ensures  calls run in the order of the graph; vectors fit into the memory of the response PEs.
"""

from __future__ import annotations

import typing

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.program.irg.addresses import read_addresses
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.irg.regions import read_regions
from lairmake.stages.program.sections.calls import Caller
from lairmake.stages.program.sections.cutting import make_sections
from lairmake.stages.program.sections.hops import list_boxes
from lairmake.stages.program.sections.hops_isl import FILTERS_HINT, read_exchanges, read_filters
from lairmake.stages.program.sections.sections_yaml import write_sections

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "program.yaml: machine, control.responses",
    "objects.yaml",
    "graph.yaml",
    "accesses.isl",
    "addresses.yaml",
    "exchanges.isl",
    "filters.isl",
)
WRITES = ("sections.yaml",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return sections.yaml."""
    program = inputs.program()
    machine = read_machine(program, inputs)
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    accesses = inputs.source("accesses.isl")
    regions = read_regions(accesses, graph)
    addresses = read_addresses(inputs.source("addresses.yaml"), graph)
    hops = read_exchanges(inputs.source("exchanges.isl"), graph, regions, accesses)
    source = inputs.source("filters.isl")
    filters = {box: n for n, box in enumerate(read_filters(source, graph.field))}
    for box in list_boxes(graph, regions, hops):
        if box not in filters:
            left, right, top, bottom = box
            said = f"{source.path} has no filter of columns {left} to {right}, rows {top} to " \
                   f"{bottom}"
            raise UserError(said, hint=FILTERS_HINT)
    caller = Caller(graph=graph, regions=regions, addresses=addresses, hops=hops, filters=filters)
    span = program.span("control", "responses")
    sections = make_sections(
        caller, machine, program.control.responses, span, _find_source(inputs))
    return {"sections.yaml": write_sections(sections)}


def _find_source(inputs: Inputs) -> Source | None:
    """Return the source, for the places of errors; None where it cannot be read."""
    try:
        return inputs.unnoted().program_source()
    except (UserError, UserErrors):
        return None
