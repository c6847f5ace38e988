"""Streams of a PE program: sequences counted, elements received and sent in order.

A stream moves elements between the fabric and memory with one instruction if their addresses are
linear in their order; else it moves them to or from consecutive memory, and loops do the rest.
"""

from __future__ import annotations

from math import prod

import islpy as isl

from stages.layer.pe.c_functions import Body
from stages.layer.pe.code import C_TYPES, Block
from stages.layer.pe.listening import by_parity
from stages.layer.pe.model import Description, Model, holds, value
from stages.layer.pe.operands import base_text
from stages.layer.pe.program import Program
from stages.layer.pe.work import transfer_loops
from stages.poly.ast import Expression, held
from stages.poly.bind import index_constants
from stages.poly.number import most_points

ROOM = 1024
"""How many wavelets of a stream may wait in the memory of a PE."""


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
    variable = program.spelling.element(tensor)
    declared = outer_indices(program, name, arrival) | {
        "index": "const int index = wavelet_index(w);",
        variable: f"const {C_TYPES[type_]} {variable} = wavelet_{type_}(w);",
    }
    task = program.spelling.of(f"on_{name}")
    return Body(name=task, comment=comment, kind="data", locals=declared), variable


def complete_task(comment: str, then: tuple[str, ...] = ()) -> Body:
    """Return the task that ends an invocation once all its parts are complete.

    `then` is what is done before the next invocation.
    """
    body = Body(name="complete", comment=comment)
    inner = body.block.nest("if (--my->unfinished == 0 && invocation_done(pe))")
    inner.add(*then, "restart(pe);")
    return body


def odometer(
    program: Program, block: Block, name: str, stream: Description, again: tuple[str, ...] = ()
) -> None:
    """Append the step to the next sequence, which returns unless it was the last one.

    Outer indices run over their box in lexicographic order and end where they began. `again` is
    what is done before it returns.
    """
    for k, (low, high) in reversed(list(enumerate(stream["outer"]))):
        field = program.spelling.of(f"{name}_index{k}")
        program.hold(f"int32_t {field};")
        block.charge(scalar=2)
        block.nest(f"if (++my->{field} <= {high})").add(*again, "return;")
        block.add(f"my->{field} = {low};")


