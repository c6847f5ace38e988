"""What computing PEs do with what arrives: react, or store it, and count what statements need.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from dataclasses import dataclass

from lairmake.stages.layer.pe.at_once import run_task
from lairmake.stages.layer.pe.chunked import Chunks
from lairmake.stages.layer.pe.departures import Departures
from lairmake.stages.layer.pe.in_chunks import receive_first, satisfy
from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.operating import operate
from lairmake.stages.layer.pe.program import Program, forward_along
from lairmake.stages.layer.pe.streams import (
    add_odometer,
    begin_data_task,
    begin_sequences,
    give_room,
    react,
    receive,
    unpack,
)
from lairmake.stages.layer.pe.work import transfer_loops
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.task_graph import Arrival
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import (
    Activate,
    Assign,
    BlockColour,
    Call,
    CountCall,
    Field,
    If,
    Less,
    Statement,
    Task,
    UnblockColour,
)
from lairmake.stages.poly.expression import Name, Value, compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Computing:
    """The program of the computing PEs, what leaves, and what arrives in chunks."""

    program: Program
    departures: Departures
    chunks: Chunks


def waiting(program: Program, statement: str) -> Field:
    """Return what counts the things that a statement waits for."""
    return Field(program.naming.of(f"waiting_{statement}"))


def run_if_ready(
    program: Program, block: Block, statement: str, left: Value, *, at_once: bool = False
) -> None:
    """Append that a statement runs if nothing is left that it waits for: as a task, or `at_once`.
    """
    finish = program.task(f"finish_{statement}")
    block.nest(If(compare(left, "==", 0))).add(Call(finish) if at_once else Activate(finish))


def count_down(
    computing: Computing, block: Block, statement: str, *, steps: bool, at_once: bool = False
) -> None:
    """Append that a statement waits for one thing less, and runs if that was the last.

    So do its `steps`, unless they wait for chunks of it only.
    """
    if steps:
        satisfy(computing.chunks, block, statement)
    left = Less(waiting(computing.program, statement))
    run_if_ready(computing.program, block, statement, left, at_once=at_once)


def find_readers(model: Model, arrival: Arrival) -> list[str]:
    """Return the statements that read what arrives."""
    tensor, statements = arrival.tensor, model.layer.statements
    return [s.name for s in statements if any(a.tensor == tensor for a in s.reads)]


def is_carried(model: Model, arrival: Arrival) -> bool:
    """Say whether a later invocation needs what arrives in this one."""
    return any(c.source == arrival.tensor for c in model.layer.carries)


def write_arrival(computing: Computing, name: str, arrival: Arrival) -> None:
    """Write what happens when all of a stream has arrived, and with what it consists of."""
    _write_arrived(computing, name, arrival)
    if arrival.sparse:
        _write_reaction(computing.program, name, arrival)
        _write_end(computing, name, arrival)


def _write_arrived(computing: Computing, name: str, arrival: Arrival) -> None:
    program, model = computing.program, computing.program.model
    body = Body(name=program.naming.of(f"arrived_{name}"), comment=f"All of {name} is here.")
    if arrival.chunks is None:
        for task in model.taking(task_graph.Receive, name):
            unpack(program, body.block, task)
    for statement in find_readers(model, arrival):
        stepping = computing.chunks.steps.get(statement)
        is_trigger = stepping is not None and name in stepping.triggers
        count_down(computing, body.block, statement, steps=not is_trigger)
    computing.departures.arrived(body.block, name)
    if is_carried(model, arrival):
        body.block.add(Call(Task("complete")))
    program.add(body)


def _write_reaction(program: Program, name: str, arrival: Arrival) -> None:
    """Write the data task of a sparse stream."""
    tensor, model = arrival.tensor, program.model
    body, variable = begin_data_task(program, name, arrival, f"React to an element of {tensor}.")

    def stored(element: Value) -> Statement:
        return Assign(element, Name(variable))

    for task in model.taking(task_graph.Store, name):
        program.count(task)
        body.block.add(CountCall(program.naming.counter(task)))
        transfer_loops(body.block, task, model, program.naming, stored, counts=True)
    reacting = model.taking(task_graph.React, name)
    for task in reacting:
        program.count(task)
        block = body.block if len(reacting) == 1 else body.block.nest()
        run_task(program, block, task, {tensor: variable})
    program.add(body)


def _write_end(computing: Computing, name: str, arrival: Arrival) -> None:
    """Write the control task that counts the sequences of a sparse stream."""
    program, early_sends = computing.program, computing.departures.early_sends
    end, comment = program.naming.of(f"end_{name}"), f"A sequence of {name} has ended."
    body = Body(name=end, comment=comment, kind="control")
    if early_sends.has_sequences(name):
        early_sends.end_sequence(body, name)
    else:
        add_odometer(program, body.block, name, arrival.outer)
    body.block.add(BlockColour(program.listen(arrival.colour)))
    body.block.add(Call(program.task(f"arrived_{name}")))
    program.add(body)


def listen_again(computing: Computing, block: Block, name: str, arrival: Arrival) -> None:
    """Append what makes a PE take a stream again."""
    program = computing.program
    if arrival.sparse:
        begin_sequences(program, block, name, arrival.outer)
        block.add(UnblockColour(program.listen(arrival.colour)))
        return
    if arrival.chunks is not None:
        receive_first(computing.chunks, block, computing.chunks.cuts[name])
        return
    for task in program.model.taking(task_graph.Receive, name):
        receive(program, block, task, arrival.colour, program.naming.of(f"arrived_{name}"))
    for task, described in program.model.taking(task_graph.Operate, name).items():
        operate(program, block, task, described)


def listen(program: Program, name: str, arrival: Arrival) -> None:
    """Append to main what a stream does where it is taken, or forwarded."""
    forward_along(program, arrival.colour)
    if arrival.sparse:
        react(program, name, arrival.colour, "taken")
        _give_room(program, name, arrival)


def _give_room(program: Program, name: str, arrival: Arrival) -> None:
    """Let elements wait where PEs use different ones, so that none waits for another's turn.

    Where all use all that passes by, one is as fast as the other, and room would be of no use.
    """
    model = program.model
    taken = {**model.taking(task_graph.Store, name), **model.taking(task_graph.React, name)}
    tasks = [task for task in model.tasks if task in taken]
    known = model.known(tasks[0])
    idle = any(not known.is_subset(model.instance_set(t).params()) for t in tasks)
    if idle or model.routes.has(arrival.colour, "filter"):
        give_room(program, name, arrival, arrival.colour, known)
