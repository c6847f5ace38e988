"""Sums that leave sparse: the PE next to the port sends what is not zero, with its index.

It takes what comes from farther in, adds it to its own part, and goes on sequence by sequence:

    send_N -> pack_N -> sent_N -> pack_N -> ... -> complete

Source   design, Sparse tensors
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.layer.pe.at_most import count_most_elements
from lairmake.stages.layer.pe.computing import Operands, combine, load
from lairmake.stages.layer.pe.model import holds
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.streams import (
    add_odometer,
    alternate_colours,
    begin_sequences,
    declare_outer_indices,
    send_sum,
)
from lairmake.stages.layer.pe.transfer import COUNT, COUNTER, IN, OUT, TAKEN, Transfer
from lairmake.stages.layer.pe.work import transfer_loops
from lairmake.stages.layer.texts.task_graph import Outgoing
from lairmake.stages.machine.types import is_integer
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Call,
    Configure,
    CountCall,
    Declare,
    Element,
    Else,
    Fabric,
    Field,
    If,
    Literal,
    Loaded,
    Next,
    Packed,
    Receive,
    Send,
    SendEnd,
    Store,
    Task,
    make_operand,
)
from lairmake.stages.poly.expression import Name, Number, Value, compare

OPERATORS = {"add": "+", "mul": "*", "max": "max", "min": "min"}


def send_sequences(
    program: Program, block: Block, name: str, departure: Outgoing, then: str
) -> None:
    """Append what starts a sparse departure on each PE, and write the tasks that go on with it."""
    chain, last = program.model.pes(name, "chain"), program.model.pes(name, "last")
    first = program.model.pes(name, "first")
    sums = Sums(program, name, departure, last, last.subtract(first))
    sums.pack()
    sums.go_on(then)
    sums.begin(block.when(holds(last, chain)))
    farther_in = chain.subtract(last)
    if not farther_in.is_empty():
        alone = first.subtract(last)
        inner = block.nest(Else())
        send_sum(program, inner, f"send_{name}", departure, farther_in, alone, then)


class Sums:
    """What the last PEs of a sparse departure do; those `summed` take what others send."""

    def __init__(
        self, program: Program, name: str, departure: Outgoing, last: isl.Set, summed: isl.Set
    ) -> None:
        """Keep memory for the sums of the other PEs, and for the wavelets of a sequence."""
        assert departure.sequences is not None, "what leaves sparse does so in sequences"
        self.program, self.name, self.departure = program, name, departure
        self.outer = departure.sequences.outer
        self.last, self.summed = last, summed
        self.packing, self.sent = (program.naming.of(f"{w}_{name}") for w in ("pack", "sent"))
        self.wavelets = program.naming.of(f"{name}_wavelets")
        self.position = program.naming.of(f"{name}_position")
        task = f"pack_{name}"
        shape = (count_most_elements(program.model, task),)
        program.keep(self.wavelets, "int32", shape, f"{name}_wavelets")
        program.hold(self.packing, "vector")
        self.received: Value | None = None
        if not summed.is_empty():
            self.transfer = Transfer(program, f"send_{name}", apart=True)
            self.transfer.configure("COPY", TAKEN, summed)
            self.received = self.transfer.place
            program.hold(self.position)

    def begin(self, block: Block) -> None:
        """Append the start: the first sequence, or before it what comes from farther in."""
        begin_sequences(self.program, block, self.name, self.outer)
        alone = self.last.subtract(self.summed)
        if self.received is not None:
            block.add(Assign(Field(self.position), Number(0)))
            vector, summed = self.transfer.vector, holds(self.summed, self.last)
            block.when(summed).add(Receive(vector, IN, self.received, Task(self.packing)))
            block = block.nest(Else()) if summed is not None else block
        if not alone.is_empty():
            block.add(Call(Task(self.packing)))

    def pack(self) -> None:
        """Write the task that sends a sequence: elements that are not zero, from memory."""
        task, tensor = f"pack_{self.name}", self.departure.tensor
        body = self._task(self.packing, f"Send what is not zero in a sequence of {tensor}.")
        body.locals["n"] = COUNTER
        body.hold(declare_outer_indices(self.program, self.name, self.outer))
        self.program.count(task)
        body.block.add(CountCall(self.program.naming.counter(task)))
        self._pack_elements(body.block, task, tensor)
        vector = Address(Field(self.packing))
        operands = Fabric("int32"), make_operand("int32", (1,))
        body.block.add(
            Configure(vector, None, "COPY", (COUNT,), operands),
            Send(vector, OUT, Field(self.wavelets), Task(self.sent)),
        )
        body.block.charge(address=1)
        self.program.add(body)

    def _pack_elements(self, block: Block, task: str, tensor: str) -> None:
        """Append the loops over a sequence that make a wavelet of each element but zeros."""
        naming = self.program.naming
        element, index = Name(naming.element(tensor)), Name(naming.own("i0"))
        type_ = self.program.model.graph.tensors[tensor].type
        then = Block()
        received = self.received
        if received is not None:
            self._add_received(then.when(holds(self.summed, self.last)), received, element, type_)
        then.charge(scalar=1)
        kept = then.nest(If(_is_not_zero(element, type_)))
        kept.charge(scalar=1, address=1)
        wavelet = Element(Field(self.wavelets), (Next(COUNT),))
        kept.add(Assign(wavelet, Packed(element, index, type_)))

        def moved(value: Value) -> Declare:
            return Declare(element.name, type_, value, fixed=received is None)

        transfer_loops(block, task, self.program.model, naming, moved, then=then, counts=True)

    def _add_received(self, block: Block, received: Value, element: Name, type_: str) -> None:
        """Append the addition of what was received for an element."""
        taken = Element(received, (Next(Field(self.position)),))
        operands = Operands(values={"received": taken}, types={"received": type_})
        own = load(element, type_, operands.type)
        op = OPERATORS[self.departure.by]
        block.add(Store(element, combine(op, own, parse_expression("received"), operands), type_))
        block.charge(scalar=1, address=1)

    def go_on(self, then: str) -> None:
        """Write the task that ends a sequence and begins the next, or the end of them all."""
        body = self._task(self.sent, f"A sequence of {self.departure.tensor} has left.")
        body.block.add(SendEnd(OUT))
        body.block.charge(scalar=1)
        again = (Call(Task(self.packing)),)
        add_odometer(self.program, body.block, self.name, self.outer, again)
        body.block.add(Call(Task(then)))
        self.program.add(body)

    def _task(self, name: str, comment: str) -> Body:
        body = Body(name=name, comment=comment)
        last = self.last if self.departure.out is not None else None
        body.hold(alternate_colours(self.program, self.departure, self.last, last))
        return body


def _is_not_zero(element: Value, type_: str) -> Value:
    if is_integer(type_):
        return compare(element, "!=", 0)
    return compare(Loaded(element, type_), "!=", Literal(0.0, "float32"))