def give_room(
    program: Program, name: str, arrival: Description, colour: str, known: isl.Set
) -> None:
    """Let what a PE hears of a sparse stream wait in its memory, as far as there is memory.

    The room is for all of an invocation: elements, in a box of the symbolic constants with which
    they are `known` to come, and ends of sequences; at most ROOM, and what no other need has.
    Source: the FIFOs in memory of the Cerebras SDK, sdk.cerebras.ai/csl/language/dsrs.
    """
    names = index_constants(known)
    listed = ", ".join(names)
    heard = known.unbind_params(isl.MultiId(f"[{listed}] -> {{ [{listed}] }}"))
    ends = prod(high - low + 1 for low, high in arrival["outer"])
    start = -(-program.data // 4) * 4
    left = program.profile.memory - program.code - program.profile.code_task - start
    wavelets = min(most_points(heard) + ends, ROOM, left // 8)
    if wavelets > 0:
        field = program.spelling.of(f"{name}_waiting")
        program.keep(field, "int32", (wavelets, 2))
        line = f"give_room(pe, {program.listen(colour)}, my->{field}, {wavelets});"
        program.when(program.main.block, program.pes_of(known)).add(line)


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
    send_again(program, block, task, colour, then)


def send_again(program: Program, block: Block, task: str, colour: str, then: str) -> None:
    """Append the instruction that sends the elements of a task as they were sent before."""
    transfer = Transfer(program, task)
    where = transfer.where(block)
    block.add(f"stream_send(pe, {transfer.vector}, {program.colour(colour)}, {where}, {then});")


def send_sum(
    program: Program,
    block: Block,
    task: str,
    departure: Description,
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
    add_sum(block, transfer, departure, chain, first, then)


def configure_sum(
    transfer: Transfer, departure: Description, chain: isl.Set, first: isl.Set
) -> None:
    """Configure what a sum is sent with: the first PEs of a chain only copy their part."""
    transfer.configure("COPY", ALONE, first)
    transfer.configure(departure["by"].upper(), SUMMED, chain.subtract(first))


def add_sum(
    block: Block,
    transfer: Transfer,
    departure: Description,
    chain: isl.Set,
    first: isl.Set,
    then: str,
    sizes: str = "",
) -> None:
    """Append the instructions of a sum, configured for some `sizes` first if these are given."""
    where = transfer.where(block)
    here = chain.intersect(transfer.program.pes)
    alone, none = holds(first, here), first.is_disjoint(here)
    if not none:
        inner = block.when(alone)
        if sizes:
            transfer.configure_now(inner, "COPY", ALONE, sizes)
        inner.add(f"stream_send(pe, {transfer.vector}, out, {where}, {then});")
    if alone is not None:
        inner = block if none else block.nest("else")
        if sizes:
            transfer.configure_now(inner, departure["by"].upper(), SUMMED, sizes)
        inner.add(f"stream_combine(pe, {transfer.vector}, out, in, {where}, {then});")


def flush(program: Program, block: Block, name: str, then: str, pes: isl.Set) -> None:
    """Append what activates a task when all that was sent on `out` before has left from some PEs.

    That is an instruction without elements, which comes after the others of its colour.
    """
    vector = program.spelling.of(name)
    program.hold(f"struct vector {vector};")
    program.when(program.main.block, pes.intersect(program.pes)).add(
        f"configure(pe, &my->{vector}, NO_COUNTER, COPY, SIZES(0),",
        "          FLOAT32_FABRIC, FLOAT32_OPERAND(0), NO_OPERAND);",
    )
    block.add(f"stream_send(pe, &my->{vector}, out, NULL, {then});")


def alternating(
    program: Program, departure: Description, pes: isl.Set, last: isl.Set | None = None
) -> dict[str, str]:
    """Return the declarations of the outgoing and incoming colours of PEs, by depth's parity.

    Along a border the parity is that of the lane, and the `last` PEs send to the port.
    """
    even, odd = departure["colours"]
    for colour in (even, odd):
        program.listen(colour)
    out = by_parity(departure["parity"], pes, (even, odd), program.colour)
    into = by_parity(departure["parity"], pes, (odd, even), program.colour)
    if last is not None:
        out = _but_last(program.colour(departure["out"]), holds(last, pes), out)
    return {"out": f"const int out = {out};", "in": f"const int in = {into};"}


def _but_last(colour: str, is_last: Expression | None, out: str) -> str:
    """Return the colour on which the last PEs send, the others on another one."""
    return colour if is_last is None else f"({is_last.text}) ? {colour} : ({out})"


def most_elements(model: Model, task: str) -> int:
    """Return a bound on the elements that a task moves on any PE."""
    compressed = isl.Set.from_union_set(model.compressed[task])
    return min(most_points(model.instance_set(task)), most_points(compressed))


ALONE = "{fabric}, {memory}, NO_OPERAND"
SUMMED = "{fabric}, {fabric}, {memory}"
"""The operands of an instruction that sends what a PE has, or adds it to what comes."""


class Transfer:
    """A stream's instruction: its configuration, and the memory that it reads or writes."""

    def __init__(
        self,
        program: Program,
        task: str,
        *,
        apart: bool = False,
        count: str = "",
        slots: int = 0,
        slot: str = "",
    ) -> None:
        """Keep consecutive memory if the elements' addresses are not linear in their order.

        Or if elements should lie `apart` from the tensor. `count` is how many there are, as isl
        text, if that is known; with `slots` the memory is that of several parts, `slot` in turn.
        """
        self.program, self.task, self.count = program, task, count
        self.decision = program.model.simd[task]
        self.vector = f"&my->{program.spelling.of(task)}"
        self.packed = ""
        local = next(iter(program.model.accesses(task).values()))
        self.type = program.model.type_of(local.get_tuple_name(isl.dim_type.out))
        if apart or self.decision["by"] == "loops":
            self.packed = program.spelling.of(f"{task}_packed")
            parts = (slots,) if slots else ()
            program.keep(self.packed, self.type, (*parts, most_elements(program.model, task)))
        self.place = f"my->{self.packed}" + (f"[{slot} % {slots}]" if slots else "")
        program.hold(f"struct vector {program.spelling.of(task)};")

    def where(self, block: Block) -> str:
        """Return the address of the first element."""
        if self.packed:
            return self.place
        known = self.program.model.known(self.task)
        return base_text(self.decision["operands"][0], block, known)

    def pack(self, block: Block) -> None:
        """Append loops that bring elements into the order in which they leave, if need be."""
        if self.packed:
            program = self.program
            inner = block.nest("")
            inner.add("int n = 0;", "")
            line = f"{self.place}[n++] = {{}};"
            transfer_loops(inner, self.task, program.model, program.spelling, line)

    def configure(self, operation: str, operands: str, pes: isl.Set) -> None:
        """Configure the instruction in main, on the given PEs."""
        program = self.program
        here = pes.intersect(program.pes)
        if here.is_empty():
            return
        block = program.main.block.when(holds(here, program.pes))
        self.configure_now(block, operation, operands, self._sizes(block, here))

    def configure_now(self, block: Block, operation: str, operands: str, sizes: str) -> None:
        """Append the configuration of the instruction for some sizes."""
        memory = f"{self.type.upper()}_OPERAND({self._strides()})"
        text = operands.format(memory=memory, fabric=f"{self.type.upper()}_FABRIC")
        block.add(
            f"configure(pe, {self.vector}, NO_COUNTER, {operation}, SIZES({sizes}),",
            f"          {text});",
        )

    def _strides(self) -> str:
        if self.packed:
            return "1"
        return ", ".join(map(str, self.decision["operands"][0]["strides"])) or "0"

    def _sizes(self, block: Block, pes: isl.Set) -> str:
        """Return the sizes; elements whose addresses are not linear are counted by loops."""
        if self.decision["by"] != "loops":
            sizes = [value(s, pes) for s in self.decision["sizes"]]
            if self.packed:
                return " * ".join(held(s, "*") for s in sizes) or "1"
            return ", ".join(s.text for s in sizes) or "1"
        if self.count:
            return value(self.count, pes).text
        count = self.program.spelling.of(f"{self.task}_count")
        if count not in self.program.main.locals:
            self.program.main.locals[count] = f"int {count} = 0;"
        block.add(f"{count} = 0;")
        transfer_loops(
            block, self.task, self.program.model, self.program.spelling, f"{count} += 1;"
        )
        return count
