"""Lines of PEs along which one stream arrives or leaves."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.routes.resources import count_free_threads
from lairmake.stages.layer.texts.isl_files import Adapted, Routing, named
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    Clear,
    Collect,
    Departure,
    InTurn,
    Leaving,
    Sequences,
    SumCollection,
    TaskGraph,
)
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.movement.border import BorderChain, find_classes, find_feeding
from lairmake.stages.movement.flow import parity
from lairmake.stages.movement.gather import GatherRoutes, find_gather
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.functions import find_greatest, find_least, greatest_value, least
from lairmake.stages.poly.sides import (
    SIDES,
    Rectangle,
    at_places,
    behind_ports,
    heard,
    on_side,
    turn,
)

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.layer_yaml import LayerMapping

# --- Arrival of one stream ------------------------------------------------------------------------
#
# Its ports send elements, which flow on along rows or columns.
#
# Where ports of a side would feed stretches of its border that overlap, the tensor comes in several
# streams: its parts. Each element then comes from one of the ports at which it arrives.
#
# Paper    V Sec. 4.2

MOST_PARTS = 12
"""The most streams of a tensor on a side; each has two colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivingLine:
    """The orders of one stream, all { t[e] -> [PE -> index] }.

    `sent`: at the row or column on which it flows; `everywhere`: at all PEs there; `chosen`:
    { t[e] -> port } at which its elements are taken; `heard`: all that adapters hear from these;
    `straight`: { t[e] -> PE } of what needs no adapters.
    """

    sent: isl.Map
    everywhere: isl.Map
    chosen: isl.Map
    heard: isl.Map
    straight: isl.Map


def find_ports(flow: ArrivingLine, taken: isl.Map, turned: isl.Map, adapters: bool) -> isl.Set:
    """Return the external PEs whose elements somebody takes, straight or through adapters."""
    if adapters:
        return flow.chosen.intersect_domain(taken.domain()).range()
    out = isl.Map("{ [lane, depth] -> [lane, -1] }")
    return taken.range().apply(turned).apply(out).apply(turned.reverse())


def find_arriving(adapted: Adapted, tensor: str, side: str, part: str | None) -> ArrivingLine:
    """Return the orders of the stream of a tensor on a side, or of a part of it."""
    core, grid = adapted.target, adapted.grid
    sent = on_side(_relation(adapted.arrivals, tensor), side, core)
    source = on_side(_relation(adapted.sources, tensor), side, grid)
    chosen = source.range_factor_domain()
    straight = behind_ports(source, side, grid).range_factor_domain()
    if part is not None:
        straight = straight.subtract(straight)
        chosen = isl.Map.from_union_map(adapted.parts[part])
        sent = sent.intersect_domain(chosen.domain())
    return ArrivingLine(
        sent=sent,
        everywhere=behind_ports(sent, side, core),
        chosen=chosen,
        heard=heard(source, chosen, sent),
        straight=straight,
    )


def name_part(tensor: str, side: str, number: int) -> str:
    """Return the name in adapted.isl of one of the parts of a tensor on a side."""
    return f"{tensor}_{SIDES[side].word}_part{number}"


def name_parts(adapted: Adapted, tensor: str, side: str) -> list[str]:
    """Return the names in adapted.isl of all parts; none if the tensor is whole there."""
    names = (name_part(tensor, side, number) for number in range(MOST_PARTS))
    return [name for name in names if name in adapted.parts]


def split(ports: isl.Map, needed: isl.Map, turned: isl.Map) -> list[isl.Map] | None:
    """Return the parts of { t[e] -> port }, so that ports of one feed stretches that are apart.

    `needed` is { t[e] -> PE }. What can stay whole does so; else each element comes from its first
    port. None if there would be more than MOST_PARTS.
    """
    if find_classes(find_feeding(ports, needed, turned), 1) is not None:
        return [ports]
    chosen = least(ports.apply_range(turned)).intersect_domain(needed.domain())
    chosen = chosen.apply_range(turned.reverse())
    streams = find_classes(find_feeding(chosen, needed, turned), MOST_PARTS)
    if streams is None:
        return None
    port = isl.Map("{ [lane] -> [lane, -1] }").apply_range(turned.reverse())
    return [chosen.intersect_range(stream.domain().apply(port)) for stream in streams]


def _relation(union: isl.UnionMap, tensor: str) -> isl.Map:
    return isl.Map.from_union_map(from_domain(union, tensor))

# --- Departure of one stream ----------------------------------------------------------------------
#
# It is summed on its way along rows or columns, or gathered.
#
# Paper    V Sec. 4.2

