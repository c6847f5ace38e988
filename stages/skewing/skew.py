"""Let PEs lag behind each other, so that neighbours use data one after the other.

Paper    M Sec. III
Reads    layer.yaml, chosen.yaml, *.lair, lair.isl, placement.isl, schedule.isl
Writes   skewed.isl    before, schedule: { statement[iterators] -> [t...] }
         skew.yaml     per statement: lag, steps, and per tensor what is broadcast, and why
Assumes  the placement is total, and instances have one time.
Ensures  on each PE the order is as before; no dependence is reversed, and as many instances may run
         at one time.
Differs  see stages/skewing/clock.py, spaces.py, timed.py and lags.py.
"""

from __future__ import annotations

import typing
from dataclasses import replace

import islpy as isl

from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.records import as_data
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.poly.canonical import unite
from lairmake.stages.poly.text import write_objects
from lairmake.stages.skewing.clock import name_times
from lairmake.stages.skewing.elements import read_lair
from lairmake.stages.skewing.lags import LagChoice, choose_lags
from lairmake.stages.skewing.skew_yaml import Lagging, description, edges
from lairmake.stages.skewing.spaces import note_on
from lairmake.stages.skewing.statements import Scheduled, Space, groups_in
from lairmake.stages.skewing.timed import StatementGroup, later
from lairmake.stages.skewing.topology import make_topology

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors, target, topology, skew, schedule, machine",
    "chosen.yaml",
    "*.lair",
    "lair.isl",
    "placement.isl",
    "schedule.isl",
)
WRITES = ("skewed.isl", "skew.yaml")
HEADER = """The time of each instance, { statement[iterators] -> [t...] }, on the clock of all PEs.
before: as by schedule.isl, all PEs start together;
schedule: PEs lag behind each other, so that neighbours use data one after the other (Meister)."""
YAML_HEADER = """By how much PEs lag behind each other, and what comes of it (Meister, Sec. III).
lag: by dimension of time, what is added to it for each step to the east, and to the south.
lags: each that eliminates a broadcast, by itself, in a dimension of time and along x or y: what it
does beside those that are taken. It eliminates so many dimensions of broadcasts, saves remote
accesses of all statements that share loops, adds steps, and gains cycles of a PE by both.
step: so many dimensions of time tell steps apart; the data of one step stay in memory.
steps: from the first to the last time in each dimension of time, before and after.
running: how many PEs work at the time at which the last one begins, before and after.
parallel: the number of dimensions of the space of PEs at one time, before and after.
loops: the matrix from the loops of schedule.isl to the new ones, where it is one.
broadcast: the number of dimensions of the space of PEs that use an element at one time.
passes: to which PEs an element passes on: how far to the east, and to the south."""
EDGES = """
edges: do steps of the innermost loop from tile to tile lead across the edge of the torus (eq. 11),
and is each one to the next PE (eq. 12)?"""
OUT = isl.dim_type.out


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return skewed.isl and skew.yaml."""
    mapping = inputs.mapping()
    network = make_topology(mapping, parse_target(mapping.target))
    scheduled = Scheduled(
        mapping=mapping,
        profile=read_machine(mapping, inputs),
        layer=inputs.lair(),
        lair=read_lair(inputs.objects("lair.isl")),
        places=inputs.objects("placement.isl"),
        schedule=inputs.objects("schedule.isl")["schedule"],
    )
    space, groups = groups_in(scheduled, network)
    found: dict[str, tuple[isl.Map, Lagging]] = {}
    for group in groups:
        found |= skewed(space, group, choose_lags(space, group))
    before = unite(space.times(name) for name in found)
    after = unite(times for times, _ in found.values())
    said = {name: description for name, (_, description) in found.items()}
    header = YAML_HEADER + note_on(network)
    if network.kind == "torus":
        wraps, header = scheduled.places["wraps"], header + EDGES
        said = {n: replace(each, edges=edges(space, wraps, n)) for n, each in said.items()}
    return {
        "skewed.isl": write_objects(HEADER, {"before": before, "schedule": after}),
        "skew.yaml": write_document(header, as_data(said)),
    }


def skewed(
    space: Space, group: StatementGroup, choice: LagChoice
) -> dict[str, tuple[isl.Map, Lagging]]:
    """Return, by statement, { S[i] -> [t + F p] } and what skew.yaml says; see `choose_lags`."""
    found = {}
    for each in group.statements:
        points = each.points.set_tuple_name(OUT, each.name)
        times = name_times(points.apply_range(later(each, choice.taken[each.name])))
        found[each.name] = times, description(space, each, choice)
    return found
