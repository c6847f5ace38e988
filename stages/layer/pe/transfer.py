"""A stream's instruction: its configuration, and the memory that it reads or writes.

It moves elements between the fabric and memory at once if their addresses are linear in their
order; else it moves them to or from consecutive memory, and loops do the rest.
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.pe.at_most import count_most_elements
from lairmake.stages.layer.pe.model import holds, value
from lairmake.stages.layer.pe.operands import find_base_address
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.work import transfer_loops
from lairmake.stages.layer.texts.yaml_files import Local
from lairmake.stages.pe.block import Block
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Configure,
    Declare,
    Element,
    Fabric,
    Field,
    Gap,
    Increase,
    Next,
    Statement,
    make_operand,
)
from lairmake.stages.poly.expression import Name, Number, Operation, Value

TAKEN, ALONE, SUMMED = (False, True), (True, False), (True, True, False)
"""Which operands of an instruction are on the fabric, the others in memory: of one that takes what
comes, that sends what a PE has, or that adds it to what comes."""
OUT, IN = Name("out"), Name("in")
COUNT = Name("n")
COUNTER = Declare("n", "int", Number(0), fixed=False)


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
        slot: Value | None = None,
    ) -> None:
        """Keep consecutive memory if the elements' addresses are not linear in their order.

        Or if elements should lie `apart` from the tensor. `count` is how many there are, as isl
        text, if that is known; with `slots` the memory is that of several parts, `slot` in turn.
        """
        self.program, self.task, self.count = program, task, count
        self.decision = program.model.simd[task]
        self.vector = Address(Field(program.naming.of(task)))
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
        program.hold(program.naming.of(task), "vector")

    def taken(self, element: Value) -> Statement:
        """Return that an element gets the next one of consecutive memory."""
        return Assign(element, Element(self.place, (Next(COUNT),)))

    def put(self, element: Value) -> Statement:
        """Return that the next one of consecutive memory gets an element."""
        return Assign(Element(self.place, (Next(COUNT),)), element)

    def where(self, block: Block) -> Value:
        """Return the address of the first element."""
        if self.packed:
            return self.place
        known = self.program.model.known(self.task)
        return find_base_address(self._local(), block, known)

    def _local(self) -> Local:
        """Return the elements in memory."""
        operand = self.decision.operands[0]
        assert isinstance(operand, Local), "a stream is moved from memory, or to it"
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
        self.configure_now(block, operation, fabric, self._sizes(block, here))

    def configure_now(
        self, block: Block, operation: str, fabric: tuple[bool, ...], sizes: tuple[Value, ...]
    ) -> None:
        """Append the configuration of the instruction for some sizes."""
        strides = (1,) if self.packed else self._local().strides
        memory = make_operand(self.type, strides)
        operands = tuple(Fabric(self.type) if is_fabric else memory for is_fabric in fabric)
        block.add(Configure(self.vector, None, operation, sizes, operands))

    def _sizes(self, block: Block, pes: isl.Set) -> tuple[Value, ...]:
        """Return the sizes; elements whose addresses are not linear are counted by loops."""
        if self.decision.by != "loops":
            sizes = tuple(value(s, pes) for s in self.decision.sizes or ())
            return (Operation("*", sizes),) if self.packed and sizes else sizes
        if self.count:
            return (value(self.count, pes),)
        count = Name(self.program.naming.of(f"{self.task}_count"))
        self.program.main.locals[count.name] = Declare(count.name, "int", Number(0), fixed=False)
        block.add(Assign(count, Number(0)))
        transfer_loops(
            block, self.task, self.program.model, self.program.naming, lambda _: Increase(count)
        )
        return (count,)
