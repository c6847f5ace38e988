"""The program of the computing PEs: take what arrives, compute, sum on the way out.

    restart -> arrivals react or are stored -> arrived_T -> finish_S -> sums leave -> complete

`waiting_S` counts the streams, and the statements, that statement S still needs, `unfinished` the
statements and the departures of an invocation, and the streams that it keeps for later. Nothing of
the next invocation is taken before `restart`, and nothing of what returns before the PE has done
its own part: what waits for other PEs must not fill its queue of instructions
(layer/routes/waiting.py).

Paper    Verdoolaege et al., IMPACT 2020, Sec. 3, 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

import islpy as isl

from stages.diagnose import working_on
from stages.layer.pe.at_once import formula, run_task
from stages.layer.pe.block import Block, total
from stages.layer.pe.c_functions import Body
from stages.layer.pe.departures import Departures
from stages.layer.pe.in_portions import Portions
from stages.layer.pe.listening import pass_along, passing_pes
from stages.layer.pe.model import Description, Model
from stages.layer.pe.program import Program
from stages.layer.pe.statement_nodes import (
    Activate,
    Assign,
    BlockColour,
    Call,
    CountCall,
    If,
    OnControl,
    OnData,
    Statement,
    UnblockColour,
)
from stages.layer.pe.streams import (
    begin_sequences,
    complete_task,
    data_task,
    give_room,
    odometer,
    receive,
    unpack,
)
from stages.layer.pe.value_nodes import Field, Less, Task
from stages.layer.pe.work import transfer_loops
from stages.poly.bind import PE_NAMES, bind_set
from stages.poly.expression import Name, Number, Operation, Value

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile


def computing_pes(model: Model) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE runs instances or passes on sums }."""
    placed = isl.Set.from_union_set(model.adapted["placement"].range())
    pes = bind_set(placed, PE_NAMES)
    for name in model.graph["departures"]:
        pes = pes.union(model.pes(f"{name}_chain"))
    return pes.union(passing_pes(model, model.graph["arrivals"])).coalesce()


def compute_program(model: Model, profile: Profile, vectors: bool) -> Program:
    """Return the program of the role `compute`."""
    pes = computing_pes(model)
    program = Program(role="compute", model=model, profile=profile, vectors=vectors, pes=pes)
    for local, shape in model.shapes.items():
        if local not in model.of_adapters:
            program.keep(local, model.type_of(local), shape)
    ComputeWriter(program).write()
    return program