def name_leaving(stream: Leaving) -> str:
    """Return the name in adapted.isl of what a departure or a collection sends."""
    return stream.feedback or stream.tensor


def find_leaving(adapted: Adapted, stream: Leaving, chain: isl.Set | isl.UnionSet) -> isl.Map:
    """Return { t[e] -> [PE -> index] } of all that leaves on the row or column of a chain's PE."""
    order = isl.Map.from_union_map(from_domain(adapted.departures, name_leaving(stream)))
    order = order.set_tuple_name(isl.dim_type.in_, stream.tensor)
    core = adapted.target
    pes = isl.Set.from_union_set(chain) if isinstance(chain, isl.UnionSet) else chain
    return at_places(behind_ports(order, stream.side, core), pes)


def find_summed_elements(
    tensor: str, departures: typing.Mapping[str, Departure], adapted: Adapted, routes: Routing
) -> isl.UnionMap:
    """Return { t[e] -> PE } of the elements of a tensor that PEs sum on their way out."""
    found = isl.UnionMap("{ }")
    for name, departure in departures.items():
        if departure.tensor == tensor and departure.in_turn is None:
            order = find_leaving(adapted, departure, routes.pes(name, "chain"))
            found = found.union(isl.UnionMap.from_map(order.range_factor_domain()))
    return found


def find_gathering(order: isl.Map, sums: isl.Map, side: str, adapted: Adapted) -> InTurn | None:
    """Return how PEs gather a departure; None if they sum it.

    `order` is what leaves at the PEs of its chain, `sums` { t[e] -> PE } those that compute it.
    Where every lane has one PE only, there is nothing to gather.
    """
    chain = order.range().unwrap().domain()
    turned = turn(side, adapted.grid)
    deeper = isl.Map("{ [lane, depth] -> [lane, d] : depth < d }")
    lanes = chain.apply(turned)
    if lanes.apply(deeper).is_disjoint(lanes):
        return None
    found = find_gather(order, sums, turned, chain)
    return None if found is None else describe_gathering(found)


def describe_gathering(found: GatherRoutes) -> InTurn:
    """Return what tasks.yaml says of a gather."""
    return InTurn(
        first=tuple(map(str, found.first)),
        rows=tuple(map(str, found.rows)),
        before=str(found.before),
        own=str(found.own),
        after=str(found.after),
    )


def count_instructions(in_turn: InTurn | None) -> int:
    """Return how many instructions send a departure at once: those of a gather forward others."""
    if in_turn is None:
        return 1
    parts = (isl.PwAff(part).floor() for part in (in_turn.before, in_turn.after))
    return 1 + sum(bool(greatest_value(part).is_pos()) for part in parts)


