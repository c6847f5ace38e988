"""Draw what a program in NumPy became: its machine, its sections, and its memory over time.

Paper    no source
Reads    program.yaml, *.py, program.il, objects.yaml, graph.yaml, addresses.yaml, filters.isl,
         sections.yaml, build/data/*.npy, build/numpy/*.npy, build/graph/*.npy, build/counts.json,
         build/layout.yaml, build/vm/pe_*.c, build/results.json, build/usage.npz,
         build/sweep/sweep.json
Writes   build/report.html
Assumes  the program ran on the fabric (execute); it is run once more, and recorded, if that is
         short.
Ensures  the file needs no other one, and no network; the same inputs give the same bytes.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.picture.pages import (
    SWEEP,
    CallOnPage,
    Life,
    NodeOnPage,
    ProgramReport,
    read_sweep,
    report_program,
    report_stop,
)
from lairmake.stages.picture.run import describe_fabric, read_usage, record_again
from lairmake.stages.picture.tasks import describe_programs, find_role
from lairmake.stages.program.irg.addresses import Addresses, read_addresses
from lairmake.stages.program.irg.graph import (
    BranchNode,
    ForLoop,
    GraphNode,
    Item,
    Items,
    Leave,
    TransferNode,
    list_bodies,
)
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.lowering.running import record
from lairmake.stages.program.sections.program import Sections
from lairmake.stages.program.sections.sections_yaml import read_sections

if typing.TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import FabricStop
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "program.yaml",
    "*.py",
    "program.il",
    "objects.yaml",
    "graph.yaml",
    "addresses.yaml",
    "filters.isl",
    "sections.yaml",
    "build/data/*.npy",
    "build/numpy/*.npy",
    "build/graph/*.npy",
    "build/counts.json",
    "build/layout.yaml",
    "build/vm/pe_*.c",
    "build/results.json",
    "build/usage.npz",
    "build/sweep/sweep.json",
)
WRITES = ("build/report.html",)
TEXTS = ("program.yaml", "program.il", "graph.yaml", "sections.yaml", "addresses.yaml")


def run(inputs: Inputs) -> dict[str, str]:
    """Return build/report.html."""
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    addresses = read_addresses(inputs.source("addresses.yaml"), graph)
    sections = read_sections(inputs.source("sections.yaml"), inputs.source("filters.isl"), graph)
    layout = read_layout(inputs.source("build/layout.yaml"))
    usage = read_usage(inputs.content("build/usage.npz"))
    recorded = record_again(layout, usage, partial(record, inputs))
    return {"build/report.html": report_program(ProgramReport(
        title=_name(inputs), results=json.loads(inputs.text("build/results.json")),
        texts=_texts(inputs),
        fabric=describe_fabric(layout, describe_programs(_programs(inputs)), usage, recorded),
        nodes=tuple(_nodes(graph.items, 0)), lives=tuple(_lives(addresses)),
        calls=tuple(_calls(sections)), sweep=read_sweep(map(inputs.source, inputs.names(SWEEP))),
    ))}


def draw_stop(inputs: Inputs, stop: FabricStop) -> str:
    """Return the page of a program whose fabric stopped: it has no results."""
    field = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml")).field
    says = f"a program in NumPy on {' x '.join(map(str, field))} workers"
    return report_stop(
        stop, _name(inputs), says, _programs(inputs), _texts(inputs), partial(record, inputs)
    )


def _name(inputs: Inputs) -> str:
    """Return the name of the source: that of its folder does not change what is drawn."""
    return Path(inputs.program_source().path).name


def _texts(inputs: Inputs) -> dict[str, str]:
    return {
        _name(inputs): inputs.program_source().text,
        **{name: inputs.text(name) for name in TEXTS},
    }


def _programs(inputs: Inputs) -> dict[tuple[str, str], str]:
    """Return the programs of the virtual machine by role and variant, of which there is one."""
    return {
        (find_role(name), "simd"): inputs.text(name) for name in inputs.names("build/vm/pe_*.c")
    }


def _nodes(items: Items, depth: int) -> Iterator[NodeOnPage]:
    """Yield the items of a graph and of the graphs in it, in order."""
    for item in items:
        yield NodeOnPage(id=item.id, depth=depth, does=_does(item))
        for body in list_bodies(item):
            yield from _nodes(body, depth + 1)


def _does(item: Item) -> str:
    """Return what an item of the graph does, in a few words."""
    match item:
        case GraphNode():
            return f"{item.dst} = {item.op}({', '.join(map(str, item.src))})"
        case TransferNode():
            return f"takes {', '.join(item.src)}"
        case ForLoop():
            return f"for {item.name} over {item.over}"
        case Leave():
            return f"{item.op} {item.loop} when {item.when.format(*item.src)}"
        case BranchNode():
            return f"{item.name} if {item.when.format(*item.src)}"
    return f"{item.name} while {item.when.format(*item.src)}"


def _lives(addresses: Addresses) -> Iterator[Life]:
    for place in addresses.places.values():
        yield Life(
            name=place.name, space=place.space, address=place.address, bytes=place.bytes,
            first=place.first, last=place.last,
        )


def _calls(sections: Sections) -> Iterator[CallOnPage]:
    for number, calls in enumerate(sections.sections):
        for call in calls:
            yield CallOnPage(
                section=number, node="" if call.node is None else f"n{call.node}",
                procedure=sections.procedures[call.procedure].name,
                arguments=", ".join(map(str, call.arguments)),
            )
