"""What adapters do that spread what comes from a port: element by element, or all at once.

Paper    V Sec. 4.2, (5)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.replicas import end_replica, send_replicas
from lairmake.stages.layer.pe.streams import (
    add_odometer,
    begin_data_task,
    begin_sequences,
    react,
    receive,
    send,
    unpack,
)
from lairmake.stages.layer.pe.turn_taking import TurnTaking
from lairmake.stages.layer.texts.task_graph import Arrival
from lairmake.stages.pe.block import Block, Body, write_nest
from lairmake.stages.pe.nodes import (
    BlockColour,
    Call,
    CountCall,
    SendEnd,
    SendSparse,
    Task,
    UnblockColour,
)
from lairmake.stages.poly.expression import Instance, Name, count_operations, make_element_loops


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """The program of the adapters on a side: what they spread, and what they collect."""

    program: Program
    spread: Mapping[str, Arrival]
    collected: Mapping[str, Sequence[str]]
    turn_taking: TurnTaking


def find_away(model: Model, back: str) -> str:
    """Return the departure that comes back as an arrival; empty if it comes from a port."""
    departures = model.graph.departures.items()
    return next((name for name, d in departures if d.feedback == back), "")


def write_sparse(border: Border, restart: Body, name: str, arrival: Arrival) -> None:
    """Write what sends elements and the ends of sequences on, and append what begins with them."""
    program = border.program
    _write_relay(program, name, arrival)
    _write_end(border, name, arrival)
    colour = program.listen(arrival.source)
    block = program.when(restart.block, program.model.pes(name, "adapters"))
    begin_sequences(program, block, name, arrival.outer)
    block.add(UnblockColour(colour))
    react(program, name, arrival.source, "adapters")


def _write_relay(program: Program, name: str, arrival: Arrival) -> None:
    """Write the data task that sends an element on, if the lane needs it."""
    tensor, task, naming = arrival.tensor, f"relay_{name}", program.naming
    type_ = program.model.graph.tensors[tensor].type
    body, variable = begin_data_task(program, name, arrival, f"Send an element of {tensor} on.")
    program.count(task)
    colour = program.colour(arrival.colour)

    def instance(block: Block, at: Instance) -> None:
        index = at.arguments[-1]
        block.charge(scalar=1 + count_operations(index))
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
    """Write the task that sends a received stream on, and append what receives it.

    `first` is the departure that comes back as it, if one does.
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
