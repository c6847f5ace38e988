"""Streams of a PE program, and the instructions that transfer them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import islpy as isl

from lairmake.stages.layer.codegen.instruction import (
    add_task_loops,
    add_vector_call,
    find_base_address,
    transfer_loops,
)
from lairmake.stages.layer.codegen.model import count_most_elements, holds, value
from lairmake.stages.layer.codegen.program import RoleProgram, find_by_parity
from lairmake.stages.layer.routes.resources import count_fifos
from lairmake.stages.layer.texts.isl_files import Said
from lairmake.stages.layer.texts.simd_yaml import LocalDecision
from lairmake.stages.layer.texts.task_graph import AnyTask, Arrival, Box, Fills, Outgoing, Runs
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Choice,
    Combine,
    Configure,
    Continues,
    Declare,
    Element,
    Else,
    Fabric,
    Field,
    Gap,
    GiveRoom,
    Group,
    If,
    Increase,
    Less,
    More,
    Next,
    Nothing,
    OnControl,
    OnData,
    Operand,
    Receive,
    Return,
    Send,
    StatementNode,
    Task,
    WaveletIndex,
    WaveletValue,
    make_operand,
)
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.expression import Name, Number, Operation, Value, compare
from lairmake.stages.poly.functions import find_index_constants

# --- Transfers of streams -------------------------------------------------------------------------
#
# The instruction of a stream moves elements between the fabric and memory at once if their
# addresses are linear in their order; else it moves them to or from consecutive memory, and loops
# do the rest.

TAKEN, ALONE, SUMMED = (False, True), (True, False), (True, True, False)
"""For each operand of an instruction whether it is on the fabric, else it is in memory: of one that
takes what comes, of one that sends what a PE has, of one that adds that to what comes."""
OUT, IN = Name("out"), Name("in")
COUNT = Name("n")
COUNTER = Declare("n", "int", Number(0), fixed=False)


class Transfer:
    """A stream's instruction: its configuration, and the memory that it reads or writes."""

    def __init__(
        self,
        program: RoleProgram,
        task: str,
        *,
        apart: bool = False,
        count: str = "",
        slots: int = 0,
        slot: Value | None = None,
        vector: str = "",
    ) -> None:
        """Keep consecutive memory if the elements' addresses are not linear in their order.

        Or if elements should lie `apart` from the tensor. `count` is how many there are, as isl
        text, if that is known; with `slots` the memory is that of several parts, `slot` in turn.
        The `vector` has another name where other streams have it at other times.
        """
        self.program, self.task, self.count = program, task, count
        self.decision = program.model.simd[task]
        name = program.naming.of(vector or task)
        self.vector = Address(Field(name))
        self.packed = ""
        local = next(iter(program.model.accesses(task).values()))
        self.type = program.model.type_of(local.get_tuple_name(isl.dim_type.out))
        if apart or self.decision.by == "loops":
            self.packed = program.naming.of(f"{task}_packed")
            parts = (slots,) if slots else ()
            shape = (*parts, count_most_elements(program.model, task))
            program.keep(self.packed, self.type, shape, f"{task}_packed")
        self.place: Value = Field(self.packed)
        if slot is not None and slots:
            self.place = Element(self.place, (Operation("%", (slot, Number(slots))),))
        program.hold(name, "vector")

    def taken(self, element: Value) -> StatementNode:
        """Return the statement that gives an element the next one of consecutive memory."""
        return Assign(element, Element(self.place, (Next(COUNT),)))

    def put(self, element: Value) -> StatementNode:
        """Return the statement that gives the next one of consecutive memory an element."""
        return Assign(Element(self.place, (Next(COUNT),)), element)

    def where(self, block: Block) -> Value:
        """Return the address of the first element."""
        if self.packed:
            return self.place
        known = self.program.model.known(self.task)
        return find_base_address(self._local(), block, known, self.program.buffers)

    def _local(self) -> LocalDecision:
        """Return the elements in memory."""
        operand = self.decision.operands[0]
        assert isinstance(operand, LocalDecision), "a stream is moved from memory, or to it"
        return operand

    def pack(self, block: Block) -> None:
        """Append loops that bring elements into the order in which they leave, if need be."""
        if self.packed:
            program = self.program
            inner = block.nest()
            inner.add(COUNTER, Gap())
            transfer_loops(inner, self.task, program.model, program.naming, self.put)

    def configure(self, operation: str, fabric: tuple[bool, ...], pes: isl.Set) -> None:
        """Configure the instruction in main, on the given PEs."""
        program = self.program
        here = pes.intersect(program.pes)
        if here.is_empty():
            return
        block = program.main.block.when(holds(here, program.pes))
        self.configure_now(block, operation, fabric, self.find_sizes(block, here, program.main))

    def configure_now(
        self, block: Block, operation: str, fabric: tuple[bool, ...], sizes: tuple[Value, ...]
    ) -> None:
        """Append the configuration of the instruction for some sizes."""
        strides = (1,) if self.packed else self._local().strides
        type_ = self.type if self.packed else self._local().type
        memory = make_operand(type_, strides)
        operands = tuple(Fabric(type_) if is_fabric else memory for is_fabric in fabric)
        block.add(Configure(self.vector, None, operation, sizes, operands))

    def find_sizes(self, block: Block, pes: isl.Set, body: Body) -> tuple[Value, ...]:
        """Return the sizes, in a block of a function on some PEs.

        Elements whose addresses are not linear are counted by loops.
        """
        if self.decision.by != "loops":
            sizes = tuple(value(s, pes) for s in self.decision.sizes or ())
            return (Operation("*", sizes),) if self.packed and sizes else sizes
        if self.count:
            return (value(self.count, pes),)
        count = Name(self.program.naming.of(f"{self.task}_count"))
        body.locals[count.name] = Declare(count.name, "int", Number(0), fixed=False)
        block.add(Assign(count, Number(0)))
        transfer_loops(
            block, self.task, self.program.model, self.program.naming, lambda _: Increase(count)
        )
        return (count,)