def count_most_rows(graph: TaskGraph, profile: Profile) -> int:
    """Return how many rows may be under way: with too many instructions no task starts."""
    streams = sum(not a.sparse for a in graph.arrivals.values())
    gathers = [d for d in graph.departures.values() if d.by == "gather"]
    streams += len(graph.departures) - len(gathers)
    threads = count_free_threads(profile, sum(a.sparse for a in graph.arrivals.values()))
    free = (threads - 1 - streams) // len(gathers)
    in_turn = [d.in_turn for d in graph.departures.values() if d.in_turn]
    return max(1, free // max(map(count_instructions, in_turn)))

# --- Departures that must turn --------------------------------------------------------------------
#
# Sums leave at a port off the row or column that computes them. They flow along their rows or
# columns to a border peeled off the target, and from adapter to adapter along it to the port.
#
# Paper    V Sec. 4.2

def same_lane(side: str, target: Rectangle) -> isl.Map:
    """Return { PE -> port } of any two places on one row or column, seen from a side."""
    lane = turn(side, target).project_out(isl.dim_type.out, 1, 1)
    return lane.apply_range(lane.reverse())


def must_turn(computed: isl.Map, ports: isl.Map, side: str, target: Rectangle) -> bool:
    """Say whether a port on a side is off the row or column of { t[e] -> PE } of some element."""
    pairs = computed.range_product(ports.range_factor_domain())
    return not pairs.range().is_subset(same_lane(side, target).wrap())


def find_lane_order(
    computed: isl.Map, ports: isl.Map, side: str, target: Rectangle, core: Rectangle
) -> isl.Map:
    """Return { t[e] -> [PE[adapter] -> index[i]] } of the elements computed on each lane.

    They keep the order in which they leave: port after port if there are several, and at the first
    of them if an element leaves at several.
    """
    lanes = _lane_of(computed, side, target)
    port = _lane_of(ports.range_factor_domain(), side, target)
    first = least(port.range_product(ports.range_factor_range()))
    index = first.apply_range(_port_after_port(first, port))
    adapter = isl.Map("{ [lane] -> [lane, -1] }").apply_range(turn(side, core).reverse())
    return lanes.apply_range(adapter).range_product(index).coalesce()


def _port_after_port(first: isl.Map, port: isl.Map) -> isl.Map:
    """Return { [[p] -> index[i, ...]] -> index[i + step * p, ...] }, injective on all ports."""
    index = first.range_factor_range().range()
    step = 0
    if not port.range().is_singleton():
        step = (find_greatest(index, 0).to_python() - find_least(index, 0).to_python()) + 1
    names = [f"i{k}" for k in range(index.dim(isl.dim_type.set))]
    moved = [f"i0 + {step} * p", *names[1:]]
    return isl.Map(f"{{ [[p] -> index[{', '.join(names)}]] -> index[{', '.join(moved)}] }}")


def _lane_of(places: isl.Map, side: str, target: Rectangle) -> isl.Map:
    """Return { t[e] -> [lane] } of { t[e] -> PE }."""
    return places.apply_range(turn(side, target)).project_out(isl.dim_type.out, 1, 1)


def separate_ports(
    tensor: str, feeds: isl.Map, profile: Profile, mapping: LayerMapping
) -> list[isl.Map]:
    """Return { [lane of a port] -> [lane of an adapter] } by streams, each with colours of its own.

    Raises UserError if these are too many.
    """
    most = max(1, profile.colours // 3)
    parts = find_classes(feeds, most)
    if parts is None:
        text = mapping.tensors[tensor].leaves
        raise UserError(
            f"{tensor} leaves at ports that get sums from the same rows or columns, and need more "
            f"than {most} streams of 3 colours; {profile.name} has {profile.colours} colours"
            f"{note_grade(profile, 'colours')}",
            text.place if text else None,
            "let it leave at fewer ports, or on the row or column of the PEs that compute it",
        )
    return parts


def describe_chain(name: str, chain: BorderChain) -> dict[str, isl.Set | isl.Map]:
    """Return what routes.isl says of the adapters that sum a collection."""
    return {
        named(name, "chain"): chain.reach.range(),
        named(name, "reach"): chain.reach,
        named(name, "first"): chain.starts,
        named(name, "last"): chain.ends,
    }


def describe_collection(
    departure: str,
    described: Departure,
    along: str,
    turned: isl.Map,
    sequences: Sequences | None,
    in_turn: InTurn | None,
) -> SumCollection:
    """Return what tasks.yaml says of a collection of a departure, which is on its way `along`."""
    feedback = described.feedback
    return SumCollection(
        tensor=described.tensor,
        side=described.side,
        colours=(named(along, "even"), named(along, "odd")),
        by=described.by if in_turn is None else "gather",
        parity=parity(turned.apply_range(isl.Map("{ [lane, depth] -> [depth, lane] }"))),
        feedback=feedback,
        departure=departure,
        out=named(along, "out") if feedback is None else f"{feedback}_source",
        sequences=sequences,
        in_turn=in_turn,
    )


def find_in_turn(order: isl.Map, lanes: isl.Map, chain: BorderChain) -> InTurn | None:
    """Return how the adapters of a collection forward elements in turn.

    None if they must add them up. `order` is { t[e] -> [PE -> index] } of all that a port gets,
    at its adapters, `lanes` { t[e] -> PE } the adapters of the rows or columns that sum it.
    """
    found = find_gather(order, lanes, chain.line, chain.reach.range())
    return None if found is None or found.rows else describe_gathering(found)


def find_forwarded(collections: typing.Mapping[str, SumCollection]) -> set[str]:
    """Return the departures that adapters forward in turn, and add nothing to."""
    return {each.departure for each in collections.values() if each.in_turn is not None}


def name_along(departure: str, parts: list[isl.Map]) -> list[tuple[str, isl.Map]]:
    """Return the names of collections with what feeds their ports."""
    if len(parts) == 1:
        return [(f"{departure}_along", parts[0])]
    return [(f"{departure}_along{number}", part) for number, part in enumerate(parts)]


def list_collecting_tasks(
    name: str, departure: Departure, initial: str
) -> typing.Iterator[tuple[str, AnyTask]]:
    """Yield the tasks of adapters that take the sums of a departure, all of them `initial`."""
    collected = f"{name_leaving(departure)}_collected"
    yield f"clear_{name}", Clear(departure=name, tensor=collected, value=initial)
    yield f"gather_{name}", Collect(departure=name)
