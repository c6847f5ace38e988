"""What leaves while its statement still runs: sent after the steps that complete it.

    step_S, or end_N -> (sends) -> ... -> finish_S -> send_N -> complete

Nothing waits for these sends: that of send_N comes after them on its colour. But where a departure
rolls, later steps wait for room: a send -> left_N -> step_S.

Source   design, Execution: instructions with a fabric operand are queued
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.pe.instruction import find_ends, find_sizes_at_run_time
from lairmake.stages.layer.pe.model import holds
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.streams import (
    add_sum,
    alternate_colours,
    configure_sum,
    declare_outer_indices,
)
from lairmake.stages.layer.pe.transfer import COUNT, COUNTER, Transfer
from lairmake.stages.layer.pe.work import transfer_loops
from lairmake.stages.layer.streams.steps import Steps, find_steps
from lairmake.stages.layer.texts.task_graph import Outgoing
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import Assign, Call, Field, For, Gap, If, Increase, Nothing, Return
from lairmake.stages.poly.expression import Name, Number, Operation, Value, compare
from lairmake.stages.poly.functions import bind_set


class EarlySends:
    """Writes what sends the elements that leave early, and says when it runs."""

    def __init__(self, program: Program) -> None:
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

        Before it, what is complete leaves. Outer indices run as in `odometer`.
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
