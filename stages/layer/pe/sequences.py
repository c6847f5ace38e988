"""Sums that leave sparse: the PE next to the port sends what is not zero, with its index.

It takes what comes from farther in, adds it to its own part, and goes on sequence by sequence:

    send_N -> pack_N -> sent_N -> pack_N -> ... -> complete

Source   design, Sparse tensors
"""

from __future__ import annotations

import islpy as isl

from stages.lair.grammar import parse_expression
from stages.layer.pe.c_functions import Body
from stages.layer.pe.code import C_TYPES, Block, Operands, combined, load, store
from stages.layer.pe.model import Description, holds
from stages.layer.pe.program import Program
from stages.layer.pe.streams import (
    Transfer,
    alternating,
    most_elements,
    odometer,
    outer_indices,
    send_sum,
)
from stages.layer.pe.work import transfer_loops

OPERATORS = {"add": "+", "mul": "*", "max": "max", "min": "min"}


def send_sequences(
    program: Program, block: Block, name: str, departure: Description, then: str
) -> None:
    """Append what starts a sparse departure on each PE, and write the tasks that go on with it."""
    chain, first, last = (program.model.pes(f"{name}_{p}") for p in ("chain", "first", "last"))
    sums = Sums(program, name, departure, last, last.subtract(first))
    sums.pack()
    sums.go_on(then)
    sums.begin(block.when(holds(last, chain)))
    farther_in = chain.subtract(last)
    if not farther_in.is_empty():
        alone = first.subtract(last)
        inner = block.nest("else")
        send_sum(program, inner, f"send_{name}", departure, farther_in, alone, then)


class Sums:
    """What the last PEs of a sparse departure do; those `summed` take what others send."""

    def __init__(
        self, program: Program, name: str, departure: Description, last: isl.Set, summed: isl.Set
    ) -> None:
        """Keep memory for the sums of the other PEs, and for the wavelets of a sequence."""
        self.program, self.name, self.departure = program, name, departure
        self.last, self.summed = last, summed
        self.packing, self.sent = (program.spelling.of(f"{w}_{name}") for w in ("pack", "sent"))
        self.wavelets = program.spelling.of(f"{name}_wavelets")
        self.position = program.spelling.of(f"{name}_position")
        task = f"pack_{name}"
        program.keep(self.wavelets, "int32", (most_elements(program.model, task),))
        program.hold(f"struct vector {self.packing};")
        self.received = ""
        if not summed.is_empty():
            self.transfer = Transfer(program, f"send_{name}", apart=True)
            self.transfer.configure("COPY", "{memory}, {fabric}, NO_OPERAND", summed)
            self.received = f"my->{self.transfer.packed}"
            program.hold(f"int32_t {self.position};")

    def begin(self, block: Block) -> None:
        """Append the start: the first sequence, or before it what comes from farther in."""
        for k, (low, _) in enumerate(self.departure["outer"]):
            block.add(f"my->{self.program.spelling.of(f'{self.name}_index{k}')} = {low};")
        alone = self.last.subtract(self.summed)
        if self.received:
            block.add(f"my->{self.position} = 0;")
            vector, summed = self.transfer.vector, holds(self.summed, self.last)
            line = f"stream_receive(pe, {vector}, in, {self.received}, {self.packing});"
            block.when(summed).add(line)
            block = block.nest("else") if summed is not None else block
        if not alone.is_empty():
            block.add(f"{self.packing}(pe);")

    def pack(self) -> None:
        """Write the task that sends a sequence: elements that are not zero, from memory."""
        task, tensor = f"pack_{self.name}", self.departure["tensor"]
        body = self._task(self.packing, f"Send what is not zero in a sequence of {tensor}.")
        body.locals |= {"n": "int n = 0;"}
        body.locals |= outer_indices(self.program, self.name, self.departure)
        self.program.count(task)
        body.block.add(f"COUNT_CALL(pe, {self.program.spelling.counter(task)});")
        self._pack_elements(body.block, task, tensor)
        body.block.add(
            f"configure(pe, &my->{self.packing}, NO_COUNTER, COPY, SIZES(n),",
            "          INT32_FABRIC, INT32_OPERAND(1), NO_OPERAND);",
            f"stream_send(pe, &my->{self.packing}, out, my->{self.wavelets}, {self.sent});",
        )
        body.block.charge(address=1)
        self.program.add(body)

    def _pack_elements(self, block: Block, task: str, tensor: str) -> None:
        """Append the loops over a sequence that make a wavelet of each element but zeros."""
        spelling = self.program.spelling
        element, index = spelling.element(tensor), spelling.own("i0")
        type_ = self.program.model.graph["tensors"][tensor]["type"]
        then = Block()
        if self.received:
            self._add_received(then.when(holds(self.summed, self.last)), element, type_)
        then.charge(scalar=1)
        value = f"{element} != 0" if type_ == "int16" else f"f32({element}) != 0.0f"
        kept = then.nest(f"if ({value})")
        kept.charge(scalar=1, address=1)
        kept.add(f"my->{self.wavelets}[n++] = sparse_{type_}({element}, {index});")
        line = f"{'' if self.received else 'const '}{C_TYPES[type_]} {element} = {{}};"
        transfer_loops(block, task, self.program.model, spelling, line, then=then, counts=True)

    def _add_received(self, block: Block, element: str, type_: str) -> None:
        """Append the addition of what was received for an element."""
        received = f"{self.received}[my->{self.position}++]"
        operands = Operands(text={"received": received}, types={"received": type_})
        own = element if operands.integral else load(element, type_)
        op = OPERATORS[self.departure["by"]]
        block.add(store(element, combined(op, own, parse_expression("received"), operands), type_))
        block.charge(scalar=1, address=1)

    def go_on(self, then: str) -> None:
        """Write the task that ends a sequence and begins the next, or the end of them all."""
        body = self._task(self.sent, f"A sequence of {self.departure['tensor']} has left.")
        body.block.add("send_end(pe, out);")
        body.block.charge(scalar=1)
        again = (f"{self.packing}(pe);",)
        odometer(self.program, body.block, self.name, self.departure, again)
        body.block.add(f"{then}(pe);")
        self.program.add(body)

    def _task(self, name: str, comment: str) -> Body:
        body = Body(name=name, comment=comment)
        last = self.last if "out" in self.departure else None
        body.locals |= alternating(self.program, self.departure, self.last, last)
        return body