# --- Sequences and dense streams ------------------------------------------------------------------
#
# Sequences are counted; elements are received and sent in order.

ROOM = 1024
"""The most wavelets of a stream that may wait in the memory of a PE."""


def declare_outer_indices(program: RoleProgram, name: str, outer: Box) -> dict[str, Value]:
    """Return the outer indices, kept in memory between sequences."""
    every = range(len(outer))
    return {f"index{k}": Field(program.naming.of(f"{name}_index{k}")) for k in every}


def begin_data_task(
    program: RoleProgram, name: str, arrival: Arrival, comment: str
) -> tuple[Body, str]:
    """Return the data task of a sparse stream, and the variable of the element that arrived."""
    tensor = arrival.tensor
    type_ = program.model.graph.tensors[tensor].type
    variable = program.naming.element(tensor)
    body = Body(name=program.naming.of(f"on_{name}"), comment=comment, kind="data")
    body.hold(declare_outer_indices(program, name, arrival.outer) | {"index": WaveletIndex()})
    body.locals[variable] = Declare(variable, type_, WaveletValue(type_))
    return body, variable


def complete_task(comment: str, then: tuple[StatementNode, ...]) -> Body:
    """Return the task that ends an invocation once all its parts are complete.

    `then` is what is done if there is another one.
    """
    body = Body(name="complete", comment=comment)
    last = compare(Less(Field("unfinished")), "==", 0)
    inner = body.block.nest(If(Operation("and", (last, Continues()))))
    inner.add(*then)
    return body


