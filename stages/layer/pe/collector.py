"""What adapters do that collect sums: take those of their lane, add them up along the border.

    restart -> clear_N -> (sums of the lane come) -> gathered_N -> send_C -> complete

for every departure N that they collect, and every collection C, on the way to whose ports they are.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.layer.pe.at_once import run_task
from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.sequences import send_sequences
from lairmake.stages.layer.pe.streams import alternate_colours, receive, send_sum, unpack
from lairmake.stages.layer.routes.lines import name_leaving
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import Activate, Call, Else, Task


def lane_colour(model: Model, departure: str) -> str:
    """Return the colour of a departure that goes to the ramps of adapters."""
    adapters = model.routes.pes(departure, "adapters")

    def arrives(colour: str) -> bool:
        routers = model.routes.colour(colour).domain().unwrap().domain()
        return not routers.is_disjoint(isl.UnionSet.from_set(adapters))

    (colour,) = filter(arrives, model.graph.departures[departure].colours)
    return str(colour)


class Collector:
    """Writes the functions of the adapters that collect one departure."""

    def __init__(
        self, program: Program, departure: str, collections: typing.Sequence[str], then: str
    ) -> None:
        """Take the departure and its collections, and the task that comes after each of these."""
        self.program, self.model, self.naming = program, program.model, program.naming
        self.departure, self.collections, self.then = departure, collections, then
        self.gathering = self.model.pes(departure, "adapters")
        self.gathered = self.naming.of(f"gathered_{departure}")
        local = f"{name_leaving(self.model.graph.departures[departure])}_collected_local"
        program.keep(local, self.model.type_of(local), self.model.shapes[local])

    @property
    def pes(self) -> isl.Set:
        """The adapters: those of the lanes from the first to the last one that sums."""
        found = self.model.pes(self.collections[0], "chain")
        for name in self.collections[1:]:
            found = found.union(self.model.pes(name, "chain"))
        return found

    def write(self) -> None:
        """Write the functions."""
        clear = f"clear_{self.departure}"
        body = Body(name=self.naming.of(clear), comment="Forget what was collected before.")
        self.program.count(clear)
        run_task(self.program, body.block, clear, {})
        self.program.add(body)
        for name in self.collections:
            self._send(name)
        body = Body(name=self.gathered, comment="All sums of the lane are here: send them on.")
        here = self.program.when(body.block, self.gathering)
        unpack(self.program, here, f"gather_{self.departure}")
        for name in self.collections:
            block = self.program.when(body.block, self.model.pes(name, "chain"))
            block.add(Call(self.program.task(f"send_{name}")))
        self.program.add(body)

    def restart(self, block: Block) -> None:
        """Append what starts an invocation."""
        block = self.program.when(block, self.pes)
        block.add(Call(self.program.task(f"clear_{self.departure}")))
        colour = lane_colour(self.model, self.departure)
        taking = self.program.when(block, self.gathering)
        receive(self.program, taking, f"gather_{self.departure}", colour, self.gathered)
        if taking is not block:
            block.nest(Else()).add(Activate(Task(self.gathered)))

    def _send(self, name: str) -> None:
        """Write the task that adds this adapter's sums to those on their way to a port."""
        described = self.model.graph.collections[name]
        body = Body(
            name=self.naming.of(f"send_{name}"),
            comment=f"Send {described.tensor} along the border.",
        )
        chain, last = self.model.pes(name, "chain"), self.model.pes(name, "last")
        first = self.model.pes(name, "first")
        body.hold(alternate_colours(self.program, described, chain, last))
        if described.sequences is not None:
            send_sequences(self.program, body.block, name, described, self.then)
        else:
            send_sum(self.program, body.block, f"send_{name}", described, chain, first, self.then)
        self.program.add(body)
