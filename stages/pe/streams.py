"""Streams of a PE program: sequences counted, elements received and sent in order.

A stream moves elements between the fabric and memory with one instruction if their addresses are
linear in their order; else it moves them to or from consecutive memory, and loops do the rest.
"""

from __future__ import annotations

import islpy as isl

from stages.pe.code import C_TYPES, Block
from stages.pe.function import Body
from stages.pe.model import Description, holds, value
from stages.pe.program import Program
from stages.pe.work import base_text, most_elements, transfer_loops
from stages.poly.ast import c_expression, held


def outer_indices(program: Program, name: str, arrival: Description) -> dict[str, str]:
    """Return the declarations of the outer indices, kept in memory between sequences."""
    declared = {}
    for k in range(len(arrival["outer"])):
        field = program.spelling.of(f"{name}_index{k}")
        declared[f"index{k}"] = f"const int index{k} = my->{field};"
    return declared


def data_task(
    program: Program, name: str, arrival: Description, comment: str
) -> tuple[Body, str]:
    """Return the data task of a sparse stream, and the C variable of the element that arrived."""
    tensor = arrival["tensor"]
    type_ = program.model.graph["tensors"][tensor]["type"]
    variable = program.spelling.own(tensor)
    declared = outer_indices(program, name, arrival) | {
        "index": "const int index = wavelet_index(w);",
        variable: f"const {C_TYPES[type_]} {variable} = wavelet_{type_}(w);",
    }
    task = program.spelling.of(f"on_{name}")
    return Body(name=task, comment=comment, kind="data", locals=declared), variable


def complete_task(comment: str) -> Body:
    """Return the task that ends an invocation once all its parts are complete."""
    body = Body(name="complete", comment=comment)
    inner = body.block.nest("if (--my->unfinished == 0 && invocation_done(pe))")
    inner.add("restart(pe);")
    return body


def odometer(program: Program, block: Block, name: str, arrival: Description) -> None:
    """Append the step to the next sequence, which returns unless it was the last one.

    Outer indices run over their box in lexicographic order and end where they began.
    """
    for k, (low, high) in reversed(list(enumerate(arrival["outer"]))):
        field = program.spelling.of(f"{name}_index{k}")
        program.hold(f"int32_t {field};")
        block.charge(scalar=2)
        block.nest(f"if (++my->{field} <= {high})").add("return;")
        block.add(f"my->{field} = {low};")


