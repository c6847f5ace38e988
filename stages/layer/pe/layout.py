"""The layout of the fabric: roles, memory, colours, and where tensors enter and leave.

This is what the simulated machine is told of a layer, in build/layout.yaml.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from lairmake.stages.fabric.layout import Entry, Exit, Layout, LocalTensor, Memory, Role
from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.queues import assign_queues
from lairmake.stages.layer.routes.arrivals import name_positions
from lairmake.stages.layer.texts.task_graph import Arrival, Departure, Outgoing, SumCollection
from lairmake.stages.movement.flow import Colour, find_routers
from lairmake.stages.pe.listing import Local
from lairmake.stages.poly.canonical import find_set, from_domain, list_maps
from lairmake.stages.poly.sides import at_places, on_side, relocate, turn


def make_layout(model: Model, programs: Sequence[Program]) -> Layout:
    """Return the layout."""
    arrivals = model.graph.arrivals.items()
    return Layout(
        grid=str(model.grid.as_set()),
        roles={p.role: _role(model, p) for p in programs},
        colours={
            _first(model, number): _colour(model, number)
            for number in sorted(set(model.numbers.values()))
        },
        arrivals={n: _arrival(model, n, a) for n, a in arrivals if a.feedback is None},
        departures=_departures(model),
    )


def _colour(model: Model, number: int) -> Colour:
    """Return a colour: the routes and filters of all its streams, which never meet."""
    streams = [name for name, own in model.numbers.items() if own == number]
    routes, filters = isl.UnionMap("{ }"), isl.UnionMap("{ }")
    for name in streams:
        routes = routes.union(model.routes.colour(name))
        if model.routes.has(name, "filter"):
            filters = filters.union(model.routes.relations(name, "filter"))
    filter_ = None if filters.is_empty() else str(filters)
    turning = [_positions(model, name) for name in streams]
    most = max(map(len, turning))
    if most == 1:
        return Colour(number=number, routes=str(routes), filter=filter_)
    each = ([routes[min(k, len(routes) - 1)] for routes in turning] for k in range(most))
    positions = [functools.reduce(isl.UnionMap.union, routes) for routes in each]
    counts = count_positions(positions)
    return Colour(
        number=number,
        positions=tuple(map(str, positions)),
        counts=str(counts),
        ring=str(_number(counts.domain(), 0)),
        pop=str(_pop(model, streams, counts.domain())),
        filter=filter_,
    )


def count_positions(positions: Sequence[isl.UnionMap]) -> isl.UnionMap:
    """Return { PE[x, y] -> [n] }: the routers' positions, { [PE[x, y] -> from[]] -> to[] } each.

    That of a router is the last one in which its routes are not those of the position before.
    """
    rest = find_routers(functools.reduce(isl.UnionMap.union, positions))
    result = isl.UnionMap("{ }")
    for count in range(len(positions), 1, -1):
        routes, before = positions[count - 1], positions[count - 2]
        other = routes.subtract(before).union(before.subtract(routes))
        result = result.union(_number(find_routers(other).intersect(rest), count))
        rest = rest.subtract(result.domain())
    return result.union(_number(rest, 1))


def _number(pes: isl.UnionSet, number: int) -> isl.UnionMap:
    return isl.UnionMap(f"{{ PE[x, y] -> [{number}] }}").intersect_domain(pes.coalesce())


def _pop(model: Model, streams: Sequence[str], routers: isl.UnionSet) -> isl.UnionMap:
    """Return { PE -> [n] }: 1 beside ports that send replicas to adapters, where routers pop."""
    beside = isl.UnionSet("{ }")
    for arrival in model.graph.arrivals.values():
        if arrival.source in streams and _along(model, arrival) is not None:
            turned = turn(arrival.side, model.grid)
            border = isl.Map("{ [lane, -1] -> [lane, 0] }").apply_range(turned.reverse())
            ports = model.routes.relation(arrival.source, "reach").domain()
            beside = beside.union(ports.apply(turned).apply(border))
    return _number(beside, 1).union(_number(routers.subtract(beside), 0))


def _positions(model: Model, stream: str) -> list[isl.UnionMap]:
    """Return the routes of a stream in each of its positions."""
    return [
        model.routes.colour(name)
        for name in name_positions(stream)
        if name in model.routes.objects
    ]


def _first(model: Model, number: int) -> str:
    """Return the name of a colour in the layout: that of its first stream."""
    return next(name for name, own in model.numbers.items() if own == number)


def _named(model: Model, stream: str) -> str:
    """Return the name of a stream's colour in the layout."""
    return _first(model, model.numbers[model.entering(stream)])


def _role(model: Model, program: Program) -> Role:
    locals_ = [each for local in program.locals for each in (local, *_guests(model, local))]
    queues = assign_queues(model, program)
    return Role(
        at=str(program.places()),
        counters=tuple(program.counters),
        listens=tuple(dict.fromkeys(_named(model, c) for c in program.listens)),
        input_queues=queues.input,
        output_queues=queues.output,
        memory=Memory(data=program.data, code=program.code),
        tensors={local.name: _tensor(model, program, local) for local in locals_},
    )


