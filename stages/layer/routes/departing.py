"""The departures of a tensor, the collections of their sums, and the routes of both.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.lair.layer import find_writer
from lairmake.stages.layer.routes.collection import (
    describe_chain,
    describe_collection,
    find_in_turn,
    name_along,
    separate_ports,
)
from lairmake.stages.layer.routes.feedback import name_away
from lairmake.stages.layer.routes.leaving import (
    count_instructions,
    find_gathering,
    find_leaving,
    name_leaving,
)
from lairmake.stages.layer.routes.placed import (
    Placed,
    Routed,
    Streams,
    colour_routes,
    find_adapters,
    find_depth,
    find_feedback_depth,
    is_sparse,
    join,
)
from lairmake.stages.layer.routes.threads import count_free_threads
from lairmake.stages.layer.texts.isl_files import named
from lairmake.stages.layer.texts.task_graph import (
    By,
    Departure,
    InTurn,
    Sequences,
    Side,
    SumCollection,
)
from lairmake.stages.movement.border import BorderChain, border_chain, find_feeding
from lairmake.stages.movement.flow import Chain, chain_routes, parity
from lairmake.stages.poly.canonical import from_domain, map_from
from lairmake.stages.poly.sides import SIDES, find_outer_box, on_side, relocate, turn

COMBINE: dict[str, By] = {"=": "add", "+=": "add", "*=": "mul", "max=": "max", "min=": "min"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What is about to leave on a side: `tensor` by the name that it comes back with, if it does.

    `places` are { tensor[e] -> PE } that compute it, `ports` { tensor[e] -> [port -> index] } of
    what adapters collect there, None if they collect nothing.
    """

    name: str
    tensor: str
    side: str
    places: isl.Map
    ports: isl.Map | None
    feedback: str | None


def add_departures(tensor: str, streams: Streams) -> Streams:
    """Return the streams with those in which a tensor leaves, one a side."""
    for sums in _sums(tensor, streams.placed):
        with working_on(f"departure {sums.name}"):
            streams = _with_departure(sums, streams)
    return streams


def _sums(tensor: str, placed: Placed) -> Iterator[Sums]:
    relation, feedback = map_from(placed.adapted.departures, tensor), placed.fed_back.get(tensor)
    if relation is None:
        return
    made = from_domain(placed.computed, feedback or tensor)
    computed = isl.Map.from_union_map(made).set_tuple_name(isl.dim_type.in_, tensor)
    base = name_away(tensor) if feedback else tensor
    sides = [s for s in SIDES if not on_side(relation, s, placed.core).is_empty()]
    for side in sides:
        places = computed.intersect_domain(on_side(relation, side, placed.core).domain())
        yield Sums(
            name=base if len(sides) == 1 else f"{base}_{SIDES[side].word}",
            tensor=tensor,
            side=side,
            places=places,
            ports=_collected(tensor, side, placed),
            feedback=feedback,
        )


def _collected(tensor: str, side: str, placed: Placed) -> isl.Map | None:
    """Return { t[e] -> [port -> index] } of what adapters on a side collect, if anything."""
    order = map_from(placed.adapted.collected, tensor)
    here = None if order is None else on_side(order, side, placed.grid)
    return None if here is None or here.is_empty() else here


def _with_departure(sums: Sums, streams: Streams) -> Streams:
    """Return the streams with a departure, and the collections of it."""
    placed = streams.placed
    members = sums.places.range().apply(turn(sums.side, placed.grid))
    alone = members.project_out(isl.dim_type.set, 1, 1).is_singleton()
    collect = sums.ports is not None and not (sums.feedback and alone)
    chain = _chain(sums, members, collect, placed)
    summed = _departure(sums, collect, placed)
    departure = _gathered(summed, sums, chain, placed)
    found = _collections(sums, summed, placed) if collect else {}
    objects = {named(sums.name, "chain"): chain.members, named(sums.name, "first"): chain.starts}
    parts = [
        colour_routes(named(sums.name, "even"), chain.even),
        colour_routes(named(sums.name, "odd"), chain.odd),
        Routed(objects=objects),
        *(routed for _, routed in found.values()),
    ]
    if collect:
        adapters = find_adapters(sums.places.range(), turn(sums.side, placed.grid))
        parts.insert(3, Routed(objects={named(sums.name, "adapters"): adapters}))
    elif sums.feedback or departure.sequences:
        parts.append(Routed(objects={named(sums.name, "last"): chain.ends}))
    return replace(
        streams,
        departures={**streams.departures, sums.name: departure},
        collections={**streams.collections, **{name: each for name, (each, _) in found.items()}},
        routed=join((streams.routed, *parts)),
    )


