"""Streams of a PE program: sequences counted, elements received and sent in order.

A stream moves elements between the fabric and memory with one instruction if their addresses are
linear in their order; else it moves them to or from consecutive memory, and loops do the rest.
"""

from __future__ import annotations

from math import prod

import islpy as isl

from lairmake.stages.layer.pe.model import holds
from lairmake.stages.layer.pe.program import Program, find_by_parity
from lairmake.stages.layer.pe.transfer import ALONE, COUNTER, IN, OUT, SUMMED, TAKEN, Transfer
from lairmake.stages.layer.pe.work import transfer_loops
from lairmake.stages.layer.routes.resources import count_fifos
from lairmake.stages.layer.texts.isl_files import Said
from lairmake.stages.layer.texts.task_graph import Arrival, Box, Outgoing
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Call,
    Choice,
    Combine,
    Configure,
    Continues,
    Declare,
    Else,
    Fabric,
    Field,
    Gap,
    GiveRoom,
    Group,
    If,
    Less,
    More,
    Nothing,
    OnControl,
    OnData,
    Operand,
    Receive,
    Return,
    Send,
    Statement,
    Task,
    WaveletIndex,
    WaveletValue,
)
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.expression import Number, Operation, Value, compare
from lairmake.stages.poly.functions import find_index_constants

ROOM = 1024
"""How many wavelets of a stream may wait in the memory of a PE."""


def declare_outer_indices(program: Program, name: str, outer: Box) -> dict[str, Value]:
    """Return the outer indices, kept in memory between sequences."""
    every = range(len(outer))
    return {f"index{k}": Field(program.naming.of(f"{name}_index{k}")) for k in every}


def begin_data_task(
    program: Program, name: str, arrival: Arrival, comment: str
) -> tuple[Body, str]:
    """Return the data task of a sparse stream, and the variable of the element that arrived."""
    tensor = arrival.tensor
    type_ = program.model.graph.tensors[tensor].type
    variable = program.naming.element(tensor)
    body = Body(name=program.naming.of(f"on_{name}"), comment=comment, kind="data")
    body.hold(declare_outer_indices(program, name, arrival.outer) | {"index": WaveletIndex()})
    body.locals[variable] = Declare(variable, type_, WaveletValue(type_))
    return body, variable


def complete_task(comment: str, then: tuple[Statement, ...] = ()) -> Body:
    """Return the task that ends an invocation once all its parts are complete.

    `then` is what is done before the next invocation.
    """
    body = Body(name="complete", comment=comment)
    last = compare(Less(Field("unfinished")), "==", 0)
    inner = body.block.nest(If(Operation("and", (last, Continues()))))
    inner.add(*then, Call(Task("restart")))
    return body


def add_odometer(
    program: Program,
    block: Block,
    name: str,
    outer: Box,
    again: tuple[Statement, ...] = (),
) -> None:
    """Append the step to the next sequence, which returns unless it was the last one.

    Outer indices run over their box in lexicographic order and end where they began. `again` is
    what is done before it returns.
    """
    for k, (low, high) in reversed(list(enumerate(outer))):
        field = program.naming.of(f"{name}_index{k}")
        program.hold(field)
        block.charge(scalar=2)
        goes_on = compare(More(Field(field)), "<=", high)
        block.nest(If(goes_on)).add(*again, Return())
        block.add(Assign(Field(field), Number(low)))


def begin_sequences(program: Program, block: Block, name: str, outer: Box) -> None:
    """Append that the first sequence is next."""
    for k, (low, _) in enumerate(outer):
        block.add(Assign(Field(program.naming.of(f"{name}_index{k}")), Number(low)))


def react(program: Program, name: str, stream: str, takers: Said) -> None:
    """Append to main what a sparse stream starts, on the PEs that take it if others hear more."""
    colour, block = program.listen(stream), program.main.block
    line = program.model.forwarding.get(stream)
    program.reacting += [stream] if line is None else [*line.colours, line.enters]
    if program.model.is_shared(stream):
        block = program.when(block, program.model.pes(name, takers))
    block.add(OnData(colour, program.task(f"on_{name}")))
    block.add(OnControl(colour, program.task(f"end_{name}")))


