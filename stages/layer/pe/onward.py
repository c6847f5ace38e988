"""What adapters do that add nothing to what they collect: they pass it on in turn, and keep none.

    restart -> send_C -> complete

for a collection C by `gather`: from fabric to fabric goes what comes from farther off before the
elements of the own lane, then these, then the others that come from farther off.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.layer.pe.c_functions import Body
from stages.layer.pe.code import Block
from stages.layer.pe.model import holds, value
from stages.layer.pe.program import Program
from stages.layer.pe.streams import alternating


class Onward:
    """Writes the function of the adapters that pass on one collection."""

    def __init__(self, program: Program, name: str, lane: str, then: str) -> None:
        """Take the collection, the colour of a lane's elements, and the task that comes after."""
        self.program, self.name, self.lane, self.then = program, name, lane, then
        self.described = program.model.graph["collections"][name]
        self.chain = program.model.pes(f"{name}_chain")
        self.function = program.spelling.of(f"send_{name}")

    def write(self) -> None:
        """Write the function, and configure its instructions."""
        body = Body(
            name=self.function, comment=f"Pass on {self.described['tensor']} along the border."
        )
        last = self.program.model.pes(f"{self.name}_last")
        body.locals |= alternating(self.program, self.described, self.chain, last)
        lane = self.program.listen(self.lane)
        for part, pes, final in self._parts():
            vector = self.program.spelling.of(f"{part}_{self.name}")
            self._configure(part, pes, vector)
            inner, ends = body.block.when(holds(pes, self.chain)), holds(final, pes)
            then = self.then if ends is None else f"{ends.text} ? {self.then} : NULL"
            then = "NULL" if final.is_empty() else then
            source = lane if part == "own" else "in"
            inner.add(f"stream_pass(pe, &my->{vector}, out, {source}, {then});")
        self.program.add(body)

    def restart(self, block: Block) -> None:
        """Append what starts an invocation."""
        self.program.when(block, self.chain).add(f"{self.function}(pe);")

    def _parts(self) -> typing.Iterator[tuple[str, isl.Set, isl.Set]]:
        """Yield the parts, the adapters that have one, and those of which it is the last."""
        counts = {part: isl.PwAff(self.described[part]) for part in ("before", "own", "after")}
        pes = {part: count.pos_set().intersect(self.chain) for part, count in counts.items()}
        after, none = pes["after"], isl.Set.empty(self.chain.get_space())
        goes_on = {"before": pes["own"].union(after), "own": after, "after": none}
        for part, some in pes.items():
            if not some.is_empty():
                yield part, some, some.subtract(goes_on[part])

    def _configure(self, part: str, pes: isl.Set, vector: str) -> None:
        """Configure the instruction that passes on a part."""
        self.program.hold(f"struct vector {vector};")
        type_ = self.program.model.graph["tensors"][self.described["tensor"]]["type"]
        fabric, count = f"{type_.upper()}_FABRIC", value(self.described[part], pes)
        block = self.program.when(self.program.main.block, pes)
        block.charge(scalar=count.operations)
        block.add(
            f"configure(pe, &my->{vector}, NO_COUNTER, COPY, SIZES({count.text}),",
            f"          {fabric}, {fabric}, NO_OPERAND);",
        )
