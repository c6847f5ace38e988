"""Exchanges of halos with neighbours, between two invocations."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import islpy as isl

from lairmake.stages.layer.codegen.model import holds
from lairmake.stages.layer.codegen.program import RoleProgram, find_by_parity
from lairmake.stages.layer.codegen.streams import ALONE, TAKEN, Transfer, unpack
from lairmake.stages.layer.routes.exchanges import list_before, list_meanwhile, name_task
from lairmake.stages.layer.routes.resources import is_exchanged_in_turn
from lairmake.stages.layer.texts.task_graph import Move
from lairmake.stages.movement.halo import AXES, Axis
from lairmake.stages.pe.block import Block, Body, total
from lairmake.stages.pe.nodes import (
    Activate,
    Assign,
    Call,
    Choice,
    Declare,
    Else,
    Field,
    If,
    Less,
    Nothing,
    Receive,
    Send,
    SendCommands,
    Task,
)
from lairmake.stages.poly.expression import Name, Number, Operation, Value, compare
from lairmake.stages.poly.sides import SIDES

# --- Exchanges between two invocations ------------------------------------------------------------
#
#     complete -> swap_T -> exchange_T, carry_T -> (streams) -> exchanged_T -> ... -> restart
#
# A PE sends what its neighbours need of what it has computed, takes what it needs of theirs, and
# meanwhile makes its own part of the next invocation. Corners come in a second round. `exchanging`
# counts the colours on which it sends or takes something in a round; all that it sends has left
# before the next invocation, which may change it.
#
# No PE waits for ever: of those in the earliest round, each takes and sends without waiting for
# anything but its neighbours, which are there, or will be; and see stages/movement/halo.py. At most
# eight streams are under way then, and no other ones: no task is needed but those that they start.

COUNT = "exchanging"
PARITY = "[PE_X, PE_Y] -> {{ [(PE_{axis} mod 2)] }}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One round of a move in a program, and the function that comes after it."""

    program: RoleProgram
    move: str
    number: int
    sides: Sequence[str]
    then: str

    @property
    def begin(self) -> str:
        """The function with which it begins."""
        return self._named("exchange")

    @property
    def end(self) -> str:
        """The task that comes when all that a PE sends, or takes, on a colour is done."""
        return self._named("exchanged")

    def _named(self, verb: str) -> str:
        number = f"_{self.number}" if self.number else ""
        return self.program.naming.of(f"{verb}_{self.move}{number}")

    def write(self) -> None:
        """Write both functions."""
        described = self.program.model.graph.moves[self.move]
        self._write_end(described)
        body = Body(name=self.begin, comment=f"Exchange {described.tensor} with neighbours.")
        block, parts = body.block, self._list_parts()
        self.program.hold(COUNT)
        body.hold(self._colours(described))
        block.add(Assign(Field(COUNT), total([self.program.number(pes) for pes in parts])))
        for axis in (each for each in AXES if self._along(each)):
            self._add_axis(body, axis)
        idle = functools.reduce(isl.Set.subtract, parts, self._context)
        if not idle.is_empty():
            block.when(holds(idle, self._context)).add(Activate(Task(self.then)))
        self.program.add(body)

    def _add_axis(self, body: Body, axis: Axis) -> None:
        """Append what PEs send and receive along an axis.

        Most have neighbours on both sides, which a PE tests once: the others test it for each.
        """
        verbs, sides = ("send", "receive"), self._along(axis)
        every = [self._pes(verb, side) for side in sides for verb in verbs]
        inside, context = functools.reduce(isl.Set.intersect, every).coalesce(), self._context
        if len(every) <= 2 or inside.is_empty() or context.is_subset(inside):
            self._add_moves(body, body.block, axis, context)
            return
        name = f"{self.begin}_{axis}"
        straight = Body(name=self.program.naming.of(name), comment="The same on both sides.")
        straight.hold(self._colours(self.program.model.graph.moves[self.move]))
        self._add_moves(straight, straight.block, axis, inside, configured=True)
        self.program.add(straight)
        here = self.program.when_kept(body.block, inside, f"between_{self.move}_{axis}")
        here.add(Call(Task(straight.name)))
        self._add_moves(body, body.block.nest(Else()), axis, context)

    def _add_moves(
        self, body: Body, block: Block, axis: Axis, context: isl.Set, *, configured: bool = False
    ) -> None:
        """Append what PEs send and receive; what follows on the same PEs is under one condition.

        To the first side of an axis before the other one, and both before what comes from there.
        """
        moves = [
            (verb, axis, side, later)
            for verb in ("send", "receive")
            for side, *later in _list_tails(self._along(axis))
        ]
        for pes, group in itertools.groupby(moves, key=lambda each: self._pes(each[0], each[2])):
            inner, here = block.when(holds(pes, context)), pes.intersect(context)
            for verb, axis, side, later in group:
                then = self._find_then(here, verb, later)
                self._start(body, inner, verb, axis, side, then, configured=configured)

    @property
    def _context(self) -> isl.Set:
        """The PEs of the program, as a box where they are one."""
        return _simplify(self.program.pes)

    def _write_end(self, described: Move) -> None:
        body = Body(
            name=self.end, comment=f"Some of {described.tensor} has come, or has left."
        )
        inner = body.block.nest(If(compare(Less(Field(COUNT)), "==", 0)))
        for side in self.sides:
            unpack(self.program, inner, name_task("receive", self.move, side))
        inner.add(Call(Task(self.then)))
        self.program.add(body)

    def _along(self, axis: Axis) -> list[str]:
        """Return the sides of an axis, those first to which elements move first."""
        return [side for side in AXES[axis] if side in self.sides]

    def _pes(self, verb: str, side: str) -> isl.Set:
        """Return the PEs that send, or receive, what moves to a side."""
        known = self.program.model.known(name_task(verb, self.move, side))
        return _simplify(self.program.pes_of(known).intersect(self.program.pes))

    def _list_parts(self) -> list[isl.Set]:
        """Return the PEs that send on an axis, and those that receive."""
        found = []
        for axis in AXES:
            for verb in ("send", "receive"):
                pes = [self._pes(verb, side) for side in self._along(axis)]
                if pes:
                    both = pes[0].union(pes[-1]).coalesce()
                    found.append(both)
        return found

    def _colours(self, described: Move) -> dict[str, Value]:
        """Return the colours on which PEs send, and hear, by axis."""
        program, found = self.program, {}
        for axis in AXES:
            sides = self._along(axis)
            if not sides:
                continue
            even, odd = described.colours[axis]
            parity = PARITY.format(axis=axis.upper())
            for word, verb, pair, name in (
                ("out", "send", (even, odd), program.colour),
                ("in", "receive", (odd, even), program.listen),
            ):
                pes = self._pes(verb, sides[0]).union(self._pes(verb, sides[-1]))
                here = pes.intersect(program.pes)
                found[self._colour(word, axis)] = find_by_parity(parity, here, pair, name)
        return found

    def _colour(self, word: str, axis: str) -> str:
        return self.program.naming.of(f"{word}_{axis}")

    def _find_then(self, pes: isl.Set, verb: str, later: Sequence[str]) -> Value:
        """Return the task that ends the round; nothing where PEs go on with a side that is later.
        """
        then, more = Task(self.end), pes.subtract(pes)
        for side in later:
            more = more.union(pes.intersect(self._pes(verb, side)))
        if more.is_empty():
            return then
        condition = holds(more, pes)
        return Nothing() if condition is None else Choice(condition, Nothing(), then)

    def _start(
        self, body: Body, block: Block, verb: str, axis: str, side: str, then: Value,
        *, configured: bool,
    ) -> None:
        """Append the instruction that sends, or receives, what moves to a side."""
        pes, operands = self._pes(verb, side), TAKEN if verb == "receive" else ALONE
        in_turn = is_exchanged_in_turn(self.program.model.graph)
        shared = f"{verb}_to_{SIDES[side].word}" if in_turn else ""
        transfer = Transfer(self.program, name_task(verb, self.move, side), vector=shared)
        if in_turn:
            sizes = transfer.find_sizes(block, pes, body)
            transfer.configure_now(block, "COPY", operands, sizes)
        elif not configured:
            transfer.configure("COPY", operands, pes)
        if verb == "receive":
            where, colour = transfer.where(block), Name(self._colour("in", axis))
            block.add(Receive(transfer.vector, colour, where, then))
            return
        transfer.pack(block)
        where, colour = transfer.where(block), Name(self._colour("out", axis))
        block.add(Send(transfer.vector, colour, where, then))
        block.add(SendCommands(colour, ("ADVANCE",)))
        block.charge(scalar=1)


