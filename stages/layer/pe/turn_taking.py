"""Departures that wait for others: each begins on a PE once those have no part there any more.

    finish_S, or restart of adapters -> begin_N -> ... -> done_N -> begin_M, complete

for every departure M that waits for N, as tasks.yaml has it; N may also be what arrives there.

Source   stages/layer/routes/departures.py: no queue of instructions may be full of what waits
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.texts.isl_files import Part
from lairmake.stages.pe.block import Block, Body, total
from lairmake.stages.pe.nodes import Assign, Call, Field, If, Less, Task
from lairmake.stages.poly.expression import Number, compare

Parts = Mapping[str, Sequence[Part]]


class TurnTaking:
    """Writes what counts, on the PEs of a role, the parts of departures that others wait for."""

    def __init__(self, program: Program, parts: Parts) -> None:
        """Take what is to be done for departures and arrivals: sets of routes.isl, of PEs."""
        self.program, self.naming, self.parts = program, program.naming, parts
        graph = program.model.graph.departures
        self.waits = {
            name: [other for other in graph[name].waits if other in parts]
            for name in parts
            if name in graph and graph[name].waits
        }

    def restart(self, block: Block) -> None:
        """Append for how many parts each departure waits, and besides for its own beginning."""
        for name, before in self.waits.items():
            self.program.hold(self._turn(name))
            pes = [self.program.model.pes(*part) for other in before for part in self.parts[other]]
            count = total([*map(self.program.number, pes), Number(1)])
            block.add(Assign(Field(self._turn(name)), count))

    def ready(self, block: Block, name: str) -> None:
        """Append that a departure waits for one thing less, and begins if that was the last."""
        begin = self.naming.of(f"begin_{name}")
        last = compare(Less(Field(self._turn(name))), "==", 0)
        block.nest(If(last)).add(Call(Task(begin)))

    def beginning(self, name: str) -> Body:
        """Return the function, still empty, with which a departure begins."""
        tensor = self.program.model.graph.departures[name].tensor
        return Body(
            name=self.naming.of(f"begin_{name}"), comment=f"It is the turn of {tensor}."
        )

    def done(self, block: Block, name: str) -> None:
        """Append that a part of a departure, or of an arrival, is done."""
        for other, before in self.waits.items():
            if name in before:
                self.ready(block, other)

    def then(self, name: str) -> str:
        """Return the task that comes after a part of a departure, or of an arrival."""
        last = not any(name in before for before in self.waits.values())
        return "complete" if last else self.naming.of(f"done_{name}")

    def write(self, names: Iterable[str]) -> None:
        """Write the tasks that come after parts of these, those for which departures wait."""
        for name in names:
            if self.then(name) != "complete":
                body = Body(name=self.then(name), comment=f"A part of {name} is done here.")
                self.done(body.block, name)
                body.block.add(Call(Task("complete")))
                self.program.add(body)

    def _turn(self, name: str) -> str:
        return self.naming.of(f"{name}_turn")