def _chain(sums: Sums, members: isl.Set, collect: bool, placed: Placed) -> Chain:
    """Return the routes from PE to PE towards a side, or back."""
    side, feeds_back = sums.side, sums.feedback is not None and not collect
    straight = feeds_back and sums.ports is None
    first = find_feedback_depth(sums.tensor, side, placed) if straight else find_depth(side, placed)
    turned = turn(side, placed.grid)
    return chain_routes(members, side, turned, first, collect=collect, feeds_back=feeds_back)


def _departure(sums: Sums, collect: bool, placed: Placed) -> Departure:
    """Return what tasks.yaml says of a departure that PEs sum."""
    tensor, feedback, side = sums.tensor, sums.feedback, sums.side
    written, feeds_back = feedback or tensor, feedback is not None and not collect
    sparse = is_sparse(tensor, placed) and not (collect or feeds_back)
    return Departure(
        tensor=written,
        side=typing.cast(Side, side),
        colours=(named(sums.name, "even"), named(sums.name, "odd")),
        by=COMBINE[find_writer(placed.layer, written).op],
        parity=parity(turn(side, placed.grid)),
        feedback=tensor if feedback else None,
        collected=collect,
        out=(tensor if sums.ports is None else f"{tensor}_source") if feeds_back else None,
        sequences=_sequences(placed.adapted.departures, tensor) if sparse else None,
    )


def _gathered(departure: Departure, sums: Sums, chain: Chain, placed: Placed) -> Departure:
    """Return a departure as PEs gather it, where they need not sum it."""
    if departure.sequences is not None:
        return departure
    order = find_leaving(placed.adapted, departure, chain.members)
    computed = sums.places.set_tuple_name(isl.dim_type.in_, departure.tensor)
    found = find_gathering(order, computed, sums.side, placed.adapted)
    return departure if found is None else replace(departure, by="gather", in_turn=found)


def _sequences(orders: isl.UnionMap, tensor: str) -> Sequences:
    """Return the outer indices of a sparse tensor in one of { t[e] -> [PE -> index] }."""
    order = map_from(orders, tensor)
    assert order is not None, "the tensor leaves"
    return describe_sequences(order)


def describe_sequences(order: isl.Map) -> Sequences:
    """Return the outer indices of { t[e] -> [PE -> index] } of a sparse tensor."""
    return Sequences(sparse=True, outer=tuple((low, high) for low, high in find_outer_box(order)))


def _collections(
    sums: Sums, departure: Departure, placed: Placed
) -> dict[str, tuple[SumCollection, Routed]]:
    """Return the ways of a departure's sums from adapter to adapter to its ports, or back."""
    assert sums.ports is not None, "adapters collect the departure"
    side, tensor = sums.side, name_leaving(departure)
    turned = turn(side, placed.grid)
    sequences = describe_sequences(sums.ports) if is_sparse(tensor, placed) else None
    met = find_feeding(sums.ports.range_factor_domain(), sums.places, turned)
    parts = separate_ports(tensor, met, placed.profile, placed.mapping)
    found = {}
    for along, part in name_along(sums.name, parts):
        chain = border_chain(part, side, turned)
        alone = sequences is None and len(parts) == 1
        rows = _in_turn(tensor, side, sums.ports, chain, placed) if alone else None
        described = describe_collection(sums.name, departure, along, turned, sequences, rows)
        found[along] = described, _routed(along, chain, tensor in placed.fed_back)
    return found


def _routed(along: str, chain: BorderChain, feedback: bool) -> Routed:
    """Return the routes of a collection, on its way to a port if it does not return."""
    parts = [
        colour_routes(named(along, "even"), chain.even),
        colour_routes(named(along, "odd"), chain.odd),
    ]
    if not feedback:
        parts.append(colour_routes(named(along, "out"), chain.out))
    return join((*parts, Routed(objects=describe_chain(along, chain))))


def _in_turn(
    tensor: str, side: str, ports: isl.Map, chain: BorderChain, placed: Placed
) -> InTurn | None:
    """Return how adapters forward in turn what their rows or columns send, if they can.

    With room in their queue of instructions for a stream that they spread, and for a task.
    """
    lanes = map_from(placed.adapted.departures, tensor)
    assert lanes is not None, "the tensor leaves"
    adapters = on_side(lanes, side, placed.core).range_factor_domain()
    found = find_in_turn(relocate(ports, chain.reach), adapters, chain)
    sparse = sum(t.sparse and bool(t.arrives) for t in placed.mapping.tensors.values())
    fits = found and count_instructions(found) + 2 <= count_free_threads(placed.profile, sparse)
    return found if fits else None