def add_odometer(
    program: RoleProgram,
    block: Block,
    name: str,
    outer: Box,
    again: tuple[StatementNode, ...] = (),
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


def begin_sequences(program: RoleProgram, block: Block, name: str, outer: Box) -> None:
    """Append that the first sequence is next."""
    for k, (low, _) in enumerate(outer):
        block.add(Assign(Field(program.naming.of(f"{name}_index{k}")), Number(low)))


def react(program: RoleProgram, name: str, stream: str, takers: Said) -> None:
    """Append to main what a sparse stream starts, on the PEs that take it if others hear more."""
    colour, block = program.listen(stream), program.main.block
    line = program.model.forwarding.get(stream)
    program.reacting += [stream] if line is None else [*line.colours, line.enters]
    if program.model.is_shared(stream):
        block = program.when(block, program.model.pes(name, takers))
    block.add(OnData(colour, program.task(f"on_{name}")))
    block.add(OnControl(colour, program.task(f"end_{name}")))


def give_room(
    program: RoleProgram, name: str, arrival: Arrival, colour: str, known: isl.Set
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


def receive(program: RoleProgram, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that receives all of a dense stream into memory."""
    transfer = Transfer(program, task)
    transfer.configure("COPY", TAKEN, program.model.known(task))
    where = transfer.where(block)
    block.add(Receive(transfer.vector, program.listen(colour), where, Task(then)))


def unpack(program: RoleProgram, block: Block, task: str) -> None:
    """Append loops that bring what was received in order to where it belongs, if need be."""
    transfer = Transfer(program, task)
    if transfer.packed:
        inner = block.nest()
        inner.add(COUNTER, Gap())
        transfer_loops(inner, task, program.model, program.naming, transfer.taken)


def send(program: RoleProgram, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that sends elements from memory."""
    transfer = Transfer(program, task)
    transfer.configure("COPY", ALONE, program.model.known(task))
    transfer.pack(block)
    send_again(program, block, task, colour, then)


def send_again(program: RoleProgram, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that sends the elements of a task as they were sent before."""
    transfer = Transfer(program, task)
    where = transfer.where(block)
    block.add(Send(transfer.vector, program.colour(colour), where, Task(then)))


def send_sum(
    program: RoleProgram,
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


def flush(program: RoleProgram, block: Block, name: str, then: str, pes: isl.Set) -> None:
    """Append an activation of a task when all sent on `out` before has left from some PEs.

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
    program: RoleProgram, departure: Outgoing, pes: isl.Set, last: isl.Set | None = None
) -> dict[str, Value]:
    """Return the outgoing and incoming colours of PEs, `out` and `in`, by depth's parity.

    Along a border the parity is that of the lane, and the `last` PEs send to the port.
    """
    even, odd = departure.colours
    # Both, although a PE hears one: layout.yaml has one list of colours for all PEs of a role, and
    # fabric/check.py refuses a colour that reaches a PE whose role does not list it. One too many
    # has no price: queues are counted from routes (codegen/layout.py), not from this list.
    for colour in (even, odd):
        program.listen(colour)
    out = find_by_parity(departure.parity, pes, (even, odd), program.colour)
    # What a PE hears was sent by one of the other parity, so the pair is turned round.
    into = find_by_parity(departure.parity, pes, (odd, even), program.colour)
    if last is not None:
        assert departure.out is not None, "the last PEs send on a colour of their own"
        out = _but_last(program.colour(departure.out), holds(last, pes), out)
    return {"out": out, "in": into}


def _but_last(colour: Value, is_last: Value | None, out: Value) -> Value:
    """Return the colour on which the last PEs send, the others on another one."""
    # A colour of its own, none of the departure's two: what the last PE sends may pass the others
    # again, to a port that lies among them, or inwards where it is fed back. On the colour of its
    # parity the last but one listens to the PE behind it.
    return colour if is_last is None else Choice(Group(is_last), colour, Group(out))

# --- Tasks that run at once -----------------------------------------------------------------------
#
# They run with vector instructions, or with loops.
#
# Paper    V Sec. 5

def run_task(program: RoleProgram, block: Block, name: str, elements: Mapping[str, str]) -> None:
    """Append what a task does; both programs have the same memory, for one layout.

    `elements` gives the variable of each tensor whose element arrives.
    """
    program.keep_parts(name)
    if program.vectors and program.model.simd[name].by != "loops":
        program.configure(name, formula(program.model.tasks[name]))
        add_vector_call(block, name, program.model, program.naming, elements)
    else:
        add_task_loops(block, name, program.model, program.naming, elements)


def formula(task: AnyTask) -> str:
    """Return the statement of a task, or the value that it gives a tensor."""
    if isinstance(task, Fills):
        return f"{task.tensor} = {task.value}"
    assert isinstance(task, Runs), "what runs at once computes, or fills"
    return f"{task.target} {task.op} {task.expression}"
