"""Put the parts of a network on one fabric, with bridges between them.

Paper    no paper has it: V Sec. 1 breaks a network up into parts, and each is compiled by itself
Reads    network.yaml, crossings.yaml, parts.yaml, */crossed.isl, */layer.yaml,
         */chosen.yaml, */build/layout.yaml
Writes   layout.yaml, build/bridges/pe_*.c
Assumes  what crosses agrees on both ends (connect); the programs of a part count PEs from its own.
Ensures  a part has the PEs, queues, colours and routes that it has alone, elsewhere: its programs
         run as they are. No wavelet comes from one part to another but over bridges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.fabric.grid import check_texts
from lairmake.stages.fabric.layout import (
    FabricLayout,
    PortEntry,
    PortExit,
    read_layout,
    write_layout,
)
from lairmake.stages.lair.layer import Tensor
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.network_yaml import (
    End,
    Network,
    describe_network,
    read_graph,
    read_network_file,
)
from lairmake.stages.network.crossing import CrossingStop, check_crossing
from lairmake.stages.network.whole.joined import PARTS, describe_whole, link, name_bridge
from lairmake.stages.network.whole.joints import Joint, list_joints
from lairmake.stages.poly.sides import bounding_rectangle
from lairmake.stages.shipped import shipped
from lairmake.stages.templates import template_in

if TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

# --- Agreement of layouts -------------------------------------------------------------------------
#
# The layouts of two parts say how tensors leave and arrive; `crossing` says when the two ends
# agree.

NOWHERE = Span(source=Source(path="", text=""), start=0, end=0)


def check_ends(
    joints: Sequence[Joint], layouts: Mapping[str, FabricLayout], moves: Mapping[str, isl.Map]
) -> Iterator[UserError]:
    """Yield an error for each crossing whose ends do not agree.

    `moves` has { output[e] -> input[e'] } by the input, `part.x`, for the crossings to check.
    """
    for joint in joints:
        to, (given,) = joint.crossing.to, joint.crossing.given
        if str(to) in moves:
            source, target = layouts[given.end.part], layouts[to.part]
            leaving = _stop(given.end, source, source.departures.values())
            arriving = _stop(to, target, target.arrivals.values())
            try:
                check_crossing(leaving, moves[str(to)], arriving, joint.crossing.span)
            except UserError as error:
                yield error


def _stop(end: End, layout: FabricLayout, streams: Iterable[PortEntry | PortExit]) -> CrossingStop:
    """Return the stop where a tensor leaves a part, or arrives, in coordinates of its layout."""
    first, *others = (each for each in streams if each.tensor == end.tensor)
    order = isl.Map(first.order)
    for each in others:
        order = order.union(isl.Map(each.order))
    return CrossingStop(
        end=end, tensor=Tensor(name=end.tensor, type=first.type, shape=(), span=NOWHERE),
        order=order.coalesce(), target=bounding_rectangle(isl.Set(layout.grid)), times=1,
    )

DATA = ("../../templates/bridge.c.j2",)
READS = (
    "network.yaml: parts, tensors, floorplan",
    "parts.yaml",
    "crossings.yaml",
    "*/crossed.isl",
    "*/layer.yaml: machine, invocations",
    "*/chosen.yaml",
    "*/build/layout.yaml",
)
WRITES = ("layout.yaml", "build/bridges/pe_*.c")
TITLE = """The fabric of all parts. Their programs are in build/simd of each, bridges here.
What is of a part is called part.name, and a colour by its number, which is another one in each."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return layout.yaml and the programs of bridges. Raises UserErrors for other networks."""
    network = _network(inputs)
    profile = _profile(inputs, network)
    layouts = {name: _layout(inputs, name) for name in network.parts}
    moves = dict(_moves(inputs, network))
    joints, errors = list_joints(network, layouts, moves)
    errors += check_ends(joints, layouts, moves)
    if errors:
        raise UserErrors(errors)
    linked = link(network, layouts, joints, profile)
    spelled = template_in(shipped("templates"), "bridge.c.j2", __name__)
    programs = {
        f"build/bridges/pe_{name_bridge(pair)}.c": spelled.render(heard=pair[0], sent=pair[1])
        for pair in linked.bridges
    }
    return {"layout.yaml": write_layout(linked.layout, TITLE), **programs}


def _network(inputs: Inputs) -> Network:
    if inputs.names(PARTS):
        graph = inputs.file_or_empty("network.yaml", read_graph)
        return describe_whole(graph, inputs.yaml(PARTS))
    return describe_network(inputs.file("network.yaml", read_network_file))


def _moves(inputs: Inputs, network: Network) -> Iterator[tuple[str, isl.Map]]:
    """Yield { output[e] -> input[e'] } of each input made of one output whose elements move."""
    for crossing in network.crossings:
        if not crossing.is_whole and len(crossing.given) == 1:
            moved = inputs.part(crossing.to.part).objects("crossed.isl")
            yield str(crossing.to), isl.Map.from_union_map(moved[f"{crossing.to.tensor}_0"])


def _layout(inputs: Inputs, part: str) -> FabricLayout:
    source = inputs.part(part).source("build/layout.yaml")
    layout = read_layout(source)
    check_texts(layout, source)
    return layout


def _profile(inputs: Inputs, network: Network) -> Profile:
    """Return the machine of all parts.

    Raises UserErrors for a part with another machine, or with another number of runs.
    """
    mappings = {name: inputs.part(name).mapping() for name in network.parts}
    profiles = {n: read_machine(m, inputs.part(n)) for n, m in mappings.items()}
    first, *others = network.parts
    errors = []
    for name in others:
        span = network.spans[name]
        if profiles[name] != profiles[first]:
            hint = "one fabric is one machine: give both the same `machine`"
            errors.append(UserError(f"{name} is not for the machine of {first}", span, hint))
        if mappings[name].invocations != mappings[first].invocations:
            hint = "on one fabric all parts run as often: give them the same `invocations`"
            said = f"{first} runs {mappings[first].invocations} times"
            found = f"{said}, and {name} {mappings[name].invocations}"
            errors.append(UserError(found, span, hint))
    if errors:
        raise UserErrors(errors)
    return profiles[first]
