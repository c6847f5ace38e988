"""Needs of PEs and of departures: the elements of arrivals that each takes, or waits for.

Paper    V Sec. 4.2: streams; goes beyond it
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.fabric.coordinates import shift
from lairmake.stages.fabric.layout import FabricLayout, PortEntry, PortExit
from lairmake.stages.layer.texts.isl_files import Adapted, Routing
from lairmake.stages.layer.texts.task_graph import TaskGraph
from lairmake.stages.poly.functions import greatest
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import taken_by
from lairmake.stages.skewing.elements import Lair, find_running

LANES = {
    "N": "{ PE[x, y] -> PE[x, v] }",
    "S": "{ PE[x, y] -> PE[x, v] }",
    "W": "{ PE[x, y] -> PE[u, y] }",
    "E": "{ PE[x, y] -> PE[u, y] }",
}


MOST_OPERATIONS = 100_000
"""Operations that isl may spend on finding what an output needs last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededDeparture:
    """A departure: `stream` is its entry in layout.yaml.

    `latest` is { [[PE' -> index'] -> PE] -> index }, by arrival: of the elements that come from PE,
    the last one on which the one leaving to PE' with index' depends. `sent` is
    { PE -> [PE' -> index'] }: a PE computes that element, or adds to it. `helps` is { PE -> PE' }:
    results of a PE matter, at first or second hand, to what leaves there. What is empty is left
    out. `once` says that no element leaves at two places.
    """

    stream: PortExit
    latest: Mapping[str, isl.Map]
    sent: isl.Map | None
    helps: isl.Map | None
    once: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PeNeeds:
    """The work that has to happen on the machine, whatever the programs are.

    Only instances count that matter to something that leaves; all where nothing does. `taken` is
    { PE -> [PE' -> index] }, by arrival: what these read on PE of that which enters from PE'.
    `counted` has the statements all of whose instances count, and in how many invocations they do,
    those that only later invocations need included. `waits` says that no instance that this
    invocation needs can run before something arrives on its PE. `pes` { PE[x, y] } have instances.
    """

    arrivals: Mapping[str, PortEntry]
    taken: Mapping[str, isl.Map]
    departures: tuple[NeededDeparture, ...]
    pes: isl.Set
    counted: Mapping[str, int]
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """What stages wrote of a layer's instances, and of what enters and leaves."""

    layout: FabricLayout
    graph: TaskGraph
    lair: Lair
    adapted: Adapted
    routes: Routing
    invocations: int

    @property
    def placement(self) -> isl.UnionMap:
        """{ S[i] -> PE[x, y] } in the coordinates of the layout, those of layer.yaml."""
        return self.adapted.placement.apply_range(self.to_layer)

    @property
    def to_layer(self) -> isl.UnionMap:
        """{ PE[x, y] -> PE[x', y'] } from the coordinates of isl texts to those of the layout."""
        return isl.UnionMap.from_map(shift(self.adapted.offset))


def needs_of(moving: Moving) -> PeNeeds:
    """Return the needs of a layer."""
    layout, lair = moving.layout, moving.lair
    placement = find_running(lair, moving.placement)
    entering = {
        name: _entering(moving, name, arrival) for name, arrival in layout.arrivals.items()
    }
    later = lair.writes.apply_range(lair.reads.reverse())
    departures = tuple(
        _departure(stream, lair.writes, later, placement, entering)
        for stream in layout.departures.values()
    )
    leaving = isl.UnionSet("{ }")
    for each in layout.departures.values():
        leaving = leaving.union(_through(later, _leaves(each, lair.writes)).domain())
    leaving = leaving if departures else lair.instances
    counted = _whole(lair.instances, leaving)
    fed = _fed(later.intersect(placement.apply_range(placement.reverse())), entering)
    return PeNeeds(
        arrivals=layout.arrivals,
        taken=_maps({
            name: placement.reverse().apply_range(each.intersect_domain(leaving))
            for name, each in entering.items()
        }),
        departures=departures,
        pes=isl.Set.from_union_set(placement.range()),
        counted=_counted(lair, later, leaving, moving.invocations),
        waits=all(isl.UnionSet.from_set(each).is_subset(fed) for each in counted),
    )


