"""What computing PEs do for what leaves: add their part, or pass on what others have.

    finish_S -> send_N -> complete

for every departure N of the target of a statement S.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.pe.code import Block
from stages.pe.function import Body
from stages.pe.gather import Gatherer
from stages.pe.leads import Leads
from stages.pe.model import Description
from stages.pe.program import Program
from stages.pe.sequences import send_sequences
from stages.pe.streams import alternating, flush, send_sum


class Departures:
    """Writes the functions of a program that send."""

    def __init__(self, program: Program) -> None:
        """Take the program, in which nothing is sent yet."""
        self.program, self.model, self.spelling = program, program.model, program.spelling
        self.departures: dict[str, Description] = program.model.graph["departures"]
        self.leads = Leads(program)

    def write(self) -> None:
        """Write a task for each departure."""
        for name in self.departures:
            self._send(name)

    def finish(self, block: Block, tensor: str) -> None:
        """Append that all of a tensor leaves."""
        for name in self._of(tensor):
            here = self.program.when(block, self.model.pes(f"{name}_chain"))
            here.add(f"{self.spelling.of(f'send_{name}')}(pe);")

    def progress(self, block: Block, statement: str, known: isl.Set) -> None:
        """Append what leaves after a step, of which the symbolic constants are `known`."""
        self.leads.progress(block, statement, known)

    def counted(self) -> list[str]:
        """Return, as C, whether each departure is one of the parts of an invocation on this PE."""
        return [self.program.number(self.model.pes(f"{name}_chain")) for name in self.departures]

    def _of(self, tensor: str) -> typing.Iterator[str]:
        return (name for name, found in self.departures.items() if found["tensor"] == tensor)

    def _send(self, name: str) -> None:
        """Write the task that adds this PE's part to what leaves."""
        task, described = f"send_{name}", self.departures[name]
        body = Body(
            name=self.spelling.of(task), comment=f"Send {described['tensor']} on its way out."
        )
        if described["by"] == "gather":
            Gatherer(self.program, name, "complete").write(body)
            self.program.add(body)
            return
        last = self.model.pes(f"{name}_last") if "out" in described else None
        body.locals |= alternating(self.program, described, self.program.pes, last)
        if "sparse" in described:
            send_sequences(self.program, body.block, name, described, "complete")
        else:
            self._send_sum(body.block, name, task, "complete")
        self.program.add(body)

    def _send_sum(self, block: Block, name: str, task: str, then: str) -> None:
        """Append what sends this PE's part; if all has left, what waits for the end of that."""
        if task not in self.model.tasks:
            flush(self.program, block, task, then)
            return
        chain, first = (self.model.pes(f"{name}_{part}") for part in ("chain", "first"))
        send_sum(self.program, block, task, self.departures[name], chain, first, then)