def _guests(model: Model, local: Local) -> Iterator[Local]:
    """Yield the local tensors of others that lie in the memory of one."""
    for tensor, described in model.graph.tensors.items():
        if f"{described.stored_in}_local" == local.name:
            yield replace(local, name=f"{tensor}_local")


def _tensor(model: Model, program: Program, local: Local) -> LocalTensor:
    found = LocalTensor(type=local.type, shape=tuple(local.shape), address=local.address)
    tensor = local.name.removesuffix("_local")
    known = model.graph.tensors.get(tensor) if tensor != local.name else None
    kept = None if known is None else known.kept
    departures = model.graph.departures.values()
    leaves = {d.tensor for d in departures if d.feedback is None}
    if kept != "resident" and (kept != "result" or tensor in leaves):
        return found
    stored = str(_stored(model, program, tensor))
    return replace(
        found, tensor=tensor, transfer="in" if kept == "resident" else "out", stored=stored
    )


def _stored(model: Model, program: Program, tensor: str) -> isl.Map:
    """Return { [PE -> T_local[l]] -> T[e] }: inputs as allocated, outputs where computed."""
    to_local = next(
        m.drop_unused_params()
        for m in list_maps(model.allocation)
        if m.domain().unwrap().get_tuple_name(isl.dim_type.out) == tensor
    )
    elements = typing.cast(isl.Set, find_set(model.lair.tensors, tensor))
    name = to_local.get_tuple_name(isl.dim_type.out)
    local = typing.cast(isl.Set, find_set(model.local, name))
    pes = program.places()
    which = isl.Map.from_domain_and_range(pes, elements)
    written = from_domain(model.lair.writes.reverse(), tensor)
    if not written.is_empty():
        computed = written.apply_range(model.adapted.placement)
        which = which.intersect(isl.Map.from_union_map(computed).reverse())
    relation = to_local.intersect_domain(which.wrap()).intersect_range(local)
    return relation.curry().range_reverse().uncurry()


def _arrival(model: Model, name: str, arrival: Arrival) -> Entry:
    """Return how a stream enters: from the ports that somebody listens to."""
    source = isl.Map.from_union_map(from_domain(model.adapted.sources, arrival.tensor))
    ports = model.routes.pes(name, "ports")
    return Entry(
        tensor=arrival.tensor,
        type=model.graph.tensors[arrival.tensor].type,
        colour=_named(model, arrival.source),
        side=arrival.side,
        sparse=arrival.sparse,
        order=str(at_places(source, ports).coalesce()),
        outer=arrival.outer,
        replicas=_replicas(model, name, arrival),
        along=_along(model, arrival),
    )


def _replicas(model: Model, name: str, arrival: Arrival) -> str | None:
    """Return which PEs get a stream of their own from a port.

    Adapters keep all of a dense tensor, and send that on for each PE. Of a sparse one they take
    as many streams as they send on.
    """
    if arrival.colour not in arrival.replicas or (arrival.spread and not arrival.sparse):
        return None
    takers = model.routes.pes(name, "taken")
    return str(takers.coalesce())


def _along(model: Model, arrival: Arrival) -> str | None:
    """Return through which adapters PEs get streams of their own."""
    if not arrival.spread or arrival.source not in arrival.replicas:
        return None
    return str(model.routes.relations(arrival.source, "reach").reverse())


def _departures(model: Model) -> dict[str, Exit]:
    """Return how streams leave: straight, or from the adapters that collect them."""
    departures, collections = model.graph.departures.items(), model.graph.collections.items()
    outside = [(n, d) for n, d in departures if d.feedback is None and not d.collected]
    straight = {n: _departure(model, d) for n, d in outside}
    return straight | {n: _collection(model, n, c) for n, c in collections if c.feedback is None}


def _departure(model: Model, departure: Departure) -> Exit:
    """Return how a stream leaves: by the external PEs that touch the grid."""
    relation = isl.Map.from_union_map(from_domain(model.adapted.departures, departure.tensor))
    side = departure.side
    outwards = turn(side, model.core).apply_range(turn(side, model.grid).reverse())
    order = relocate(on_side(relation, side, model.core), outwards)
    return _leaving(model, departure, departure.colours, order)


def _collection(model: Model, name: str, collection: SumCollection) -> Exit:
    """Return how sums leave that adapters collect."""
    relation = isl.Map.from_union_map(from_domain(model.adapted.collected, collection.tensor))
    ports = model.routes.relation(name, "reach").domain()
    return _leaving(model, collection, [collection.out], at_places(relation, ports))


def _leaving(
    model: Model, stream: Outgoing, colours: Sequence[str], order: isl.Map
) -> Exit:
    return Exit(
        tensor=stream.tensor,
        type=model.graph.tensors[stream.tensor].type,
        colours=tuple(_named(model, colour) for colour in colours),
        side=stream.side,
        order=str(order.coalesce()),
        sparse=stream.sequences is not None,
        outer=None if stream.sequences is None else stream.sequences.outer,
    )