def _entering(moving: Moving, name: str, arrival: PortEntry) -> isl.UnionMap:
    """Return { S[i] -> [PE -> index] }: S[i] reads the element that enters there.

    Without adapters a PE takes elements from the port on its row or column. Of a `part` they are
    taken at { t[e] -> port }.
    """
    reads, placement = moving.lair.reads, moving.placement
    stream = moving.graph.arrivals[name]
    taken = moving.routes.relations(name, "taken").apply_range(moving.to_layer)
    order = isl.Map(arrival.order)
    if stream.part is not None:
        part = moving.adapted.parts[stream.part].apply_range(moving.to_layer)
        order = taken_by(order, isl.Map.from_union_map(part))
    here = reads.intersect(placement.apply_range(taken.reverse()))
    entering: isl.UnionMap = here.apply_range(isl.UnionMap.from_map(order))
    if stream.spread:
        return entering
    lane = placement.apply_range(isl.UnionMap(LANES[arrival.side]))
    entering = entering.intersect_range_factor_domain(lane)
    return entering


def _departure(
    stream: PortExit,
    writes: isl.UnionMap,
    later: isl.UnionMap,
    placement: isl.UnionMap,
    entering: Mapping[str, isl.UnionMap],
) -> NeededDeparture:
    leaves = _leaves(stream, writes)
    matters, places = _through(later, leaves), placement.reverse()
    needed = {name: matters.reverse().apply_range(each) for name, each in entering.items()}
    sent = _maps({"itself": places.apply_range(leaves), "helps": places.apply_range(matters)})
    return NeededDeparture(
        stream=stream,
        latest={n: last for n, each in _maps(needed).items() if (last := _latest(each))},
        sent=sent.get("itself"),
        helps=sent["helps"].range_factor_domain() if "helps" in sent else None,
        once=isl.Map(stream.order).is_single_valued(),
    )


def _latest(needed: isl.Map) -> isl.Map | None:
    """Return { [[PE' -> index'] -> PE] -> index }, the last index; None where isl needs long."""
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        return greatest(needed.uncurry())
    return None


def _maps(relations: Mapping[str, isl.UnionMap]) -> dict[str, isl.Map]:
    """Return those that are not empty; each has one space."""
    return {
        name: isl.Map.from_union_map(each)
        for name, each in relations.items()
        if not each.is_empty()
    }


def _leaves(stream: PortExit, writes: isl.UnionMap) -> isl.UnionMap:
    """Return { S[i] -> [PE -> index] }: S[i] itself adds to what leaves there."""
    return writes.apply_range(isl.UnionMap.from_map(isl.Map(stream.order)))


def _through(later: isl.UnionMap, last: isl.UnionMap) -> isl.UnionMap:
    """Return `last` of the statements that it has, and of those of which these read a result.

    `later` is { S[i] -> S'[i'] }: S'[i'] reads what S[i] writes. Chains of statements end.
    """
    found = step = last
    while not later.is_empty() and not step.is_empty():
        step = later.apply_range(step)
        found = found.union(step)
    return found


def _fed(later: isl.UnionMap, entering: Mapping[str, isl.UnionMap]) -> isl.UnionSet:
    """Return the instances that can run only when something has arrived on their PE.

    `later` is { S[i] -> S'[i'] }: S'[i'] reads what S[i] writes, on the same PE.
    """
    fed = isl.UnionMap("{ }")
    for each in entering.values():
        fed = fed.union(isl.UnionMap.from_domain(each.domain()))
    return _through(later.reverse(), fed).domain()


def _counted(
    lair: Lair, later: isl.UnionMap, leaving: isl.UnionSet, invocations: int
) -> dict[str, int]:
    """Return, by statement, in how many invocations all of its instances matter.

    From the last one backwards: `leaving` are those that matter to what leaves, the others define
    what the next invocation reads.
    """
    found: dict[str, int] = {}
    carried, wanted = lair.carried, isl.UnionSet("{ }")
    for left in range(invocations, 0, -1):
        defining = lair.writes.intersect_range(wanted)
        here = leaving.union(_through(later, defining).domain())
        before = wanted.union(here.apply(lair.reads)).apply(carried).coalesce()
        times = left if before.is_equal(wanted) else 1
        for each in _whole(lair.instances, here):
            found[each.get_tuple_name()] = found.get(each.get_tuple_name(), 0) + times
        if times == left:
            return found
        wanted = before
    return found


def _whole(instances: isl.UnionSet, these: isl.UnionSet) -> list[isl.Set]:
    """Return the instance sets that lie wholly in `these`."""
    found: list[isl.Set] = []
    instances.foreach_set(found.append)
    return [each for each in found if isl.UnionSet.from_set(each).is_subset(these)]
