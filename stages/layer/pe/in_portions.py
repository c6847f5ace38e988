"""Arrivals in portions: statements run in steps while elements still arrive.

    restart -> receive two portions -> portion_N -> step_S, receive the next but one -> arrived_N

Receives stay ahead of the steps, and wait for nothing that leaves: what a portion starts runs at
once, and sends are queued apart from it, never so many that no task starts. So all elements of an
invocation arrive on every PE, in any order, whatever its neighbours do, and no streams that wait
for each other can come to a stop that would not stop if each arrived as a whole.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, 5.1
"""

from __future__ import annotations

import typing
from math import prod

from stages.layer.pe.at_once import run_task
from stages.layer.pe.block import Block
from stages.layer.pe.c_functions import Body
from stages.layer.pe.model import Description, holds
from stages.layer.pe.program import Program
from stages.layer.pe.statement_nodes import (
    Assign,
    Call,
    Declare,
    Else,
    For,
    Gap,
    If,
    Receive,
)
from stages.layer.pe.transfer import COUNTER, TAKEN, Transfer
from stages.layer.pe.value_nodes import Choice, Field, Group, Later, Less, Task
from stages.layer.pe.work import transfer_loops
from stages.layer.streams.cutting import AHEAD
from stages.poly.bind import index_names
from stages.poly.expression import Name, Number, Operation, Value

if typing.TYPE_CHECKING:
    from stages.layer.pe.departures import Departures