def _list_tails(sides: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield each side with those after it."""
    return (sides[k:] for k in range(len(sides)))


def _simplify(pes: isl.Set) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE } as one convex piece where it is one."""
    hull = isl.Set.from_basic_set(pes.coalesce().simple_hull())
    return hull if hull.is_equal(pes) else pes


def write_exchanges(program: RoleProgram) -> list[str]:
    """Write all exchanges, and return the functions that are called between two invocations.

    A tensor with a halo is carried to other tensors before its halo is taken anew from neighbours,
    and one that takes turns with buffers before these are swapped.
    """
    model, exchanges = program.model, _list_exchanges(program)
    swaps = [_write_swap(program, local, names) for local, names in model.graph.swaps.items()]
    for exchange in exchanges:
        exchange.write()
    before = [program.naming.of(name) for name in list_before(model.graph)]
    meanwhile = [program.naming.of(name) for name in list_meanwhile(model.graph)]
    if not exchanges:
        return [*before, *swaps, *meanwhile, "restart"]
    return [*before, *swaps, exchanges[0].begin, *meanwhile]


def _write_swap(program: RoleProgram, local: str, names: Sequence[str]) -> str:
    """Write the function in which each tensor takes the buffer of the next one; return its name."""
    body = Body(
        name=program.naming.of(f"swap_{local}"), comment=f"Swap the buffers of {', '.join(names)}."
    )
    numbers = [program.buffers[local, k] for k in range(len(names))]
    kept = [Field(each.name) for each in numbers if isinstance(each, Name)]
    if len(names) == 2:
        body.block.add(Assign(kept[0], Operation("-", (Number(1), kept[0]))))
        body.block.charge(scalar=1)
    else:
        spare = program.naming.of("spare")
        body.block.add(Declare(spare, "int", kept[0]))
        body.block.add(*(Assign(to, buffer) for to, buffer in pairwise(kept)))
        body.block.add(Assign(kept[-1], Name(spare)))
        body.block.charge(scalar=len(names) + 1)
    program.add(body)
    return body.name


def _list_exchanges(program: RoleProgram) -> list[Exchange]:
    """Return the rounds of all moves, in their order; after the last one comes the restart."""
    rounds = [
        (name, number, sides)
        for name, move in program.model.graph.moves.items()
        for number, sides in enumerate(move.rounds)
    ]
    found: list[Exchange] = []
    for name, number, sides in reversed(rounds):
        then = found[0].begin if found else "restart"
        found.insert(0, Exchange(
            program=program, move=name, number=number, sides=sides, then=then
        ))
    return found
