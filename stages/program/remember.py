"""Give every entry of the graph an address, and memory that nobody needs any more to others.

Paper    E Sec. 5.5
Reads    program.yaml, objects.yaml, graph.yaml, accesses.isl
Writes   addresses.yaml
Assumes  ids of nodes are in the order in which they run.
Ensures  entries that live at one time do not overlap; arrays are aligned.
"""

from __future__ import annotations

import typing

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.program.irg.addresses import check_room, place_entries, write_addresses
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.irg.regions import read_regions

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("program.yaml: machine", "objects.yaml", "graph.yaml", "accesses.isl")
WRITES = ("addresses.yaml",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return addresses.yaml."""
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    accesses = read_regions(inputs.source("accesses.isl"), graph)
    machine = read_machine(inputs.program(), inputs)
    addresses = place_entries(graph, accesses, machine.bank_alignment, machine.banks)
    check_room(addresses, machine, _find_source(inputs))
    return {"addresses.yaml": write_addresses(addresses)}


def _find_source(inputs: Inputs) -> Source | None:
    """Return the source, for the places of errors; None where it cannot be read."""
    try:
        return inputs.unnoted().program_source()
    except (UserError, UserErrors):
        return None