class Portions:
    """Writes the functions of a program that take portions, and those that run steps."""

    def __init__(self, program: Program, departures: Departures) -> None:
        """Find what arrives in portions, and which statements run in steps."""
        self.program, self.model, self.naming = program, program.model, program.naming
        self.departures = departures
        arrivals: dict[str, Description] = self.model.graph["arrivals"]
        self.arrivals = {n: a for n, a in arrivals.items() if "portions" in a}
        self.tasks = {
            task["statement"]: name
            for name, task in self.model.of_kind("compute").items()
            if "portions" in task
        }
        self.transfers = {
            task: self._transfer(task)
            for name in self.arrivals
            for task in self.model.of_kind("receive", arrival=name)
        }

    def write(self) -> None:
        """Write the step of each statement, and the task that takes a portion of each arrival."""
        for statement in self.tasks:
            self._step(statement)
        for name in self.arrivals:
            self._portion(name)

    def leaders(self, statement: str) -> list[str]:
        """Return the arrivals by which a statement runs in steps; none if it runs as a whole."""
        task = self.tasks.get(statement)
        return [] if task is None else list(self.model.tasks[task]["portions"])

    def follows(self, statement: str) -> list[str]:
        """Return the statements whose results a statement takes step by step."""
        task = self.tasks.get(statement)
        return [] if task is None else list(self.model.tasks[task].get("follows", ()))

    def waits(self, statement: str) -> int:
        """Return for how many other statements the steps of a statement wait."""
        return len(self.model.waits.get(statement, ())) - len(self.follows(statement))

    def satisfy(self, block: Block, statement: str) -> None:
        """Append that the steps of a statement wait for one thing less.

        After the last one, those run whose portions are here.
        """
        if statement not in self.tasks:
            return
        block.charge(scalar=1)
        at = Field(self._number_of(statement))
        tests = [Operation("<", (at, self._here(name))) for name in self.leaders(statement)]
        last = Operation("==", (Less(Field(self._needs(statement))), Number(0)))
        ready = block.nest(If(last))
        ready.charge(scalar=len(tests))
        loop = ready.nest(For(at, Number(0), _all(tests)), loop=1)
        loop.charge(scalar=len(tests) + 1)
        loop.add(Call(Task(self._name(statement))))

    def restart(self, block: Block, statement: str, needs: Value) -> None:
        """Append that a statement's steps wait for so many things."""
        if self._is_waiting(statement):
            self.program.hold(self._needs(statement))
            block.add(Assign(Field(self._needs(statement)), needs))

    def begin(self, block: Block, name: str) -> None:
        """Append that no portion of an arrival is here; on PEs that take none, all are."""
        taken = self.model.pes(f"{name}_taken").intersect(self.program.pes)
        here, count = holds(taken, self.program.pes), Number(self._count(name))
        self.program.hold(self._here(name).name)
        none = Number(0)
        value = none if here is None else Choice(Group(here), none, count)
        block.add(Assign(self._here(name), value))

    def listen(self, block: Block, name: str) -> None:
        """Append the receives of the first portions."""
        portion, whole = self._number, self._whole(name)
        first = Operation("<", (portion, Number(min(AHEAD, whole))))
        loop = block.nest(For(portion, Number(0), first))
        self._receive(loop, name, f"receive_{name}", portion)
        if whole < AHEAD:
            once = Operation("<=", (portion, Number(whole)))
            rest = block.nest(For(portion, Number(whole), once))
            self._receive(rest, name, f"rest_{name}", portion)

    def _transfer(self, task: str) -> Transfer:
        """Configure the instruction that receives a portion, or the last one if that is smaller."""
        described = self.model.tasks[task]
        cut = self.arrivals[described["arrival"]]["portions"]
        size = cut["rest" if "rest" in described else "size"]
        transfer = Transfer(
            self.program, task, count=f"{{ [({size})] }}", slots=AHEAD, slot=self._number
        )
        pes = self.program.pes_of(self.model.known(task))
        transfer.configure("COPY", TAKEN, pes)
        return transfer

    def _portion(self, name: str) -> None:
        """Write the task that takes a portion."""
        tensor, number, count = self.arrivals[name]["tensor"], self._number, self._count(name)
        body = Body(
            name=self.naming.of(f"portion_{name}"), comment=f"A portion of {tensor} is here."
        )
        block = body.block
        block.add(Declare(number.name, "int", self._here(name)), Gap())
        self._unpack(block, name)
        block.charge(scalar=2)
        block.add(Assign(self._here(name), Operation("+", (number, Number(1)))))
        for statement in self.tasks:
            if name in self.leaders(statement):
                self._run(block, name, statement)
        last = self._go_on(block, name)
        arrived = self.naming.of(f"arrived_{name}")
        final = Operation("==", (number, Number(count - 1)))
        last.nest(If(final)).add(Call(Task(arrived)))
        self.program.add(body)

    def _go_on(self, block: Block, name: str) -> Block:
        """Append the receive of the next portion but one; return the block where there is none."""
        number, whole = self._number, self._whole(name)
        if whole > AHEAD:
            more = block.nest(If(Operation("<", (number, Number(whole - AHEAD)))))
            self._receive(more, name, f"receive_{name}", Later(number, AHEAD))
            block = block.nest(Else())
        if AHEAD <= whole < self._count(name):
            rest = block.nest(If(Operation("==", (number, Number(whole - AHEAD)))))
            self._receive(rest, name, f"rest_{name}", Later(number, AHEAD))
        return block

    def _run(self, block: Block, name: str, statement: str) -> None:
        """Append the step of a portion, if those of other arrivals with its number are here.

        What comes last finds all of them, and all steps before this one have run.
        """
        taken = self.model.pes(f"{name}_taken")
        joined = [
            other
            for other in self.leaders(statement)
            if other != name and not taken.is_disjoint(self.model.pes(f"{other}_taken"))
        ]
        tests = [Operation(">", (self._here(other), self._number)) for other in joined]
        if self._is_waiting(statement):
            tests.append(Operation("==", (Field(self._needs(statement)), Number(0))))
        block.charge(scalar=len(tests))
        inner = block.nest(If(_all(tests))) if tests else block
        inner.add(Assign(Field(self._number_of(statement)), self._number))
        inner.add(Call(Task(self._name(statement))))

    def _receive(self, block: Block, name: str, task: str, number: Value) -> None:
        """Append the instruction of a task that receives a portion, given its number."""
        transfer, inner = self.transfers[task], Block()
        where = transfer.where(inner)
        colour = self.program.listen(self.arrivals[name]["colour"])
        then = Task(self.naming.of(f"portion_{name}"))
        inner.add(Receive(transfer.vector, colour, where, then))
        self._given(block, name, number, inner)

    def _unpack(self, block: Block, name: str) -> None:
        """Append loops that bring a portion to where it belongs, if need be."""
        for task in self.model.of_kind("receive", arrival=name):
            transfer, test = self.transfers[task], None
            if self._whole(name) < self._count(name):
                sign = "==" if task == f"rest_{name}" else "<"
                test = If(Operation(sign, (self._number, Number(self._whole(name)))))
            if transfer.packed:
                inner, loops = block.nest(test), Block()
                inner.add(COUNTER)
                transfer_loops(loops, task, self.model, self.naming, transfer.taken)
                self._given(inner, name, self._number, loops)

    def _step(self, statement: str) -> None:
        """Write what runs the instances of a step."""
        body = Body(name=self._name(statement), comment=f"{statement} runs on what is here.")
        task, inner = self.tasks[statement], Block()
        self.program.count(task)
        self.program.hold(self._number_of(statement))
        run_task(self.program, inner, task, {})
        self.departures.leads.progress(inner, statement, self.model.known(task))
        number = Field(self._number_of(statement))
        self._given(body.block, self.leaders(statement)[0], number, inner)
        self.program.add(body)

    def _given(self, block: Block, name: str, number: Value, inner: Block) -> None:
        """Append a block, with the symbolic constants of a portion: the digits of its number."""
        counts, constants = self.arrivals[name]["portions"]["counts"], {}
        for k, constant in enumerate(index_names(len(counts))):
            below, digit = prod(counts[k + 1 :]), number
            if below > 1:
                digit = Operation("/", (Group(number), Number(below)))
            if k > 0:
                high = digit if below > 1 else Group(number)
                digit = Operation("%", (high, Number(counts[k])))
            constants[constant] = digit
        block.declare(constants, inner)
        block.absorb(inner)

    def _is_waiting(self, statement: str) -> bool:
        """Say whether steps wait for other statements, or for all of an arrival."""
        if statement not in self.tasks:
            return False
        reads = next(s.reads for s in self.model.layer.statements if s.name == statement)
        tensors, leaders = {access.tensor for access in reads}, self.leaders(statement)
        others = [
            name
            for name, arrival in self.model.graph["arrivals"].items()
            if arrival["tensor"] in tensors and name not in leaders
        ]
        return bool(others) or self.waits(statement) > 0

    @property
    def _number(self) -> Name:
        return Name(self.naming.of("portion"))

    def _count(self, name: str) -> int:
        return prod(self.arrivals[name]["portions"]["counts"])

    def _whole(self, name: str) -> int:
        """Return how many portions have the full size."""
        return self._count(name) - int("rest" in self.arrivals[name]["portions"])

    def _here(self, name: str) -> Field:
        return Field(self.naming.of(f"{name}_portions"))

    def _name(self, statement: str) -> str:
        return self.naming.of(f"step_{statement}")

    def _needs(self, statement: str) -> str:
        return self.naming.of(f"{statement}_needs")

    def _number_of(self, statement: str) -> str:
        return self.naming.of(f"{statement}_step")


def _all(tests: list[Operation]) -> Value:
    """Return that all tests hold; there is one at least."""
    return tests[0] if len(tests) == 1 else Operation("and", tuple(tests))
