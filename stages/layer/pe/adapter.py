"""The program of the adapters on one side: take elements of a port's stream, and send them on.

Or, towards a port, sums; see collector.py.

Elements of a sparse stream are forwarded one by one, with a new index, and so are the ends of its
sequences. A dense stream is received, then the elements that the lane needs are sent.

Paper    V Sec. 4.2, (5)
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

import islpy as isl

from lairmake.stages.layer.pe.collector import Collector, lane_colour
from lairmake.stages.layer.pe.forward import Forwarder
from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.program import Program, find_forwarding_pes, forward_along
from lairmake.stages.layer.pe.spreading import Border, find_away, write_sparse, write_spread
from lairmake.stages.layer.pe.streams import complete_task, give_room
from lairmake.stages.layer.pe.turn_taking import TurnTaking
from lairmake.stages.layer.texts.isl_files import Part
from lairmake.stages.layer.texts.task_graph import Arrival
from lairmake.stages.pe.block import Body, total
from lairmake.stages.pe.nodes import Activate, Assign, Call, Field, Task
from lairmake.stages.poly.sides import SIDES

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile


def make_adapter_programs(model: Model, profile: Profile, vectors: bool) -> list[Program]:
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
            program = Program(
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


def _keep_sources(program: Program, spread: dict[str, Arrival]) -> None:
    model = program.model
    for arrival in spread.values():
        local = f"{arrival.tensor}_source_local"
        if local in model.shapes:
            program.keep(local, model.type_of(local), model.shapes[local])


def _border(
    program: Program, spread: dict[str, Arrival], collected: dict[str, list[str]]
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
    program.add(complete_task("One stream of this invocation is complete."))
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
