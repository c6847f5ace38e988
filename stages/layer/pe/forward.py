"""What adapters do that add nothing to what they collect: they forward it in turn, and keep none.

    restart -> send_C -> complete

for a collection C by `gather`: from fabric to fabric goes what comes from farther off before the
elements of the own lane, then these, then the others that come from farther off.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.layer.pe.gathering import configure_forward, find_in_turn
from lairmake.stages.layer.pe.model import holds
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.streams import alternate_colours
from lairmake.stages.layer.pe.transfer import IN, OUT
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import Address, Call, Choice, Field, Nothing, Pass, Task
from lairmake.stages.poly.expression import Name, Value


class Forwarder:
    """Writes the function of the adapters that forward one collection."""

    def __init__(self, program: Program, name: str, lane: str, then: str) -> None:
        """Take the collection, the colour of a lane's elements, and the task that comes after."""
        self.program, self.name, self.lane, self.then = program, name, lane, then
        self.described = program.model.graph.collections[name]
        in_turn = find_in_turn(self.described)
        self.counts = {"before": in_turn.before, "own": in_turn.own, "after": in_turn.after}
        self.chain = program.model.pes(name, "chain")
        self.function = program.naming.of(f"send_{name}")

    def write(self) -> None:
        """Write the function, and configure its instructions."""
        body = Body(
            name=self.function, comment=f"Forward {self.described.tensor} along the border."
        )
        last = self.program.model.pes(self.name, "last")
        body.hold(alternate_colours(self.program, self.described, self.chain, last))
        lane = self.program.listen(self.lane)
        for part, pes, final in self._parts():
            vector = self.program.naming.of(f"{part}_{self.name}")
            configure_forward(self.program, vector, self._type(), self.counts[part], pes)
            inner, ends = body.block.when(holds(pes, self.chain)), holds(final, pes)
            then: Value = Task(self.then)
            then = then if ends is None else Choice(ends, then, Nothing())
            then = Nothing() if final.is_empty() else then
            source: Name = lane if part == "own" else IN
            inner.add(Pass(Address(Field(vector)), OUT, source, then))
        self.program.add(body)

    def restart(self, block: Block) -> None:
        """Append what starts an invocation."""
        self.program.when(block, self.chain).add(Call(Task(self.function)))

    def _parts(self) -> typing.Iterator[tuple[str, isl.Set, isl.Set]]:
        """Yield the parts, the adapters that have one, and those of which it is the last."""
        pes = {p: isl.PwAff(n).pos_set().intersect(self.chain) for p, n in self.counts.items()}
        after, none = pes["after"], isl.Set.empty(self.chain.get_space())
        goes_on = {"before": pes["own"].union(after), "own": after, "after": none}
        for part, some in pes.items():
            if not some.is_empty():
                yield part, some, some.subtract(goes_on[part])

    def _type(self) -> str:
        return self.program.model.graph.tensors[self.described.tensor].type
