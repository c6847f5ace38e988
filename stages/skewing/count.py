"""Count from where the PEs get what they access: remote memory, a neighbour, their own memory.

Paper    M Sec. IV
Reads    layer.yaml, chosen.yaml, lair.isl, placement.isl, schedule.isl, skewed.isl, skew.yaml
Writes   counts.yaml    before, after: steps, accesses, by tensor, and by part of the grid
Assumes  the placement is total, and both clocks are functions on all instances.
Ensures  the numbers are exact; no instance, element or PE is enumerated.
Differs  steps are those of one clock, so that PEs that use an element at once are no neighbours of
         each other then; the state of an element is all PEs that accessed it last, not one of them.
"""

from __future__ import annotations

import dataclasses
import typing
from graphlib import CycleError

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.mapping.records import as_data, read_records
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.skewing.clock import find_order, lag_statements, order_groups, sharing
from lairmake.stages.skewing.elements import Lair, read_lair
from lairmake.stages.skewing.skew_yaml import Counted, GridPart, Lagging, SkewCounts, SkewShares
from lairmake.stages.skewing.spaces import note_on
from lairmake.stages.skewing.statements import find_given
from lairmake.stages.skewing.topology import make_topology, neighbours, regions
from lairmake.stages.skewing.traffic import (
    LinkTraffic,
    TrafficAccesses,
    TrafficSources,
    sources,
    total,
)

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs
    from lairmake.stages.mapping.layer_yaml import LayerMapping

READS = (
    "layer.yaml: target, topology, skew, schedule",
    "chosen.yaml",
    "lair.isl",
    "placement.isl",
    "schedule.isl",
    "skewed.isl",
    "skew.yaml",
)
WRITES = ("counts.yaml",)
HEADER = """From where the PEs get the elements that they access (Meister, Sec. IV), one invocation.
before: all PEs start together; after: they lag as in skew.yaml, which also says how many dimensions
of time tell steps apart. steps: those in which some PE runs something. Neighbours are those of the
topology in layer.yaml, with links along the dimensions along which it lets PEs pass elements on.
remote: no neighbour had the element in the previous step; neighbour: one had it; local: the PE
itself had it then, or has it in this step already. percent: of these three, in this order.
pes: the same by part of the grid, of so many PEs together."""


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return counts.yaml."""
    mapping, lair = inputs.mapping(), read_lair(inputs.objects("lair.isl"))
    schedule, places = inputs.objects("schedule.isl"), inputs.objects("placement.isl")
    said = read_records(inputs.source("skew.yaml"), Lagging)
    groups = sharing(schedule["schedule"], find_given(mapping))
    try:
        order = find_order(groups, {name: each.step for name, each in said.items()}, lair)
    except CycleError as error:
        raise _no_order(error, groups, mapping) from None
    before = TrafficAccesses(
        relations=_relations(lair),
        placement=places["placement"],
        times=order_groups(inputs.objects("skewed.isl")["before"], order),
    )
    network = make_topology(mapping, parse_target(mapping.target))
    lags = lag_statements({name: each.lag for name, each in said.items()}, order, network)
    near = neighbours(network)
    after = dataclasses.replace(before, steps=lags)
    found = SkewCounts(before=counts(before, near), after=counts(after, near))
    return {"counts.yaml": write_document(HEADER + note_on(network), as_data(found))}


def counts(accesses: TrafficAccesses, near: isl.Map) -> Counted:
    """Return what counts.yaml says of accesses; `near` is { PE[x, y] -> PE[x', y'] }."""
    found = sources(accesses, near)
    used = isl.Set.from_union_set(accesses.placement.range())
    return Counted(
        steps=cardinality(accesses.every_step()),
        whole=described(total(each.traffic() for each in found.values())),
        tensors={name: described(each.traffic()) for name, each in sorted(found.items())},
        pes={name: _of_region(found, pes) for name, pes in regions(used).items()},
    )


def _relations(lair: Lair) -> tuple[isl.Map, ...]:
    """Return { statement[i] -> tensor[e] } of all references."""
    references = (every.intersect_domain(lair.instances) for every in (lair.reads, lair.writes))
    return tuple(m for reference in references for m in list_maps(reference))


def described(traffic: LinkTraffic) -> SkewShares:
    """Return a traffic as counts.yaml has it."""
    parts = traffic.remote, traffic.neighbour, traffic.local
    return SkewShares(
        accesses=traffic.accesses,
        remote=traffic.remote,
        neighbour=traffic.neighbour,
        local=traffic.local,
        percent=tuple(round(100 * part / max(1, traffic.accesses), 3) for part in parts),
    )


def _of_region(found: typing.Mapping[str, TrafficSources], pes: isl.Set) -> GridPart:
    """Return the number of PEs of a part of the grid, and their traffic together."""
    traffic = total(each.traffic(pes) for each in found.values())
    return GridPart(
        number=cardinality(pes),
        remote=traffic.remote,
        neighbour=traffic.neighbour,
        local=traffic.local,
    )


def _no_order(
    error: CycleError, groups: typing.Sequence[typing.Sequence[str]], mapping: LayerMapping
) -> UserError:
    """Return the error for statements that must come before and after others."""
    among = sorted({name for number in error.args[1] for name in groups[number]})
    return UserError(
        f"{', '.join(among)} read from each other, but their times are not comparable",
        mapping.span("schedule"),
        "give all of them times of one length",
    )
