"""Write the programs of the virtual machine, one a role, and the layout that they run on.

Paper    E Sec. 6.1
Reads    program.yaml, objects.yaml, graph.yaml, accesses.isl, addresses.yaml, filters.isl,
         sections.yaml, paint.isl
Writes   build/vm/pe_*.c, build/program.yaml, build/layout.yaml
Assumes  arguments are as sections/program.py says.
Ensures  the programs need no more memory, queues and tasks than a PE has.
"""

from __future__ import annotations

import typing

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.fabric.layout import write_layout
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.pe.speller import spell
from lairmake.stages.pe.yaml import write_programs
from lairmake.stages.program.irg.addresses import read_addresses
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.irg.regions import read_regions
from lairmake.stages.program.lowering.lowered import Material
from lairmake.stages.program.lowering.programs import check_needs, make_layout, make_programs
from lairmake.stages.program.sections.sections_yaml import read_sections
from lairmake.stages.program.vm.colours import find_features, number_colours
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.paint_isl import check_painting, read_painting

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "program.yaml: machine",
    "objects.yaml",
    "graph.yaml",
    "accesses.isl",
    "addresses.yaml",
    "filters.isl",
    "sections.yaml",
    "paint.isl",
)
WRITES = ("build/vm/pe_*.c", "build/program.yaml", "build/layout.yaml")
VARIANT = "vm"
TITLE = "The fabric that the programs in build/vm run on."


def run(inputs: Inputs) -> dict[str, str]:
    """Return the programs, in C and as data, and build/layout.yaml."""
    profile = read_machine(inputs.program(), inputs)
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    sections = read_sections(
        inputs.source("sections.yaml"), inputs.source("filters.isl"), graph)
    painted = inputs.source("paint.isl")
    painting = read_painting(painted)
    (width, height), responses = graph.field, sections.responses
    geometry = Geometry(width=width, height=height, responses=responses)
    check_painting(painting, geometry, find_features(sections), painted.path)
    numbers = number_colours(painting.colours, profile)
    material = Material(
        graph=graph, accesses=read_regions(inputs.source("accesses.isl"), graph),
        addresses=read_addresses(inputs.source("addresses.yaml"), graph), sections=sections,
        geometry=geometry, profile=profile,
        colours={name: each.number for name, each in numbers.items()},
        variables=painting.variables, roles=painting.roles,
    )
    programs = make_programs(material)
    try:
        for each in programs:
            check_needs(each, material, _find_source(inputs))
        layout = make_layout(material, painting, programs)
    except UserError as error:
        span = error.span or inputs.program().span("machine")
        raise UserError(error.message, span, error.hint) from None
    listings = {each.role: each.listing for each in programs}
    return {
        **{f"build/{VARIANT}/pe_{role}.c": spell(each) for role, each in listings.items()},
        "build/program.yaml": write_programs({VARIANT: listings}),
        "build/layout.yaml": write_layout(layout, TITLE),
    }


def _find_source(inputs: Inputs) -> Source | None:
    """Return the source, for the places of errors; None where it cannot be read."""
    try:
        return inputs.unnoted().program_source()
    except (UserError, UserErrors):
        return None
