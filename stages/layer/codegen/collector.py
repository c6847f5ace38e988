"""Adapters that collect."""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.layer.codegen.departures import configure_forward, find_in_turn, send_sequences
from lairmake.stages.layer.codegen.model import Model, holds
from lairmake.stages.layer.codegen.program import RoleProgram
from lairmake.stages.layer.codegen.streams import (
    IN,
    OUT,
    alternate_colours,
    receive,
    run_task,
    send_sum,
    unpack,
)
from lairmake.stages.layer.routes.lines import name_leaving
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import (
    Activate,
    Address,
    Call,
    Choice,
    Else,
    Field,
    Nothing,
    Pass,
    Task,
)
from lairmake.stages.poly.expression import Name, Value

# --- Adapters that collect sums -------------------------------------------------------------------
#
# They take the sums of their lane, and add them up along the border:
#
#     restart -> clear_N -> (sums of the lane come) -> gathered_N -> send_C -> complete
#
# for every departure N that they collect, and every collection C on the way to whose ports they
# are.
#
# Paper    V Sec. 4.2

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
        self, program: RoleProgram, departure: str, collections: typing.Sequence[str], then: str
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

# --- Adapters that forward in turn ----------------------------------------------------------------
#
# They add nothing to what they collect, and keep none of it:
#
#     restart -> send_C -> complete
#
# for a collection C by `gather`. From fabric to fabric goes what comes from farther off before the
# elements of the own lane, then these elements, then the others that come from farther off.
#
# Paper    V Sec. 4.2

class Forwarder:
    """Writes the function of the adapters that forward one collection."""

    def __init__(self, program: RoleProgram, name: str, lane: str, then: str) -> None:
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
