"""Programs of departures: sends, gathers, sparse sums, and their turns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.layer.codegen.instruction import (
    InstructionOperands,
    combine,
    find_ends,
    find_sizes_at_run_time,
    load,
    transfer_loops,
)
from lairmake.stages.layer.codegen.model import count_most_elements, holds, value
from lairmake.stages.layer.codegen.program import RoleProgram
from lairmake.stages.layer.codegen.streams import (
    ALONE,
    COUNT,
    COUNTER,
    IN,
    OUT,
    TAKEN,
    Transfer,
    add_odometer,
    add_sum,
    alternate_colours,
    begin_sequences,
    configure_sum,
    declare_outer_indices,
    flush,
    receive,
    send_sum,
)
from lairmake.stages.layer.routes.lines import count_most_rows
from lairmake.stages.layer.streams.steps import Steps, find_steps
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import Part
from lairmake.stages.layer.texts.task_graph import Departure, InTurn, Outgoing
from lairmake.stages.machine.types import is_integer
from lairmake.stages.pe.block import Block, Body, count_kinds, total
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Call,
    Choice,
    Configure,
    CountCall,
    Declare,
    Decrease,
    Digit,
    Element,
    Else,
    Fabric,
    Field,
    For,
    Gap,
    If,
    Increase,
    Less,
    Literal,
    Loaded,
    Next,
    Nothing,
    Packed,
    Pass,
    Receive,
    Return,
    Send,
    SendEnd,
    Store,
    Task,
    make_operand,
)
from lairmake.stages.poly.expression import (
    Name,
    Number,
    Operation,
    Value,
    compare,
    require_all,
)
from lairmake.stages.poly.functions import bind_set, name_indices

# --- Gathers of departures ------------------------------------------------------------------------
#
# A PE sends its elements in turn with those that pass, and sums nothing. What comes from farther in
# goes from fabric to fabric. Where elements of PEs alternate, they are sent row by row, a few rows
# ahead:
#
#     send_N -> row_N -> sent_N -> row_N -> ... -> complete
#
# or as they are there, while their statement still runs:
#
#     step_S, or end_A -> row_N -> ... -> send_N -> complete
#
# Paper    V Sec. 4.2

@dataclass(frozen=True, slots=True, kw_only=True)
class GatherProgram:
    """A gathered departure of a program.

    Of the program's PEs, those of the `chain` send some of it, `own` elements of their own, and
    those in `forwarding` what comes from farther in, before their own elements or `after`. The
    task `end` comes when all has left. `transfer` sends the own elements of a row.
    """

    program: RoleProgram
    name: str
    departure: Departure
    chain: isl.Set
    own: isl.Set
    forwarding: Mapping[str, isl.Set]
    transfer: Transfer
    end: str

    @property
    def in_turn(self) -> InTurn:
        """The rows that it sends in turn."""
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
        """The task that comes when a row has left, if there is one."""
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
                    body.block.charge(scalar=1)
                    body.block.charge(**count_kinds(taken))
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


def gather_of(program: RoleProgram, name: str, then: str) -> GatherProgram:
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
    return GatherProgram(
        program=program, name=name, departure=departure, chain=chain, own=own,
        forwarding=forwarding, transfer=transfer, end=then,
    )


def _own_elements(program: RoleProgram, name: str, in_turn: InTurn) -> Transfer:
    """Return the instruction that sends the own elements of a row."""
    slots = count_most_rows(program.model.graph, program.profile) if in_turn.rows else 0
    slot = Field(program.naming.of(f"{name}_row"))
    return Transfer(program, f"send_{name}", count=in_turn.own, slots=slots, slot=slot)


def find_in_turn(stream: Outgoing) -> InTurn:
    """Return the rows that a gather sends in turn."""
    assert stream.in_turn is not None, "a gather sends in turn"
    return stream.in_turn


def configure_forward(
    program: RoleProgram, vector: str, type_: str, count: int | str, pes: isl.Set
) -> None:
    """Configure in main the instruction with which some PEs forward so many elements of a type."""
    program.hold(vector, "vector")
    size = value(count, pes)
    block = program.when(program.main.block, pes)
    block.charge(**count_kinds(size))
    operands = (Fabric(type_), Fabric(type_))
    block.add(Configure(Address(Field(vector)), None, "COPY", (size,), operands))

# --- Sends while a statement still runs -----------------------------------------------------------
#
#     step_S, or end_N -> (sends) -> ... -> finish_S -> send_N -> complete
#
# They follow the steps that complete what they send. Nothing waits for these sends: that of send_N
# comes after them on its colour. But where a departure rolls, later steps wait for room: a send ->
# left_N -> step_S.
#
# Source   design, Execution: instructions with a fabric operand are queued

class EarlySends:
    """Writes what sends the elements that leave early, and says when it runs."""

    def __init__(self, program: RoleProgram) -> None:
        """Find the departures of which something leaves early, and configure their sends."""
        self.program, self.model, self.naming = program, program.model, program.naming
        departures = program.model.graph.departures
        self.sends = {name: found.early for name, found in departures.items() if found.early}
        self.early = {name: departures[name] for name in self.sends}
        self.gathered = {name for name, found in self.early.items() if found.by == "gather"}
        self.transfers = {n: self._transfer(n) for n in self.early if n not in self.gathered}

    def progress(self, block: Block, statement: str, known: isl.Set) -> None:
        """Append what is sent after a step, of which the symbolic constants are `known`."""
        for name, departure in self.early.items():
            early = self.sends[name]
            if early.statement != statement:
                continue
            sending = self._sending(name, statement)
            if not sending.is_disjoint(known):
                condition = holds(sending, known)
                if name in self.gathered:
                    self._send_rows(block.when(condition), name, early.rows or 0)
                    continue
                inner = block.nest() if condition is None else block.when(condition)
                self._send(inner, name, departure, known.intersect(sending))

    def end_sequence(self, body: Body, arrival: str) -> None:
        """Append the step to the next sequence, which returns unless it was the last one.

        Before it, what is complete leaves. Outer indices run as in `add_odometer`.
        """
        described, block = self.model.graph.arrivals[arrival], body.block
        body.hold(declare_outer_indices(self.program, arrival, described.outer))
        steps = self._steps(arrival)[0]
        here = self.program.pes.intersect(self.model.pes(arrival, "taken"))
        *goes_on, last = steps.ends
        dimensions = reversed(list(zip(steps.names, steps.box, strict=True)))
        ended: list[Assign] = []
        for known, (name, (low, high)) in zip(goes_on, dimensions, strict=True):
            field, index = Field(self.naming.of(f"{arrival}_{name}")), Name(name)
            self.program.hold(field.name)
            block.charge(scalar=2)
            inner = block.nest(If(compare(index, "<", high)))
            self._progress_all(inner, arrival, here.intersect(known))
            following = Assign(field, Operation("+", (index, Number(1))))
            inner.add(*ended, following, Return())
            ended.append(Assign(field, Number(low)))
        self._progress_all(block, arrival, here.intersect(last))
        block.add(*ended)

    def has_sequences(self, arrival: str) -> bool:
        """Say whether something leaves after sequences of an arrival."""
        return bool(self._steps(arrival))

    def _sending(self, name: str, statement: str) -> isl.Set:
        """Return the symbolic constants of PEs, and of the steps after which something leaves."""
        if name not in self.gathered:
            return self.model.instance_set(f"early_send_{name}").params()
        steps = find_steps(statement, self.model.graph)
        assert steps is not None, "what leaves early does so after a step"
        stops = bind_set(isl.Set(self.sends[name].after), steps.names)
        return stops.intersect(self.model.pes(name, "chain"))

    def _send_rows(self, block: Block, name: str, count: int) -> None:
        """Append that a PE sends the next rows of a gather."""
        if count > 1:
            more = compare(COUNT, "<", count)
            block = block.nest(For(COUNT, Number(0), more), loop=1)
        block.add(Call(self.program.task(f"row_{name}")))

    def _progress_all(self, block: Block, arrival: str, known: isl.Set) -> None:
        for steps in self._steps(arrival):
            self.progress(block, steps.statement, known)

    def _steps(self, arrival: str) -> list[Steps]:
        """Return the steps that are the sequences of an arrival, of which something leaves."""
        statements = dict.fromkeys(early.statement for early in self.sends.values())
        every = [find_steps(statement, self.model.graph) for statement in statements]
        return [s for s in every if s is not None and s.in_sequences and arrival in s.cuts]

    def _ends(self, name: str) -> tuple[isl.Set, isl.Set]:
        """Return the PEs of a departure from which something leaves early, and the first ones."""
        pes = self.program.pes_of(self.model.known(f"early_send_{name}"))
        chain, first = self.model.pes(name, "chain"), self.model.pes(name, "first")
        return chain.intersect(pes), first.intersect(pes)

    def _transfer(self, name: str) -> Transfer:
        """Configure the instruction that sends after a step."""
        departure = self.early[name]
        taken = Field(self.naming.of(f"{name}_sends"))
        transfer = Transfer(
            self.program,
            f"early_send_{name}",
            slots=self.sends[name].ring or self.sends[name].sends or 0,
            slot=taken,
        )
        if transfer.packed:
            self.program.hold(taken.name)
        elif transfer.decision.by != "configure":
            configure_sum(transfer, departure, *self._ends(name))
        return transfer

    def _send(self, block: Block, name: str, departure: Outgoing, known: isl.Set) -> None:
        """Append a send, given the symbolic constants of the step."""
        inner, transfer, pes = Block(), self.transfers[name], self.program.pes_of(known)
        chain, first = (each.intersect(pes) for each in self._ends(name))
        sizes = self._sizes(inner, transfer)
        add_sum(inner, transfer, departure, chain, first, self._then(name), sizes)
        if transfer.packed:
            inner.add(Increase(Field(self.naming.of(f"{name}_sends"))))
            inner.charge(scalar=1)
        block.declare(alternate_colours(self.program, departure, chain), inner, free=True)
        if transfer.decision.by == "configure":
            block.declare(find_ends(transfer.task, self.model, known), inner)
        block.absorb(inner)

    def _then(self, name: str) -> Value:
        """Return what follows once a send is complete: room for a step, of what rolls."""
        return Nothing() if self.sends[name].ring is None else self.program.task(f"left_{name}")

    def _sizes(self, block: Block, transfer: Transfer) -> tuple[Value, ...]:
        """Append what finds how much is sent, if it is not always as much; return it.

        What does not lie in memory as it leaves is brought into order meanwhile, and counted.
        """
        if transfer.packed:
            block.add(COUNTER, Gap())
            transfer_loops(block, transfer.task, self.model, self.naming, transfer.put)
            return (COUNT,)
        if transfer.decision.by == "configure":
            return tuple(find_sizes_at_run_time(block, transfer.decision))
        return ()

# --- Sums that leave sparse -----------------------------------------------------------------------
#
# The PE next to the port sends what is not zero, with its index. It takes what comes from farther
# in, adds it to its own part, and goes on sequence by sequence:
#
#     send_N -> pack_N -> sent_N -> pack_N -> ... -> complete
#
# Source   design, Sparse tensors

OPERATORS = {"add": "+", "mul": "*", "max": "max", "min": "min"}


def send_sequences(
    program: RoleProgram, block: Block, name: str, departure: Outgoing, then: str
) -> None:
    """Append what starts a sparse departure on each PE, and write the tasks that go on with it."""
    chain, last = program.model.pes(name, "chain"), program.model.pes(name, "last")
    first = program.model.pes(name, "first")
    sums = SumProgram(program, name, departure, last, last.subtract(first))
    sums.pack()
    sums.go_on(then)
    sums.begin(block.when(holds(last, chain)))
    farther_in = chain.subtract(last)
    if not farther_in.is_empty():
        alone = first.subtract(last)
        inner = block.nest(Else())
        send_sum(program, inner, f"send_{name}", departure, farther_in, alone, then)


class SumProgram:
    """Functions of the last PEs of a sparse departure; those `summed` take what others send."""

    def __init__(
        self, program: RoleProgram, name: str, departure: Outgoing, last: isl.Set, summed: isl.Set
    ) -> None:
        """Keep memory for the sums of the other PEs, and for the wavelets of a sequence."""
        assert departure.sequences is not None, "what leaves sparse does so in sequences"
        self.program, self.name, self.departure = program, name, departure
        self.outer = departure.sequences.outer
        self.last, self.summed = last, summed
        self.packing, self.sent = (program.naming.of(f"{w}_{name}") for w in ("pack", "sent"))
        self.wavelets = program.naming.of(f"{name}_wavelets")
        self.position = program.naming.of(f"{name}_position")
        task = f"pack_{name}"
        shape = (count_most_elements(program.model, task),)
        program.keep(self.wavelets, "int32", shape, f"{name}_wavelets")
        program.hold(self.packing, "vector")
        self.received: Value | None = None
        if not summed.is_empty():
            self.transfer = Transfer(program, f"send_{name}", apart=True)
            self.transfer.configure("COPY", TAKEN, summed)
            self.received = self.transfer.place
            program.hold(self.position)

    def begin(self, block: Block) -> None:
        """Append the start: the first sequence, or before it what comes from farther in."""
        begin_sequences(self.program, block, self.name, self.outer)
        alone = self.last.subtract(self.summed)
        if self.received is not None:
            block.add(Assign(Field(self.position), Number(0)))
            vector, summed = self.transfer.vector, holds(self.summed, self.last)
            block.when(summed).add(Receive(vector, IN, self.received, Task(self.packing)))
            block = block.nest(Else()) if summed is not None else block
        if not alone.is_empty():
            block.add(Call(Task(self.packing)))

    def pack(self) -> None:
        """Write the task that sends a sequence: elements that are not zero, from memory."""
        task, tensor = f"pack_{self.name}", self.departure.tensor
        body = self._task(self.packing, f"Send what is not zero in a sequence of {tensor}.")
        body.locals["n"] = COUNTER
        body.hold(declare_outer_indices(self.program, self.name, self.outer))
        self.program.count(task)
        body.block.add(CountCall(self.program.naming.counter(task)))
        self._pack_elements(body.block, task, tensor)
        vector = Address(Field(self.packing))
        operands = Fabric("int32"), make_operand("int32", (1,))
        body.block.add(
            Configure(vector, None, "COPY", (COUNT,), operands),
            Send(vector, OUT, Field(self.wavelets), Task(self.sent)),
        )
        body.block.charge(address=1)
        self.program.add(body)

    def _pack_elements(self, block: Block, task: str, tensor: str) -> None:
        """Append the loops over a sequence that make a wavelet of each element but zeros."""
        naming = self.program.naming
        element, index = Name(naming.element(tensor)), Name(naming.own("i0"))
        type_ = self.program.model.graph.tensors[tensor].type
        then = Block()
        received = self.received
        if received is not None:
            self._add_received(then.when(holds(self.summed, self.last)), received, element, type_)
        then.charge(scalar=1)
        kept = then.nest(If(_is_not_zero(element, type_)))
        kept.charge(scalar=1, address=1)
        wavelet = Element(Field(self.wavelets), (Next(COUNT),))
        kept.add(Assign(wavelet, Packed(element, index, type_)))

        def moved(value: Value) -> Declare:
            return Declare(element.name, type_, value, fixed=received is None)

        transfer_loops(block, task, self.program.model, naming, moved, then=then, counts=True)

    def _add_received(self, block: Block, received: Value, element: Name, type_: str) -> None:
        """Append the addition of what was received for an element."""
        taken = Element(received, (Next(Field(self.position)),))
        operands = InstructionOperands(values={"received": taken}, types={"received": type_})
        own = load(element, type_, operands.type)
        op = OPERATORS[self.departure.by]
        block.add(Store(element, combine(op, own, parse_expression("received"), operands), type_))
        block.charge(scalar=1, address=1)

    def go_on(self, then: str) -> None:
        """Write the task that ends a sequence and begins the next, or the end of them all."""
        body = self._task(self.sent, f"A sequence of {self.departure.tensor} has left.")
        body.block.add(SendEnd(OUT))
        body.block.charge(scalar=1)
        again = (Call(Task(self.packing)),)
        add_odometer(self.program, body.block, self.name, self.outer, again)
        body.block.add(Call(Task(then)))
        self.program.add(body)

    def _task(self, name: str, comment: str) -> Body:
        body = Body(name=name, comment=comment)
        last = self.last if self.departure.out is not None else None
        body.hold(alternate_colours(self.program, self.departure, self.last, last))
        return body


def _is_not_zero(element: Value, type_: str) -> Value:
    if is_integer(type_):
        return compare(element, "!=", 0)
    return compare(Loaded(element, type_), "!=", Literal(0.0, "float32"))

# --- Departures that wait for others --------------------------------------------------------------
#
# Each begins on a PE once the others have no part there any more:
#
#     finish_S, or restart of adapters -> begin_N -> ... -> done_N -> begin_M, complete
#
# for every departure M that waits for N, as tasks.yaml has it; N may also be what arrives there.
#
# Source   stages/layer/routes/departures.py: no queue of instructions may be full of what waits

Parts = Mapping[str, Sequence[Part]]


class TurnTaking:
    """Writes what counts, on the PEs of a role, the parts of departures that others wait for."""

    def __init__(self, program: RoleProgram, parts: Parts) -> None:
        """Take what is to be done for departures and arrivals: sets of routes.isl, of PEs."""
        self.program, self.naming, self.parts = program, program.naming, parts
        graph = program.model.graph.departures
        self.waits = {
            name: [other for other in graph[name].waits if other in parts]
            for name in parts
            if name in graph and graph[name].waits
        }

    def restart(self, block: Block) -> None:
        """Append for how many parts each departure waits, and for its own beginning besides."""
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

# --- Departures of computing PEs ------------------------------------------------------------------
#
# A PE adds its part, or forwards what others have:
#
#     finish_S -> send_N -> complete
#
# for every departure N of the target of a statement S. What is fed back is taken meanwhile, and not
# before: what waits for other PEs must not fill the queue of instructions
# (layer/routes/departures.py).
#
# Paper    V Sec. 4.2

class Departures:
    """Writes the functions of a program that send."""

    def __init__(self, program: RoleProgram) -> None:
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
            for task in self.model.taking(task_graph.ReceiveTask, back):
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