class ComputeWriter:
    """Writes the functions of the computing PEs into their program."""

    def __init__(self, program: Program) -> None:
        """Start with an empty program."""
        self.program = program
        self.model = program.model
        self.naming = program.naming
        self.departures = Departures(program)
        self.portions = Portions(program, self.departures)

    def write(self) -> None:
        """Write all functions, each before those that call it where that is possible."""
        for name in self.model.of_kind("initialise"):
            self._work(name, f"Initialise {self.model.tasks[name]['tensor']}.")
        for name, task in self.model.of_kind("compute", "carry").items():
            if "portions" not in task:
                self._work(name, formula(task))
        carried = tuple(self._call(name) for name in self.model.of_kind("carry"))
        self.program.add(complete_task("One part of this invocation is complete.", carried))
        self.departures.write()
        self.portions.write()
        for statement in self._statements():
            self._finish(statement)
        for name, arrival in self.model.graph["arrivals"].items():
            self._arrived(name, arrival)
            if arrival["sparse"]:
                self._react(name, arrival)
                self._end(name, arrival)
        self._restart()
        self._main()

    def _statements(self) -> list[str]:
        return [s.name for s in self.model.layer.statements]

    def _work(self, name: str, comment: str) -> None:
        """Write a task that runs at once: as a vector instruction, or as loops."""
        body = Body(name=self.naming.of(name), comment=comment)
        self.program.count(name)
        with working_on(f"task {name}"):
            run_task(self.program, body.block, name, {})
        self.program.add(body)

    def _finish(self, statement: str) -> None:
        """Write what happens when a statement has all that it needs."""
        body = Body(
            name=self.naming.of(f"finish_{statement}"), comment=f"{statement} has all it needs."
        )
        for name, task in self.model.of_kind("compute", statement=statement).items():
            if "portions" not in task:
                body.block.add(self._call(name))
        target = next(s.target.tensor for s in self.model.layer.statements if s.name == statement)
        self.departures.finish(body.block, target)
        for other, before in self.model.waits.items():
            if statement in before:
                if statement not in self.portions.follows(other):
                    self.portions.satisfy(body.block, other)
                self._count_down(body.block, other)
        body.block.add(Call(Task("complete")))
        self.program.add(body)

    def _call(self, name: str) -> Call:
        return Call(Task(self.naming.of(name)))

    def _finishes(self, statement: str) -> Activate:
        return Activate(Task(self.naming.of(f"finish_{statement}")))

    def _count_down(self, block: Block, statement: str) -> None:
        """Append that a statement waits for one thing less, and runs if that was the last."""
        waiting = Field(self.naming.of(f"waiting_{statement}"))
        last = Operation("==", (Less(waiting), Number(0)))
        block.nest(If(last)).add(self._finishes(statement))

    def _arrived(self, name: str, arrival: Description) -> None:
        """Write what happens when all of a stream has arrived."""
        body = Body(name=self.naming.of(f"arrived_{name}"), comment=f"All of {name} is here.")
        if "portions" not in arrival:
            for task in self.model.of_kind("receive", arrival=name):
                unpack(self.program, body.block, task)
        for statement in self._readers(arrival["tensor"]):
            if name not in self.portions.leaders(statement):
                self.portions.satisfy(body.block, statement)
            self._count_down(body.block, statement)
        self.departures.arrived(body.block, name)
        if self._is_carried(arrival):
            body.block.add(Call(Task("complete")))
        self.program.add(body)

    def _is_carried(self, arrival: Description) -> bool:
        """Say whether a later invocation needs what arrives in this one."""
        return any(c.source == arrival["tensor"] for c in self.model.layer.carries)

    def _readers(self, tensor: str) -> list[str]:
        return [
            s.name for s in self.model.layer.statements if any(a.tensor == tensor for a in s.reads)
        ]

    def _react(self, name: str, arrival: Description) -> None:
        """Write the data task of a sparse stream."""
        tensor = arrival["tensor"]
        comment = f"React to an element of {tensor}."
        body, variable = data_task(self.program, name, arrival, comment)

        def stored(element: Value) -> Statement:
            return Assign(element, Name(variable))

        for task in self.model.of_kind("store", arrival=name):
            self.program.count(task)
            body.block.add(CountCall(self.naming.counter(task)))
            transfer_loops(body.block, task, self.model, self.naming, stored, counts=True)
        reacting = self.model.of_kind("react", arrival=name)
        for task in reacting:
            self.program.count(task)
            block = body.block if len(reacting) == 1 else body.block.nest()
            run_task(self.program, block, task, {tensor: variable})
        self.program.add(body)

    def _end(self, name: str, arrival: Description) -> None:
        """Write the control task that counts the sequences of a sparse stream."""
        body = Body(
            name=self.naming.of(f"end_{name}"),
            comment=f"A sequence of {name} has ended.",
            kind="control",
        )
        if self.departures.leads.has_sequences(name):
            self.departures.leads.end_sequence(body, name)
        else:
            odometer(self.program, body.block, name, arrival)
        body.block.add(BlockColour(self.program.listen(arrival["colour"])))
        body.block.add(self._call(f"arrived_{name}"))
        self.program.add(body)

    def _restart(self) -> None:
        """Write the start of an invocation."""
        body = Body(name="restart", comment="Start an invocation.")
        block = body.block
        for name in self.model.of_kind("initialise"):
            block.add(self._call(name))
        for statement in self._statements():
            before = [Number(1)] * len(self.model.waits.get(statement, ()))
            streams = total([*self._streams_of(statement), *before])
            block.add(Assign(self._field(f"waiting_{statement}"), streams))
            leaders = self.portions.leaders(statement)
            others = [Number(1)] * self.portions.waits(statement)
            needs = total([*self._streams_of(statement, leaders), *others])
            self.portions.restart(block, statement, needs)
        parts = self.departures.counted()
        parts += [
            self.program.number(self.model.pes(f"{n}_taken"))
            for n, arrival in self.model.graph["arrivals"].items() if self._is_carried(arrival)
        ]
        parts += [Number(1)] * len(self._statements())
        self.departures.turns.restart(block)
        self.program.hold("unfinished")
        block.add(Assign(Field("unfinished"), total(parts)))
        for name, arrival in self.model.graph["arrivals"].items():
            if "portions" in arrival:
                self.portions.begin(block, name)
            if "returns" not in arrival:
                self._listen(self._taking(block, name), name, arrival)
        for statement in self._statements():
            if Number(1) not in self._streams_of(statement) and statement not in self.model.waits:
                waiting = Field(self.naming.of(f"waiting_{statement}"))
                none = Operation("==", (waiting, Number(0)))
                block.nest(If(none)).add(self._finishes(statement))
        self.program.add(body)

    def _taking(self, block: Block, arrival: str) -> Block:
        """Return a block that runs on the PEs that take some of a stream."""
        return self.program.when(block, self.model.pes(f"{arrival}_taken"))

    def _field(self, name: str) -> Field:
        field = Field(self.naming.of(name))
        self.program.hold(field.name)
        return field

    def _streams_of(self, statement: str, but: Sequence[str] = ()) -> list[Value]:
        """Return whether a statement waits on this PE for each of the streams it reads."""
        return [
            self.program.number(self.model.pes(f"{name}_taken"))
            for name, arrival in self.model.graph["arrivals"].items()
            if statement in self._readers(arrival["tensor"]) and name not in but
        ]

    def _listen(self, block: Block, name: str, arrival: Description) -> None:
        """Append what makes a PE take a stream again."""
        if arrival["sparse"]:
            begin_sequences(self.program, block, name, arrival)
            block.add(UnblockColour(self.program.listen(arrival["colour"])))
            return
        if "portions" in arrival:
            self.portions.listen(block, name)
            return
        for task in self.model.of_kind("receive", arrival=name):
            receive(
                self.program, block, task, arrival["colour"], self.naming.of(f"arrived_{name}")
            )

    def _main(self) -> None:
        for name, arrival in self.model.graph["arrivals"].items():
            pass_along(self.program, arrival["colour"])
            if arrival["sparse"]:
                colour = self.program.listen(arrival["colour"])
                block = self.program.main.block
                if self.model.is_shared(arrival["colour"]):
                    block = self.program.when(block, self.model.pes(f"{name}_taken"))
                block.add(OnData(colour, Task(self.naming.of(f"on_{name}"))))
                block.add(OnControl(colour, Task(self.naming.of(f"end_{name}"))))
                self._give_room(name, arrival)
        self.program.main.block.add(Call(Task("restart")))
        self.program.add(self.program.main)

    def _give_room(self, name: str, arrival: Description) -> None:
        """Let elements wait where PEs use different ones, so that none waits for another's turn.

        Where all use all that passes by, one is as fast as the other, and room would be of no use.
        """
        tasks = list(self.model.of_kind("store", "react", arrival=name))
        known = self.model.known(tasks[0])
        idle = any(not known.is_subset(self.model.instance_set(t).params()) for t in tasks)
        if idle or f"{arrival['colour']}_filter" in self.model.routes:
            give_room(self.program, name, arrival, arrival["colour"], known)