def receive(program: Program, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that receives all of a dense stream into memory."""
    transfer = Transfer(program, task)
    transfer.configure("COPY", "{memory}, {fabric}, NO_OPERAND", program.model.known(task))
    where = transfer.where(block)
    listen = program.listen(colour)
    block.add(f"stream_receive(pe, {transfer.vector}, {listen}, {where}, {then});")


def unpack(program: Program, block: Block, task: str) -> None:
    """Append loops that bring what was received in order to where it belongs, if need be."""
    transfer = Transfer(program, task)
    if transfer.packed:
        inner = block.nest("")
        inner.add("int n = 0;", "")
        transfer_loops(
            inner, task, program.model, program.spelling, f"{{}} = my->{transfer.packed}[n++];"
        )


def send(program: Program, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that sends elements from memory."""
    transfer = Transfer(program, task)
    transfer.configure("COPY", "{fabric}, {memory}, NO_OPERAND", program.model.known(task))
    transfer.pack(block)
    where = transfer.where(block)
    block.add(f"stream_send(pe, {transfer.vector}, {program.colour(colour)}, {where}, {then});")


def send_sum(
    program: Program, body: Body, task: str, name: str, departure: Description, then: str
) -> None:
    """Append the instructions that send a PE's part of a sum, and what comes from farther in."""
    transfer = Transfer(program, task)
    chain = program.model.pes(f"{name}_chain")
    first = program.model.pes(f"{name}_first")
    transfer.configure("COPY", "{fabric}, {memory}, NO_OPERAND", first)
    transfer.configure(
        departure["by"].upper(), "{fabric}, {fabric}, {memory}", chain.subtract(first)
    )
    transfer.pack(body.block)
    where = transfer.where(body.block)
    body.locals |= _alternating(program, departure)
    alone = holds(first, chain.intersect(program.pes))
    summed = f"stream_combine(pe, {transfer.vector}, out, in, {where}, {then});"
    body.block.when(alone).add(f"stream_send(pe, {transfer.vector}, out, {where}, {then});")
    if alone is not None:
        body.block.nest("else").add(summed)


def _alternating(program: Program, departure: Description) -> dict[str, str]:
    """Return the declarations of a PE's outgoing and incoming colours, by its depth's parity."""
    even, odd = (program.listen(c) for c in departure["colours"])
    depth = isl.PwAff(departure["parity"]).intersect_domain(program.pes).floor()
    if depth.max_val().eq(depth.min_val()):
        out, into = (even, odd) if depth.max_val().is_zero() else (odd, even)
        return {"out": f"const int out = {out};", "in": f"const int in = {into};"}
    parity = held(c_expression(depth, program.pes), "==")
    return {
        "out": f"const int out = {parity} == 0 ? {even} : {odd};",
        "in": f"const int in = {parity} == 0 ? {odd} : {even};",
    }


class Transfer:
    """A stream's instruction: its configuration, and the memory that it reads or writes."""

    def __init__(self, program: Program, task: str) -> None:
        """Keep consecutive memory if the elements' addresses are not linear in their order."""
        self.program, self.task = program, task
        self.decision = program.model.simd[task]
        self.vector = f"&my->{program.spelling.of(task)}"
        self.packed = ""
        local = next(iter(program.model.accesses(task).values()))
        self.type = program.model.type_of(local.get_tuple_name(isl.dim_type.out))
        if self.decision["by"] == "loops":
            self.packed = program.spelling.of(f"{task}_packed")
            program.keep(self.packed, self.type, (most_elements(task, program.model),))
        program.hold(f"struct vector {program.spelling.of(task)};")

    def where(self, block: Block) -> str:
        """Return the address of the first element."""
        if self.packed:
            return f"my->{self.packed}"
        known = self.program.model.known(self.task)
        return base_text(self.decision["operands"][0], block, known)

    def pack(self, block: Block) -> None:
        """Append loops that bring elements into the order in which they leave, if need be."""
        if self.packed:
            program = self.program
            inner = block.nest("")
            inner.add("int n = 0;", "")
            line = f"my->{self.packed}[n++] = {{}};"
            transfer_loops(inner, self.task, program.model, program.spelling, line)

    def configure(self, operation: str, operands: str, pes: isl.Set) -> None:
        """Configure the instruction in main, on the given PEs."""
        program = self.program
        here = pes.intersect(program.pes)
        if here.is_empty():
            return
        block = program.main.block.when(holds(here, program.pes))
        memory = f"{self.type.upper()}_OPERAND({self._strides()})"
        text = operands.format(memory=memory, fabric=f"{self.type.upper()}_FABRIC")
        sizes = self._sizes(block, here)
        block.add(
            f"configure(pe, {self.vector}, NO_COUNTER, {operation}, SIZES({sizes}),",
            f"          {text});",
        )

    def _strides(self) -> str:
        if self.packed:
            return "1"
        return ", ".join(map(str, self.decision["operands"][0]["strides"])) or "0"

    def _sizes(self, block: Block, pes: isl.Set) -> str:
        """Return the sizes; consecutive elements are counted by loops."""
        if not self.packed:
            return ", ".join(value(s, pes).text for s in self.decision["sizes"]) or "1"
        count = self.program.spelling.of(f"{self.task}_count")
        if count not in self.program.main.locals:
            self.program.main.locals[count] = f"int {count} = 0;"
        block.add(f"{count} = 0;")
        transfer_loops(
            block, self.task, self.program.model, self.program.spelling, f"{count} += 1;"
        )
        return count
