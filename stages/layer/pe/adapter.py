"""The program of the adapters on one side: take elements of a port's stream, and send them on.

Or, towards a port, sums; see collector.py.

Elements of a sparse stream are passed on one by one, with a new index, and so are the ends of its
sequences. A dense stream is received, then the elements that the lane needs are sent.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, eq. (5)
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.layer.pe.block import Block, total, write_nest
from stages.layer.pe.c_functions import Body
from stages.layer.pe.collector import Collector, lane_colour
from stages.layer.pe.copies import end_copy, send_copies
from stages.layer.pe.listening import pass_along, passing_pes
from stages.layer.pe.model import Description, Model
from stages.layer.pe.onward import Onward
from stages.layer.pe.program import Program
from stages.layer.pe.statement_nodes import (
    Activate,
    Assign,
    BlockColour,
    Call,
    CountCall,
    OnControl,
    OnData,
    SendEnd,
    SendSparse,
    UnblockColour,
)
from stages.layer.pe.streams import (
    begin_sequences,
    complete_task,
    data_task,
    give_room,
    odometer,
    receive,
    send,
    unpack,
)
from stages.layer.pe.turns import Turns
from stages.layer.pe.value_nodes import Field, Task
from stages.poly.ast import Instance, element_loops
from stages.poly.expression import Name, operations
from stages.poly.side import SIDES

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile


def adapter_programs(model: Model, profile: Profile, vectors: bool) -> list[Program]:
    """Return the program of each side that has adapters."""
    found = []
    for side, described in SIDES.items():
        spread = {
            name: arrival
            for name, arrival in model.graph["arrivals"].items()
            if arrival["spread"] and arrival["side"] == side
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
            found.append(_written(program, spread, collected))
    return found


def collections_on(side: str, model: Model) -> dict[str, list[str]]:
    """Return the collections of each departure that adapters on a side collect."""
    found: dict[str, list[str]] = {}
    for name, collection in model.graph.get("collections", {}).items():
        if collection["side"] == side:
            found.setdefault(collection["departure"], []).append(name)
    return found


def _adapters(
    model: Model, spread: typing.Iterable[str], collected: dict[str, list[str]]
) -> isl.Set:
    """Return the PEs that spread or collect."""
    parts = [f"{name}_adapters" for name in spread]
    parts += [f"{name}_chain" for names in collected.values() for name in names]
    pes = isl.Set("[PE_X, PE_Y] -> { : false }")
    for part in parts:
        pes = pes.union(model.pes(part))
    return pes.union(passing_pes(model, (f"{name}_source" for name in spread))).coalesce()


def _written(
    program: Program, spread: dict[str, Description], collected: dict[str, list[str]]
) -> Program:
    model = program.model
    for arrival in spread.values():
        local = f"{arrival['tensor']}_source_local"
        if local in model.shapes:
            program.keep(local, model.type_of(local), model.shapes[local])
    AdapterWriter(program, spread, collected).write()
    return program


class AdapterWriter:
    """Writes the functions of adapters into their program."""

    def __init__(
        self,
        program: Program,
        spread: dict[str, Description],
        collected: dict[str, list[str]],
    ) -> None:
        """Start with an empty program, and take the arrivals and the collections of its side."""
        self.program = program
        self.model = program.model
        self.naming = program.naming
        self.spread, self.collected = spread, collected
        self.turns = Turns(program, self._parts())

    def write(self) -> None:
        """Write all functions, each before those that call it where that is possible."""
        self.program.add(complete_task("One stream of this invocation is complete."))
        restart = Body(name="restart", comment="Start an invocation.")
        self.turns.restart(restart.block)
        begin = {name: self.turns.beginning(name) for name in self.turns.waits}
        self._count(restart)
        self._spread_all(restart, begin)
        self._collect_all(restart, begin)
        for name, body in begin.items():
            self.turns.ready(restart.block, name)
            self.program.add(body)
        self.turns.write(self.turns.parts)
        self.program.add(restart)
        self._receive_all()
        self.program.main.block.add(Call(Task("restart")))
        self.program.add(self.program.main)

    def _count(self, restart: Body) -> None:
        """Append to the start how many streams an adapter completes, or one if it has none."""
        parts = [f"{name}_adapters" for name in self.spread]
        parts += [f"{name}_chain" for names in self.collected.values() for name in names]
        counted = [self.program.number(self.model.pes(part)) for part in parts]
        self.program.hold("unfinished")
        idle = self.program.pes
        for part in parts:
            idle = idle.subtract(self.model.pes(part))
        counted.append(self.program.number(idle))
        restart.block.add(Assign(Field("unfinished"), total(counted)))
        if not idle.is_empty():
            self.program.when(restart.block, idle).add(Activate(Task("complete")))

    def _spread_all(self, restart: Body, begin: dict[str, Body]) -> None:
        """Write what sends elements on; `begin` has what must come before, by departure."""
        for name, arrival in self.spread.items():
            if arrival["sparse"]:
                self._relay(name, arrival)
                self._end(name, arrival)
                self._listen(restart, name, arrival)
            else:
                away = self._away(name)
                then = self.turns.then(away or name)
                self._spread(begin.get(away, restart), name, arrival, then)

    def _collect_all(self, restart: Body, begin: dict[str, Body]) -> None:
        for name, collections in self.collected.items():
            collector = self._collector(name, collections)
            collector.write()
            collector.restart(begin.get(name, restart).block)

    def _receive_all(self) -> None:
        """Append to the main program what lets streams of ports come in."""
        for name, arrival in self.spread.items():
            pass_along(self.program, arrival["source"])
            if arrival["sparse"]:
                known = self.model.known(f"relay_{name}")
                give_room(self.program, name, arrival, arrival["source"], known)

    def _collector(self, name: str, collections: list[str]) -> Collector | Onward:
        """Return what writes how adapters collect a departure: they sum it, or pass it on."""
        then, first = self.turns.then(name), collections[0]
        if self.model.graph["collections"][first]["by"] == "gather":
            return Onward(self.program, first, lane_colour(self.model, name), then)
        return Collector(self.program, name, collections, then)

    def _parts(self) -> dict[str, list[str]]:
        """Return, by departure, the adapters that collect it, and that spread what comes back.

        And those that spread what comes from a port.
        """
        parts = {
            name: [f"{along}_chain" for along in collections]
            for name, collections in self.collected.items()
        }
        for name in self.spread:
            parts.setdefault(self._away(name) or name, []).append(f"{name}_adapters")
        return parts

    def _away(self, back: str) -> str:
        """Return the departure that comes back as an arrival; empty if it comes from a port."""
        departures = self.model.graph["departures"].items()
        return next((name for name, d in departures if d.get("returns") == back), "")

    def _relay(self, name: str, arrival: Description) -> None:
        """Write the data task that sends an element on, if the lane needs it."""
        tensor, task = arrival["tensor"], f"relay_{name}"
        type_ = self.model.graph["tensors"][tensor]["type"]
        comment = f"Send an element of {tensor} on."
        body, variable = data_task(self.program, name, arrival, comment)
        self.program.count(task)
        colour = self.program.colour(arrival["colour"])

        def instance(block: Block, at: Instance) -> None:
            index = at.arguments[-1]
            block.charge(scalar=1 + operations(index))
            block.add(CountCall(self.naming.counter(task)))
            block.add(SendSparse(colour, Name(variable), index, type_))

        elements = self.model.instance_set(task)
        dimensions = range(elements.dim(isl.dim_type.set))
        names = [self.naming.of(f"time {k}", f"t{k}") for k in dimensions]
        write_nest(body.block, element_loops(elements, self.model.known(task), names), instance)
        self.program.add(body)

    def _end(self, name: str, arrival: Description) -> None:
        """Write the control task that passes on the end of a sequence."""
        body = Body(
            name=self.naming.of(f"end_{name}"),
            comment=f"A sequence of {name} has ended.",
            kind="control",
        )
        body.block.add(SendEnd(self.program.colour(arrival["colour"])))
        body.block.charge(scalar=1)
        odometer(self.program, body.block, name, arrival)
        if arrival["colour"] in arrival.get("copies", []):
            end_copy(self.program, body.block, name, arrival)
        then = Task(self.turns.then(name))
        body.block.add(BlockColour(self.program.listen(arrival["source"])), Call(then))
        self.program.add(body)

    def _listen(self, restart: Body, name: str, arrival: Description) -> None:
        colour = self.program.listen(arrival["source"])
        block = self.program.when(restart.block, self.model.pes(f"{name}_adapters"))
        begin_sequences(self.program, block, name, arrival)
        block.add(UnblockColour(colour))
        reacting = self.program.main.block
        if self.model.is_shared(arrival["source"]):
            reacting = self.program.when(reacting, self.model.pes(f"{name}_adapters"))
        reacting.add(
            OnData(colour, Task(self.naming.of(f"on_{name}"))),
            OnControl(colour, Task(self.naming.of(f"end_{name}"))),
        )

    def _spread(self, begin: Body, name: str, arrival: Description, then: str) -> None:
        """Write the task that sends a received stream on, and append what receives it."""
        body = Body(
            name=self.naming.of(f"heard_{name}"), comment=f"All of {name} is here: send it on."
        )
        unpack(self.program, body.block, f"hear_{name}")
        if arrival["colour"] in arrival.get("copies", []):
            then = send_copies(self.program, name, arrival, then)
        send(self.program, body.block, f"spread_{name}", arrival["colour"], then)
        self.program.add(body)
        block = self.program.when(begin.block, self.model.pes(f"{name}_adapters"))
        receive(
            self.program,
            block,
            f"hear_{name}",
            arrival["source"],
            self.naming.of(f"heard_{name}"),
        )