def give_room(
    program: Program, name: str, arrival: Arrival, colour: str, known: isl.Set
) -> None:
    """Let what a PE hears of a sparse stream wait in its memory, as far as there is memory.

    The room is for all of an invocation: elements, in a box of the symbolic constants with which
    they are `known` to come, and ends of sequences; at most ROOM, and what no other need has. There
    is none where it would take a thread that streams may need.
    Source: the FIFOs in memory of the Cerebras SDK, sdk.cerebras.ai/csl/language/dsrs.
    """
    line, profile = program.model.forwarding.get(colour), program.profile
    if profile.fifo > 0 and program.fifos == count_fifos(profile, program.fifos + 1):
        return
    names = find_index_constants(known)
    listed = ", ".join(names)
    heard = known.unbind_params(isl.MultiId(f"[{listed}] -> {{ [{listed}] }}"))
    ends = prod(high - low + 1 for low, high in arrival.outer)
    start = -(-program.data // 4) * 4
    left = program.profile.memory - program.code - program.profile.code_task - start
    wavelets = min(bound_points(heard) + ends, ROOM, left // 8)
    if wavelets > 0:
        field = program.naming.of(f"{name}_waiting")
        program.keep(field, "int32", (wavelets, 2))
        room = GiveRoom(program.listen(colour), Field(field), wavelets)
        program.when(program.main.block, program.pes_of(known)).add(room)
        program.fifos += 1
        program.waiting += [colour] if line is None else [*line.colours, line.enters]


def receive(program: Program, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that receives all of a dense stream into memory."""
    transfer = Transfer(program, task)
    transfer.configure("COPY", TAKEN, program.model.known(task))
    where = transfer.where(block)
    block.add(Receive(transfer.vector, program.listen(colour), where, Task(then)))


def unpack(program: Program, block: Block, task: str) -> None:
    """Append loops that bring what was received in order to where it belongs, if need be."""
    transfer = Transfer(program, task)
    if transfer.packed:
        inner = block.nest()
        inner.add(COUNTER, Gap())
        transfer_loops(inner, task, program.model, program.naming, transfer.taken)


def send(program: Program, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that sends elements from memory."""
    transfer = Transfer(program, task)
    transfer.configure("COPY", ALONE, program.model.known(task))
    transfer.pack(block)
    send_again(program, block, task, colour, then)


def send_again(program: Program, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that sends the elements of a task as they were sent before."""
    transfer = Transfer(program, task)
    where = transfer.where(block)
    block.add(Send(transfer.vector, program.colour(colour), where, Task(then)))


def send_sum(
    program: Program,
    block: Block,
    task: str,
    departure: Outgoing,
    chain: isl.Set,
    first: isl.Set,
    then: str,
) -> None:
    """Append the instructions that send a PE's part of a sum, and what comes from farther in.

    `chain` are the PEs that do so, from the `first` ones on.
    """
    transfer = Transfer(program, task)
    configure_sum(transfer, departure, chain, first)
    transfer.pack(block)
    add_sum(block, transfer, departure, chain, first, Task(then))


def configure_sum(
    transfer: Transfer, departure: Outgoing, chain: isl.Set, first: isl.Set
) -> None:
    """Configure what a sum is sent with: the first PEs of a chain only copy their part."""
    transfer.configure("COPY", ALONE, first)
    transfer.configure(departure.by.upper(), SUMMED, chain.subtract(first))


def add_sum(
    block: Block,
    transfer: Transfer,
    departure: Outgoing,
    chain: isl.Set,
    first: isl.Set,
    then: Value,
    sizes: tuple[Value, ...] = (),
) -> None:
    """Append the instructions of a sum, configured for some `sizes` first if these are given."""
    where = transfer.where(block)
    here = chain.intersect(transfer.program.pes)
    alone, none = holds(first, here), first.is_disjoint(here)
    if not none:
        inner = block.when(alone)
        if sizes:
            transfer.configure_now(inner, "COPY", ALONE, sizes)
        inner.add(Send(transfer.vector, OUT, where, then))
    if alone is not None:
        inner = block if none else block.nest(Else())
        if sizes:
            transfer.configure_now(inner, departure.by.upper(), SUMMED, sizes)
        inner.add(Combine(transfer.vector, OUT, IN, where, then))


def flush(program: Program, block: Block, name: str, then: str, pes: isl.Set) -> None:
    """Append what activates a task when all that was sent on `out` before has left from some PEs.

    That is an instruction without elements, which comes after the others of its colour.
    """
    vector = program.naming.of(name)
    program.hold(vector, "vector")
    at, operands = Address(Field(vector)), (Fabric("float32"), Operand("float32", ()))
    program.when(program.main.block, pes.intersect(program.pes)).add(
        Configure(at, None, "COPY", (Number(0),), operands)
    )
    block.add(Send(at, OUT, Nothing(), Task(then)))


def alternate_colours(
    program: Program, departure: Outgoing, pes: isl.Set, last: isl.Set | None = None
) -> dict[str, Value]:
    """Return the outgoing and incoming colours of PEs, `out` and `in`, by depth's parity.

    Along a border the parity is that of the lane, and the `last` PEs send to the port.
    """
    even, odd = departure.colours
    for colour in (even, odd):
        program.listen(colour)
    out = find_by_parity(departure.parity, pes, (even, odd), program.colour)
    into = find_by_parity(departure.parity, pes, (odd, even), program.colour)
    if last is not None:
        assert departure.out is not None, "the last PEs send on a colour of their own"
        out = _but_last(program.colour(departure.out), holds(last, pes), out)
    return {"out": out, "in": into}


def _but_last(colour: Value, is_last: Value | None, out: Value) -> Value:
    """Return the colour on which the last PEs send, the others on another one."""
    return colour if is_last is None else Choice(Group(is_last), colour, Group(out))
