"""What computing PEs do for what leaves: add their part, or forward what others have.

    finish_S -> send_N -> complete

for every departure N of the target of a statement S. What is fed back is taken meanwhile, not
before: what waits for other PEs must not fill the queue of instructions (layer/routes/departures.py).

Paper    V Sec. 4.2
"""

from __future__ import annotations

import itertools

import islpy as isl

from lairmake.stages.layer.pe.gathering import gather_of
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.sent_early import EarlySends
from lairmake.stages.layer.pe.sequences import send_sequences
from lairmake.stages.layer.pe.streams import alternate_colours, flush, receive, send_sum
from lairmake.stages.layer.pe.turn_taking import TurnTaking
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import Part
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import Call
from lairmake.stages.poly.expression import Value


class Departures:
    """Writes the functions of a program that send."""

    def __init__(self, program: Program) -> None:
        """Take the program, in which nothing is sent yet."""
        self.program, self.model, self.naming = program, program.model, program.naming
        self.departures = program.model.graph.departures
        self.stored = {n: d for n, d in self.departures.items() if d.result_of is None}
        self.early_sends = EarlySends(program)
        arrivals = self.model.graph.arrivals
        taken: dict[str, list[Part]]
        taken = {n: [(n, "taken")] for n, a in arrivals.items() if a.feedback is None}
        self.turn_taking = TurnTaking(program, {n: self._parts(n) for n in self.departures} | taken)

    def write(self) -> None:
        """Write a task for each departure."""
        for name in self.stored:
            self._send(name)
        for name in self.turn_taking.waits:
            body = self.turn_taking.beginning(name)
            self._begin(body.block, name)
            self.program.add(body)
        self.turn_taking.write(self.departures)

    def finish(self, block: Block, tensor: str) -> None:
        """Append that a tensor leaves, each departure of it when it is its turn."""
        for name, departure in self.stored.items():
            if departure.tensor == tensor and name in self.turn_taking.waits:
                self.turn_taking.ready(block, name)
            elif departure.tensor == tensor:
                self._begin(block, name)

    def arrived(self, block: Block, arrival: str) -> None:
        """Append that departures wait for an arrival no more, or for the one that it is."""
        away = (name for name, d in self.departures.items() if d.feedback == arrival)
        self.turn_taking.done(block, next(away, arrival))

    def progress(self, block: Block, statement: str, known: isl.Set) -> None:
        """Append what leaves after a step, of which the symbolic constants are `known`."""
        self.early_sends.progress(block, statement, known)

    def counted(self) -> list[Value]:
        """Return whether each departure is one of the parts of an invocation on this PE."""
        return [self.program.number(self.model.pes(name, "chain")) for name in self.stored]

    def _parts(self, name: str) -> list[Part]:
        """Return the PEs that send a departure, and those that take what comes back of it."""
        back = self.departures[name].feedback
        sent: list[Part] = [(name, "chain")]
        return sent if back is None else [*sent, (back, "taken")]

    def _begin(self, block: Block, name: str) -> None:
        """Append that a PE sends its part of a departure, and takes what comes back of it."""
        chain, *taken = itertools.starmap(self.model.pes, self._parts(name))
        self.program.when(block, chain).add(Call(self.program.task(f"send_{name}")))
        for pes in taken:
            back = str(self.departures[name].feedback)
            arrived, here = self.naming.of(f"arrived_{back}"), self.program.when(block, pes)
            for task in self.model.taking(task_graph.Receive, back):
                receive(self.program, here, task, back, arrived)

    def _send(self, name: str) -> None:
        """Write the task that adds this PE's part to what leaves."""
        task, described = f"send_{name}", self.departures[name]
        then = self.turn_taking.then(name)
        body = Body(
            name=self.naming.of(task), comment=f"Send {described.tensor} on its way out."
        )
        if described.by == "gather":
            gather_of(self.program, name, then).write(body)
            self.program.add(body)
            return
        last = self.model.pes(name, "last") if described.out is not None else None
        body.hold(alternate_colours(self.program, described, self.program.pes, last))
        if described.sequences is not None:
            send_sequences(self.program, body.block, name, described, then)
        else:
            self._send_sum(body.block, name, task, then)
        self.program.add(body)

    def _send_sum(self, block: Block, name: str, task: str, then: str) -> None:
        """Append what sends this PE's part; if all has left, what waits for the end of that."""
        if task not in self.model.tasks:
            flush(self.program, block, task, then, self.model.pes(name, "chain"))
            return
        chain, first = self.model.pes(name, "chain"), self.model.pes(name, "first")
        send_sum(self.program, block, task, self.departures[name], chain, first, then)
