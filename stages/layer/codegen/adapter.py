"""Programs of adapters that spread."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.codegen.collector import Collector, Forwarder, lane_colour
from lairmake.stages.layer.codegen.departures import TurnTaking
from lairmake.stages.layer.codegen.model import Model
from lairmake.stages.layer.codegen.program import RoleProgram, find_forwarding_pes, forward_along
from lairmake.stages.layer.codegen.streams import (
    add_odometer,
    begin_data_task,
    begin_sequences,
    complete_task,
    give_room,
    react,
    receive,
    send,
    send_again,
    unpack,
)
from lairmake.stages.layer.texts.isl_files import Part
from lairmake.stages.layer.texts.task_graph import Arrival
from lairmake.stages.pe.block import Block, Body, count_kinds, total, write_nest
from lairmake.stages.pe.nodes import (
    Activate,
    Assign,
    BlockColour,
    Call,
    CountCall,
    Field,
    If,
    Increase,
    More,
    Return,
    SendEnd,
    SendSparse,
    SendTurn,
    Task,
    UnblockColour,
)
from lairmake.stages.poly.expression import (
    Instance,
    Name,
    Number,
    compare,
    make_element_loops,
)
from lairmake.stages.poly.functions import PE_NAMES, bind_domain
from lairmake.stages.poly.sides import SIDES, turn

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Adapters that send a replica for each PE -----------------------------------------------------
#
# PEs of their lane get a stream each. Of a sparse stream adapters take as many replicas as they
# send on; a dense one they keep, and send again.
#
# Source   design, The machine; stages/movement/gather.py

def send_replicas(program: RoleProgram, name: str, arrival: Arrival, then: str) -> str:
    """Write the task that ends the replica of a PE, and sends the next one; return its name.

    After the last one it calls `then`.
    """
    body = Body(
        name=program.naming.of(f"replicated_{name}"),
        comment=f"A replica of {name} is sent: the next.",
    )
    again = Block()
    send_again(program, again, f"spread_{name}", arrival.colour, body.name)
    end_replica(program, body.block, name, arrival, again)
    body.block.add(Call(Task(then)))
    program.add(body)
    return body.name


def end_replica(
    program: RoleProgram, block: Block, name: str, arrival: Arrival, again: Block | None = None
) -> None:
    """Append the end of the replica of a PE, which returns unless it was the last one.

    `again` is what is done before it returns.
    """
    replica, replicas = (program.naming.of(f"{name}_{part}") for part in ("replica", "replicas"))
    program.hold(replica)
    program.hold(replicas)
    _count_takers(program, name, arrival, replicas)
    colour = program.colour(arrival.colour)
    block.charge(scalar=3)
    inner = block.nest(If(compare(More(Field(replica)), "<", Field(replicas))))
    inner.add(SendTurn(colour, last=False))
    if again is not None:
        inner.absorb(again)
    inner.add(Return())
    block.add(Assign(Field(replica), Number(0)), SendTurn(colour, last=True))


def _count_takers(program: RoleProgram, name: str, arrival: Arrival, replicas: str) -> None:
    """Let `main` count the PEs of the lane that take the stream."""
    model = program.model
    turned = turn(arrival.side, model.grid)
    takers = model.routes.pes(name, "taken").apply(turned)
    here = isl.Map("{ [lane, 0] -> [lane, depth] : depth > 0 }").intersect_range(takers)
    lane = here.apply_range(isl.Map("{ [lane, depth] -> [depth] }"))
    depths = bind_domain(lane.apply_domain(turned.reverse()), PE_NAMES)

    def instance(block: Block, at: Instance) -> None:
        block.add(Increase(Field(replicas)))

    main = program.main.block
    adapters = model.pes(name, "adapters").intersect(program.pes)
    names = [program.naming.of(f"depth {name}", "depth")]
    write_nest(program.when(main, adapters), make_element_loops(depths, adapters, names), instance)

# --- Adapters that spread a port's stream ---------------------------------------------------------
#
# They do so element by element, or all at once.
#
# Paper    V Sec. 4.2, (5)

@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """The program of the adapters on a side: what they spread, and what they collect."""

    program: RoleProgram
    spread: Mapping[str, Arrival]
    collected: Mapping[str, Sequence[str]]
    turn_taking: TurnTaking


def find_away(model: Model, back: str) -> str:
    """Return the departure that comes back as an arrival; empty if it comes from a port."""
    departures = model.graph.departures.items()
    return next((name for name, d in departures if d.feedback == back), "")


def write_sparse(border: Border, restart: Body, name: str, arrival: Arrival) -> None:
    """Write what sends elements and ends of sequences on, and append what begins with these."""
    program = border.program
    _write_relay(program, name, arrival)
    _write_end(border, name, arrival)
    colour = program.listen(arrival.source)
    block = program.when(restart.block, program.model.pes(name, "adapters"))
    begin_sequences(program, block, name, arrival.outer)
    block.add(UnblockColour(colour))
    react(program, name, arrival.source, "adapters")


def _write_relay(program: RoleProgram, name: str, arrival: Arrival) -> None:
    """Write the data task that sends an element on, if the lane needs it."""
    tensor, task, naming = arrival.tensor, f"relay_{name}", program.naming
    type_ = program.model.graph.tensors[tensor].type
    body, variable = begin_data_task(program, name, arrival, f"Send an element of {tensor} on.")
    program.count(task)
    colour = program.colour(arrival.colour)

    def instance(block: Block, at: Instance) -> None:
        index = at.arguments[-1]
        block.charge(scalar=1)
        block.charge(**count_kinds(index))
        block.add(CountCall(naming.counter(task)))
        block.add(SendSparse(colour, Name(variable), index, type_))

    elements = program.model.instance_set(task)
    dimensions = range(elements.dim(isl.dim_type.set))
    names = [naming.of(f"time {k}", f"t{k}") for k in dimensions]
    write_nest(body.block, make_element_loops(elements, program.model.known(task), names), instance)
    program.add(body)


def _write_end(border: Border, name: str, arrival: Arrival) -> None:
    """Write the control task that forwards the end of a sequence."""
    program, comment = border.program, f"A sequence of {name} has ended."
    body = Body(name=program.naming.of(f"end_{name}"), comment=comment, kind="control")
    body.block.add(SendEnd(program.colour(arrival.colour)))
    body.block.charge(scalar=1)
    add_odometer(program, body.block, name, arrival.outer)
    if arrival.colour in arrival.replicas:
        end_replica(program, body.block, name, arrival)
    then = Task(border.turn_taking.then(name))
    body.block.add(BlockColour(program.listen(arrival.source)), Call(then))
    program.add(body)


def write_spread(
    border: Border, begin: Body, name: str, arrival: Arrival, first: str
) -> None:
    """Write the task that sends a received stream on, and append the receive of it.

    `first` is the departure that comes back as the arrival, if one does.
    """
    program, then = border.program, border.turn_taking.then(first or name)
    heard = program.naming.of(f"heard_{name}")
    body = Body(name=heard, comment=f"All of {name} is here: send it on.")
    unpack(program, body.block, f"hear_{name}")
    if arrival.colour in arrival.replicas:
        then = send_replicas(program, name, arrival, then)
    send(program, body.block, f"spread_{name}", arrival.colour, then)
    program.add(body)
    block = program.when(begin.block, program.model.pes(name, "adapters"))
    receive(program, block, f"hear_{name}", arrival.source, heard)

# --- Program of the adapters on one side ----------------------------------------------------------
#
# Adapters take elements of a port's stream, and send them on. Or they take sums on the way to a
# port: see collector.py.
#
# Elements of a sparse stream are forwarded one by one, with a new index, and so are the ends of its
# sequences. A dense stream is received, then the elements that the lane needs are sent.
#
# Paper    V Sec. 4.2, (5)

def make_adapter_programs(model: Model, profile: Profile, vectors: bool) -> list[RoleProgram]:
    """Return the program of each side that has adapters."""
    found = []
    for side, described in SIDES.items():
        spread = {
            name: arrival
            for name, arrival in model.graph.arrivals.items()
            if arrival.spread and arrival.side == side
        }
        collected = collections_on(side, model)
        if spread or collected:
            program = RoleProgram(
                role=f"adapter_{described.word}",
                model=model,
                profile=profile,
                vectors=vectors,
                pes=_adapters(model, spread, collected),
            )
            _keep_sources(program, spread)
            _write(_border(program, spread, collected))
            found.append(program)
    return found


def collections_on(side: str, model: Model) -> dict[str, list[str]]:
    """Return the collections of each departure that adapters on a side collect."""
    found: dict[str, list[str]] = {}
    for name, collection in model.graph.collections.items():
        if collection.side == side:
            found.setdefault(collection.departure, []).append(name)
    return found


def _adapters(
    model: Model, spread: typing.Iterable[str], collected: dict[str, list[str]]
) -> isl.Set:
    """Return the PEs that spread or collect."""
    parts: list[Part] = [(name, "adapters") for name in spread]
    parts += [(name, "chain") for names in collected.values() for name in names]
    pes = isl.Set("[PE_X, PE_Y] -> { : false }")
    for part in parts:
        pes = pes.union(model.pes(*part))
    return pes.union(find_forwarding_pes(model, (f"{name}_source" for name in spread))).coalesce()


def _keep_sources(program: RoleProgram, spread: dict[str, Arrival]) -> None:
    model = program.model
    for arrival in spread.values():
        local = f"{arrival.tensor}_source_local"
        if local in model.shapes:
            program.keep(local, model.type_of(local), model.shapes[local])


def _border(
    program: RoleProgram, spread: dict[str, Arrival], collected: dict[str, list[str]]
) -> Border:
    """Return what adapters on a side do, and by departure who waits for whom.

    That is the adapters that collect it, and that spread what comes back; and those that spread
    what comes from a port.
    """
    parts: dict[str, list[Part]]
    parts = {name: [(n, "chain") for n in names] for name, names in collected.items()}
    for name in spread:
        parts.setdefault(find_away(program.model, name) or name, []).append((name, "adapters"))
    turn_taking = TurnTaking(program, parts)
    return Border(program=program, spread=spread, collected=collected, turn_taking=turn_taking)


def _write(border: Border) -> None:
    """Write all functions, each before those that call it where that is possible."""
    program, turn_taking = border.program, border.turn_taking
    again = Call(Task("restart"))
    program.add(complete_task("One stream of this invocation is complete.", (again,)))
    restart = Body(name="restart", comment="Start an invocation.")
    turn_taking.restart(restart.block)
    begin = {name: turn_taking.beginning(name) for name in turn_taking.waits}
    _count(border, restart)
    for name, arrival in border.spread.items():
        if arrival.sparse:
            write_sparse(border, restart, name, arrival)
        else:
            first = find_away(program.model, name)
            write_spread(border, begin.get(first, restart), name, arrival, first)
    for name, collections in border.collected.items():
        collector = _collector(border, name, collections)
        collector.write()
        collector.restart(begin.get(name, restart).block)
    for name, body in begin.items():
        turn_taking.ready(restart.block, name)
        program.add(body)
    turn_taking.write(turn_taking.parts)
    program.add(restart)
    _take(border)
    program.main.block.add(Call(Task("restart")))
    program.add(program.main)


def _count(border: Border, restart: Body) -> None:
    """Append to the start how many streams an adapter completes, or one if it has none."""
    program = border.program
    parts: list[Part] = [(name, "adapters") for name in border.spread]
    parts += [(name, "chain") for names in border.collected.values() for name in names]
    every = [program.model.pes(*part) for part in parts]
    program.hold("unfinished")
    idle = program.pes
    for pes in every:
        idle = idle.subtract(pes)
    counted = total([program.number(pes) for pes in (*every, idle)])
    restart.block.add(Assign(Field("unfinished"), counted))
    if not idle.is_empty():
        program.when(restart.block, idle).add(Activate(Task("complete")))


def _take(border: Border) -> None:
    """Append to the main program what lets streams of ports come in."""
    program = border.program
    for name, arrival in border.spread.items():
        forward_along(program, arrival.source)
        if arrival.sparse:
            known = program.model.known(f"relay_{name}")
            give_room(program, name, arrival, arrival.source, known)


def _collector(border: Border, name: str, collections: Sequence[str]) -> Collector | Forwarder:
    """Return what writes how adapters collect a departure: they sum it, or forward it."""
    program, then, first = border.program, border.turn_taking.then(name), collections[0]
    if program.model.graph.collections[first].by == "gather":
        return Forwarder(program, first, lane_colour(program.model, name), then)
    return Collector(program, name, collections, then)
