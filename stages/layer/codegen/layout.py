"""Layout of the fabric, and queues and ids of tasks that programs need."""

from __future__ import annotations

import functools
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.fabric.layout import (
    FabricLayout,
    LocalTensor,
    PortEntry,
    PortExit,
    Queue,
    Role,
    RoleMemory,
    number_queues,
)
from lairmake.stages.layer.codegen.model import Model
from lairmake.stages.layer.codegen.program import RoleProgram
from lairmake.stages.layer.routes.arrivals import name_positions
from lairmake.stages.layer.texts.task_graph import (
    Arrival,
    Departure,
    Outgoing,
    SumCollection,
    TaskGraph,
)
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.machine.types import BYTES
from lairmake.stages.movement.flow import RouterColour, find_busiest_router, find_routers, share
from lairmake.stages.pe.listing import Local
from lairmake.stages.pe.nodes import Act, Activate, Task, walk
from lairmake.stages.poly.canonical import find_set, from_domain, list_maps
from lairmake.stages.poly.sides import at_places, on_side, relocate, turn

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.layer_yaml import LayerMapping

# --- Queues of a PE -------------------------------------------------------------------------------
#
# Colours that no PE of a role takes both share a queue. Colours of the widest wavelets get the
# queues that hold most, the first colours before others. The numbers of queues differ both ways, if
# they can: on WSE-2 queues of one number share a thread. Where tasks that react take the ids of
# their colours (`data_tasks` of a profile), these colours need no queue, but for FIFOs.

