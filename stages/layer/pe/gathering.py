"""Gathers: a PE sends its elements in turn with those that pass, and sums nothing.

What comes from farther in goes from fabric to fabric. Where elements of PEs alternate, they are
sent row by row, a few rows ahead:

    send_N -> row_N -> sent_N -> row_N -> ... -> complete

or as they are there, while their statement still runs:

    step_S, or end_A -> row_N -> ... -> send_N -> complete

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.pe.model import holds, value
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.streams import alternate_colours, flush
from lairmake.stages.layer.pe.transfer import ALONE, COUNT, IN, OUT, Transfer
from lairmake.stages.layer.routes.lines import count_most_rows
from lairmake.stages.layer.texts.task_graph import Departure, InTurn, Outgoing
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Call,
    Choice,
    Configure,
    Decrease,
    Digit,
    Fabric,
    Field,
    For,
    If,
    Increase,
    Nothing,
    Pass,
    Send,
    Task,
)
from lairmake.stages.poly.expression import (
    Number,
    Operation,
    Value,
    compare,
    count_operations,
    require_all,
)
from lairmake.stages.poly.functions import name_indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Gather:
    """A gathered departure of a program.

    Of the program's PEs, those of the `chain` send some of it, `own` elements of their own, and
    those in `forwarding` what comes from farther in, before their own elements or `after`. The
    task `end` comes when all has left. `transfer` sends the own elements of a row.
    """

    program: Program
    name: str
    departure: Departure
    chain: isl.Set
    own: isl.Set
    forwarding: Mapping[str, isl.Set]
    transfer: Transfer
    end: str

    @property
    def in_turn(self) -> InTurn:
        """How it is sent in turn."""
        return find_in_turn(self.departure)

    @property
    def is_early(self) -> bool:
        """Whether rows leave as soon as they are there; then all have left but their elements."""
        return self.departure.early is not None

    @property
    def is_whole(self) -> bool:
        """Whether all of it is one row."""
        return not self.in_turn.rows

    @property
    def row(self) -> str:
        """The field that counts the rows that were sent."""
        return self.program.naming.of(f"{self.name}_row")

    @property
    def sent(self) -> str:
        """The task that comes when a row has left."""
        return self.program.naming.of(f"sent_{self.name}")

    @property
    def then(self) -> Value:
        """What comes when a row has left, if anything does."""
        if self.is_early:
            return Nothing()
        return Task(self.end if self.is_whole else self.sent)

    def write(self, body: Body) -> None:
        """Write the task that sends, and those that go on with it."""
        if self.is_whole:
            body.hold(self._colours())
            self._send_row(body.block)
            return
        self.program.hold(self.row)
        self._write_row()
        if self.is_early:
            self._end_rows(body)
            return
        rows = Operation("*", tuple(value(n, self.chain) for n in self.in_turn.rows))
        left = self._left
        self.program.hold(left.name)
        self._write_sent()
        body.block.add(Assign(Field(self.row), Number(0)), Assign(left, rows))
        ahead = compare(COUNT, "<", self._most_rows)
        tests = require_all([ahead, compare(left, ">", COUNT)])
        row = Call(self.program.task(f"row_{self.name}"))
        body.block.nest(For(COUNT, Number(0), tests), loop=1).add(row)

    @property
    def _left(self) -> Field:
        return Field(self.program.naming.of(f"{self.name}_left"))

    @property
    def _most_rows(self) -> int:
        return count_most_rows(self.program.model.graph, self.program.profile)

    def _colours(self) -> dict[str, Value]:
        is_sent_back = self.departure.out is not None
        last = self.program.model.pes(self.name, "last") if is_sent_back else None
        return alternate_colours(self.program, self.departure, self.chain, last)

    def _end_rows(self, body: Body) -> None:
        """Append what waits until all rows have left."""
        body.hold(self._colours())
        body.block.add(Assign(Field(self.row), Number(0)))
        flush(self.program, body.block, f"end_{self.name}", self.end, self.chain)

    def _write_row(self) -> None:
        """Write the function that sends a row, and counts it."""
        body = Body(
            name=self.program.naming.of(f"row_{self.name}"),
            comment=f"Send a row of {self.departure.tensor}.",
        )
        body.hold(self._colours())
        self._declare_indices(body)
        self._send_row(body.block)
        body.block.add(Increase(Field(self.row)))
        body.block.charge(scalar=1)
        self.program.add(body)

    def _declare_indices(self, body: Body) -> None:
        """Declare the outer indices of a row: its number, in digits, added to the least ones."""
        first, rows = (
            [value(text, self.chain) for text in texts]
            for texts in (self.in_turn.first, self.in_turn.rows)
        )
        for k, name in enumerate(name_indices(len(rows) + 1)[:-1]):
            least = None if first[k] == Number(0) else first[k]
            digit = Digit(Field(self.row), tuple(rows[k + 1 :]), rows[k] if k > 0 else None, least)
            for taken in (*digit.below, digit.count, digit.least):
                if taken is not None:
                    body.block.charge(scalar=1 + count_operations(taken))
            body.hold({name: digit})

    def _write_sent(self) -> None:
        """Write the task that goes on once a row has left."""
        left, row = self._left, self.program.naming.of(f"row_{self.name}")
        body = Body(name=self.sent, comment=f"A row of {self.departure.tensor} has left.")
        body.block.charge(scalar=2)
        body.block.add(Decrease(left))
        more = compare(left, ">=", self._most_rows)
        body.block.nest(If(more)).add(Call(Task(row)))
        last = compare(left, "==", 0)
        body.block.nest(If(last)).add(Call(Task(self.end)))
        self.program.add(body)

    def _send_row(self, block: Block) -> None:
        """Append the instructions of a row: before, own, after."""
        last = self.forwarding["after"]
        self._forward(block, "before", Nothing())
        here = block.when(holds(self.own, self.chain))
        self.transfer.pack(here)
        where = self.transfer.where(here)
        ending = holds(last, self.own)
        if last.is_disjoint(self.own):
            then = self.then
        else:
            then = Nothing() if ending is None else Choice(ending, Nothing(), self.then)
        here.add(Send(self.transfer.vector, OUT, where, then))
        self._forward(block, "after", self.then)

    def _forward(self, block: Block, part: str, then: Value) -> None:
        pes = self.forwarding[part]
        if not pes.is_empty():
            vector = Address(Field(self.program.naming.of(f"{part}_{self.name}")))
            block.when(holds(pes, self.chain)).add(Pass(vector, OUT, IN, then))


def gather_of(program: Program, name: str, then: str) -> Gather:
    """Return a gathered departure, with its instructions configured in main.

    Memory is declared as instructions are configured: that of the own elements comes first.
    """
    departure = program.model.graph.departures[name]
    in_turn = find_in_turn(departure)
    chain = program.model.pes(name, "chain").intersect(program.pes)
    own = program.pes_of(program.model.known(f"send_{name}")).intersect(program.pes)
    others = {"before": in_turn.before, "after": in_turn.after}
    forwarding = {n: isl.PwAff(size).pos_set().intersect(chain) for n, size in others.items()}
    transfer = _own_elements(program, name, in_turn)
    transfer.configure("COPY", ALONE, own)
    for part, pes in forwarding.items():
        if not pes.is_empty():
            vector = program.naming.of(f"{part}_{name}")
            configure_forward(program, vector, transfer.type, others[part], pes)
    return Gather(
        program=program, name=name, departure=departure, chain=chain, own=own,
        forwarding=forwarding, transfer=transfer, end=then,
    )


def _own_elements(program: Program, name: str, in_turn: InTurn) -> Transfer:
    """Return the instruction that sends the own elements of a row."""
    slots = count_most_rows(program.model.graph, program.profile) if in_turn.rows else 0
    slot = Field(program.naming.of(f"{name}_row"))
    return Transfer(program, f"send_{name}", count=in_turn.own, slots=slots, slot=slot)


def find_in_turn(stream: Outgoing) -> InTurn:
    """Return how a gather sends rows in turn."""
    assert stream.in_turn is not None, "a gather sends in turn"
    return stream.in_turn


def configure_forward(
    program: Program, vector: str, type_: str, count: int | str, pes: isl.Set
) -> None:
    """Configure in main the instruction with which some PEs forward so many elements of a type."""
    program.hold(vector, "vector")
    size = value(count, pes)
    block = program.when(program.main.block, pes)
    block.charge(scalar=count_operations(size))
    operands = (Fabric(type_), Fabric(type_))
    block.add(Configure(Address(Field(vector)), None, "COPY", (size,), operands))