RAMP = isl.UnionSet("{ ramp[] }")
WIDE = 2
"""Words of 16 bits of a wavelet that has an index, or an element of 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues:
    """The queues of a role by colour, None on machines that have as many as are wanted."""

    input: Mapping[str, Queue] | None
    output: Mapping[str, Queue] | None


class TooFewQueuesError(Exception):
    """A PE takes more colours, or sends on more, than it has queues of a kind."""

    def __init__(self, figure: str, pe: str, colours: Sequence[str]) -> None:
        super().__init__(f"{pe} needs more {figure}: {', '.join(colours)}")
        self.figure, self.pe, self.colours = figure, pe, colours


def assign_queues(model: Model, program: RoleProgram) -> Queues:
    """Return the queue of each colour on the PEs of a program. Raises TooFewQueuesError."""
    output = _assign(model, program, "output_queues", _sent(model, program))
    threads = {queue.number for queue in (output or {}).values()}
    taken = _taken(model, program)
    return Queues(input=_assign(model, program, "input_queues", taken, threads), output=output)


def _assign(
    model: Model,
    program: RoleProgram,
    figure: str,
    pes: Mapping[str, isl.UnionSet],
    used: Collection[int] = (),
) -> Mapping[str, Queue] | None:
    """Return the queue of each colour, of which `pes` have to do with it: the deepest first.

    Numbers that are `used` come last, for queues of one number share a thread on some machines.
    """
    depths: Sequence[int] = getattr(program.profile, figure)
    if not depths:
        return None
    words = _find_words(model)
    groups = sorted(share(pes), key=lambda group: -max(words[name] for name in group))
    if len(groups) > len(depths):
        left, top = model.grid.left, model.grid.top
        in_target = isl.UnionMap(f"{{ PE[x, y] -> PE[x - ({left}), y - ({top})] }}")
        found = find_busiest_router({name: each.apply(in_target) for name, each in pes.items()})
        raise TooFewQueuesError(figure, *found)
    numbered = number_queues(groups, words, depths, used, is_output=figure == "output_queues")
    return {name: numbered[name] for name in pes}


def _taken(model: Model, program: RoleProgram) -> dict[str, isl.UnionSet]:
    """Return the PEs that take a colour, by its first stream, into a queue."""
    apart = set(program.reacting) if program.profile.data_tasks == "colours" else set()
    apart -= set(program.waiting) if program.profile.fifo > 0 else set()
    return {
        streams[0]: pes
        for streams, routes in _colours(model)
        if apart.isdisjoint(streams)
        and not (pes := _here(routes.intersect_range(RAMP), program)).is_empty()
    }


def _sent(model: Model, program: RoleProgram) -> dict[str, isl.UnionSet]:
    """Return the PEs that send on a colour, by its first stream."""
    return {
        streams[0]: pes
        for streams, routes in _colours(model)
        if not (pes := _here(_from_ramp(routes), program)).is_empty()
    }


def _colours(model: Model) -> Iterator[tuple[list[str], isl.UnionMap]]:
    """Yield the streams of each colour, and their routes in all positions."""
    for number in sorted(set(model.numbers.values())):
        streams = [name for name, own in model.numbers.items() if own == number]
        named = [n for s in streams for n in name_positions(s) if n in model.routes.objects]
        yield streams, functools.reduce(isl.UnionMap.union, map(model.routes.colour, named))


def _from_ramp(routes: isl.UnionMap) -> isl.UnionMap:
    sides = routes.domain().unwrap().intersect_range(RAMP)
    return routes.intersect_domain(sides.wrap())


def _here(routes: isl.UnionMap, program: RoleProgram) -> isl.UnionSet:
    """Return the PEs of a program on which { [PE[x, y] -> from[]] -> to[] } is defined."""
    return routes.domain().unwrap().domain().intersect(isl.UnionSet.from_set(program.places()))


def _find_words(model: Model) -> dict[str, int]:
    """Return the words of 16 bits of a wavelet of each colour, by its first stream.

    It is the most if there are wavelets of several streams.
    """
    words = dict(_list_words(model.graph))
    return {
        streams[0]: max(words.get(name, WIDE) for name in streams) for streams, _ in _colours(model)
    }


def _list_words(graph: TaskGraph) -> Iterator[tuple[str, int]]:
    """Yield the words of a wavelet of each stream."""
    for arrival in graph.arrivals.values():
        wide = WIDE if arrival.sparse else _words(graph, arrival.tensor)
        for name in (arrival.colour, arrival.source):
            line = graph.forwarding.get(name)
            along = () if line is None else (*line.colours, line.enters)
            yield from ((each, wide) for each in (name, *along))
    for move in graph.moves.values():
        wide = _words(graph, move.tensor)
        yield from ((each, wide) for pair in move.colours.values() for each in pair)
    outgoing: list[Outgoing] = [*graph.departures.values(), *graph.collections.values()]
    for leaving in outgoing:
        wide = WIDE if leaving.sequences is not None else _words(graph, leaving.tensor)
        out = () if leaving.out is None else (leaving.out,)
        yield from ((each, wide) for each in (*leaving.colours, *out))


def _words(graph: TaskGraph, tensor: str) -> int:
    return -(-BYTES[graph.tensors[tensor].type] // 2)

# --- Layout of the fabric -------------------------------------------------------------------------
#
# It is what the simulated machine is told of a layer, in build/layout.yaml.

def make_layout(model: Model, programs: Sequence[RoleProgram]) -> FabricLayout:
    """Return the layout."""
    arrivals = model.graph.arrivals.items()
    return FabricLayout(
        grid=str(model.grid.as_set()),
        roles={p.role: _role(model, p) for p in programs},
        colours={
            _first(model, number): _colour(model, number)
            for number in sorted(set(model.numbers.values()))
        },
        arrivals={n: _arrival(model, n, a) for n, a in arrivals if a.feedback is None},
        departures=_departures(model),
    )


def _colour(model: Model, number: int) -> RouterColour:
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
        return RouterColour(number=number, routes=str(routes), filter=filter_)
    each = ([routes[min(k, len(routes) - 1)] for routes in turning] for k in range(most))
    positions = [functools.reduce(isl.UnionMap.union, routes) for routes in each]
    counts = count_positions(positions)
    return RouterColour(
        number=number,
        positions=tuple(map(str, positions)),
        counts=str(counts),
        ring=str(_ring(model, streams, counts.domain())),
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


def _ring(model: Model, streams: Sequence[str], routers: isl.UnionSet) -> isl.UnionMap:
    """Return { PE -> [n] }: 1 where the first position follows the last, as routers of halos."""
    turning = isl.UnionSet("{ }")
    for name in streams:
        if model.routes.has(name, "turned"):
            turning = turning.union(find_routers(model.routes.colour(name)))
    return _number(turning, 1).union(_number(routers.subtract(turning), 0))


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


def _role(model: Model, program: RoleProgram) -> Role:
    locals_ = [each for local in program.locals for each in (local, *_guests(model, local))]
    queues = assign_queues(model, program)
    return Role(
        at=str(program.places()),
        counters=tuple(program.counters),
        listens=tuple(dict.fromkeys(_named(model, c) for c in program.listens)),
        input_queues=queues.input,
        output_queues=queues.output,
        memory=RoleMemory(data=program.data, code=program.code),
        tensors={local.name: _tensor(model, program, local) for local in locals_},
    )


def _guests(model: Model, local: Local) -> Iterator[Local]:
    """Yield the local tensors of others that lie in the memory of one, but views of it."""
    for tensor, described in model.graph.tensors.items():
        if f"{described.stored_in}_local" == local.name and not described.view:
            yield replace(local, name=f"{tensor}_local")


def _tensor(model: Model, program: RoleProgram, local: Local) -> LocalTensor:
    found = LocalTensor(type=local.type, shape=tuple(local.shape), address=local.address)
    tensor = local.name.removesuffix("_local")
    known = model.graph.tensors.get(tensor) if tensor != local.name else None
    kept = None if known is None else known.kept
    departures = model.graph.departures.values()
    leaves = {d.tensor for d in departures if d.feedback is None}
    if kept != "resident" and (kept != "result" or tensor in leaves):
        return found
    return replace(
        found,
        tensor=tensor,
        transfer="in" if kept == "resident" else "out",
        stored=str(_stored(model, program, tensor)),
        buffers=model.graph.count_buffers().get(model.graph.find_local(tensor)),
    )


def _stored(model: Model, program: RoleProgram, tensor: str) -> isl.Map:
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


def _arrival(model: Model, name: str, arrival: Arrival) -> PortEntry:
    """Return how a stream enters: from the ports that somebody listens to."""
    source = isl.Map.from_union_map(from_domain(model.adapted.sources, arrival.tensor))
    ports = model.routes.pes(name, "ports")
    return PortEntry(
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


def _departures(model: Model) -> dict[str, PortExit]:
    """Return how streams leave: straight, or from the adapters that collect them."""
    departures, collections = model.graph.departures.items(), model.graph.collections.items()
    outside = [(n, d) for n, d in departures if d.feedback is None and not d.collected]
    straight = {n: _departure(model, d) for n, d in outside}
    return straight | {n: _collection(model, n, c) for n, c in collections if c.feedback is None}


def _departure(model: Model, departure: Departure) -> PortExit:
    """Return how a stream leaves: by the external PEs that touch the grid."""
    relation = isl.Map.from_union_map(from_domain(model.adapted.departures, departure.tensor))
    side = departure.side
    outwards = turn(side, model.core).apply_range(turn(side, model.grid).reverse())
    order = relocate(on_side(relation, side, model.core), outwards)
    return _leaving(model, departure, departure.colours, order)


def _collection(model: Model, name: str, collection: SumCollection) -> PortExit:
    """Return how sums leave that adapters collect."""
    relation = isl.Map.from_union_map(from_domain(model.adapted.collected, collection.tensor))
    ports = model.routes.relation(name, "reach").domain()
    return _leaving(model, collection, [collection.out], at_places(relation, ports))


def _leaving(
    model: Model, stream: Outgoing, colours: Sequence[str], order: isl.Map
) -> PortExit:
    return PortExit(
        tensor=stream.tensor,
        type=model.graph.tensors[stream.tensor].type,
        colours=tuple(_named(model, colour) for colour in colours),
        side=stream.side,
        order=str(order.coalesce()),
        sparse=stream.sequences is not None,
        outer=None if stream.sequences is None else stream.sequences.outer,
    )

# --- Needs of programs besides memory -------------------------------------------------------------
#
# These are queues, and ids of tasks.

WORDS = {"input_queues": "takes what comes on", "output_queues": "sends on"}


def check_tasks(program: RoleProgram, profile: Profile, mapping: LayerMapping) -> None:
    """Raise UserError if a program has more tasks than the machine has ids."""
    activated, reacting = list_started(program)
    need = len(activated) + len(reacting)
    if not 0 < profile.task_ids < need:
        return
    also = f", and those that react to {', '.join(reacting)}" if reacting else ""
    raise UserError(
        f"role {program.role} has {need} tasks, {profile.name} has {profile.task_ids} task_ids"
        f"{note_grade(profile, 'task_ids')}: {', '.join(activated)}{also}",
        mapping.key_span("tensors"),
        "let fewer tensors arrive, leave and come back there, or build the graph in parts",
    )


def has_too_many_tasks(program: RoleProgram) -> bool:
    """Say whether a program has more tasks than the machine has ids."""
    return 0 < program.profile.task_ids < sum(map(len, list_started(program)))


def list_started(program: RoleProgram) -> tuple[list[str], list[str]]:
    """Return the tasks that are activated, and the streams that start others, which need ids."""
    activated = list(dict.fromkeys(_list_activated(program)))
    colours = program.profile.data_tasks == "colours"
    return activated, list(dict.fromkeys(program.reacting)) if colours else []


def _list_activated(program: RoleProgram) -> Iterator[str]:
    """Yield the functions that are activated, at once or when a stream is complete."""
    for function in program.functions:
        for node in (node for each in function.statements for node in walk(each)):
            started = node.task if isinstance(node, Activate) else getattr(node, "then", None)
            if isinstance(node, Act) and started is not None:
                yield from (each.name for each in walk(started) if isinstance(each, Task))


def explain_queues(
    error: TooFewQueuesError, profile: Profile, mapping: LayerMapping
) -> UserError:
    """Return the error that names the colours that want queues, and the PEs."""
    wanted: Sequence[str] = error.colours
    return UserError(
        f"{error.pe} {WORDS[error.figure]} {len(wanted)} colours, {profile.name} has "
        f"{len(getattr(profile, error.figure))} {error.figure}{note_grade(profile, error.figure)}: "
        f"{', '.join(wanted)}",
        mapping.key_span("tensors"),
        "let fewer tensors arrive, leave or come back there: place statements on other PEs, or "
        "build the graph in parts",
    )
