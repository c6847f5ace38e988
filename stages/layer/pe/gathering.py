"""Gathers: a PE sends its elements in turn with those that pass, and sums nothing.

What comes from farther in goes from fabric to fabric. Where elements of PEs alternate, they are
sent row by row, a few rows ahead:

    send_N -> row_N -> sent_N -> row_N -> ... -> complete

or as they are there, while their statement still runs:

    step_S, or end_A -> row_N -> ... -> send_N -> complete

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

import islpy as isl

from stages.layer.pe.c_functions import Body
from stages.layer.pe.code import Block
from stages.layer.pe.model import Description, holds, value
from stages.layer.pe.program import Program
from stages.layer.pe.streams import Transfer, alternating, flush
from stages.layer.routes.leaving import instructions_of
from stages.poly.ast import held
from stages.poly.bind import index_names


class Gatherer:
    """Writes the functions that send one gathered departure."""

    def __init__(self, program: Program, name: str, then: str) -> None:
        """Take the departure, and the task that comes after it."""
        self.program, self.name = program, name
        self.departure: Description = program.model.graph["departures"][name]
        self.chain = program.model.pes(f"{name}_chain").intersect(program.pes)
        self.own = program.pes_of(program.model.known(f"send_{name}")).intersect(program.pes)
        self.passing = {
            part: isl.PwAff(self.departure[part]).pos_set().intersect(self.chain)
            for part in ("before", "after")
        }
        self.row = program.spelling.of(f"{name}_row")
        self.left = program.spelling.of(f"{name}_left")
        self.end = then
        self.then = then if self.is_whole else program.spelling.of(f"sent_{name}")
        self.then = "NULL" if self.leads else self.then
        self.transfer = self._configure()

    @property
    def leads(self) -> bool:
        """Whether rows leave as soon as they are there; then all have left but their elements."""
        return "lead" in self.departure

    @property
    def is_whole(self) -> bool:
        """Whether all of it is one row."""
        return not self.departure["rows"]

    def _configure(self) -> Transfer:
        """Configure the instructions; return the one that sends own elements."""
        task = f"send_{self.name}"
        slots = 0 if self.is_whole else self._ahead()
        count, slot = self.departure["own"], f"my->{self.row}"
        transfer = Transfer(self.program, task, count=count, slots=slots, slot=slot)
        transfer.configure("COPY", "{fabric}, {memory}, NO_OPERAND", self.own)
        for part, pes in self.passing.items():
            if not pes.is_empty():
                self._configure_pass(part, pes, f"{transfer.type.upper()}_FABRIC")
        return transfer

    def _configure_pass(self, part: str, pes: isl.Set, fabric: str) -> None:
        vector = self.program.spelling.of(f"{part}_{self.name}")
        self.program.hold(f"struct vector {vector};")
        count = value(self.departure[part], pes)
        block = self.program.when(self.program.main.block, pes)
        block.charge(scalar=count.operations)
        block.add(
            f"configure(pe, &my->{vector}, NO_COUNTER, COPY, SIZES({count.text}),",
            f"          {fabric}, {fabric}, NO_OPERAND);",
        )

    def _ahead(self) -> int:
        """Return how many rows may be under way: with too many instructions no task starts."""
        graph, profile = self.program.model.graph, self.program.profile
        streams = sum(not a["sparse"] for a in graph["arrivals"].values())
        gathers = [d for d in graph["departures"].values() if d["by"] == "gather"]
        streams += len(graph["departures"]) - len(gathers)
        free = (profile.instruction_queue - 1 - streams) // len(gathers)
        return max(1, free // max(map(instructions_of, gathers)))

    def write(self, body: Body) -> None:
        """Write the task that sends, and those that go on with it."""
        if self.is_whole:
            body.locals |= self._colours()
            self._send_row(body.block)
            return
        self.program.hold(f"int32_t {self.row};")
        self._write_row()
        if self.leads:
            self._end_rows(body)
            return
        rows = " * ".join(held(value(n, self.chain), "*") for n in self.departure["rows"])
        self.program.hold(f"int32_t {self.left};")
        self._write_sent()
        body.block.add(f"my->{self.row} = 0;", f"my->{self.left} = {rows};")
        ahead = self._ahead()
        body.block.nest(f"for (int n = 0; n < {ahead} && my->{self.left} > n; n += 1)", loop=1).add(
            f"{self.program.spelling.of(f'row_{self.name}')}(pe);"
        )

    def _colours(self) -> dict[str, str]:
        last = self.program.model.pes(f"{self.name}_last") if "out" in self.departure else None
        return alternating(self.program, self.departure, self.chain, last)

    def _end_rows(self, body: Body) -> None:
        """Append what waits until all rows have left."""
        body.locals |= self._colours()
        body.block.add(f"my->{self.row} = 0;")
        flush(self.program, body.block, f"end_{self.name}", self.end, self.chain)

    def _write_row(self) -> None:
        """Write the function that sends a row, and counts it."""
        body = Body(
            name=self.program.spelling.of(f"row_{self.name}"),
            comment=f"Send a row of {self.departure['tensor']}.",
        )
        body.locals |= self._colours()
        self._declare_indices(body)
        self._send_row(body.block)
        body.block.add(f"my->{self.row} += 1;")
        body.block.charge(scalar=1)
        self.program.add(body)

    def _declare_indices(self, body: Body) -> None:
        """Declare the outer indices of a row: its number, in digits, added to the least ones."""
        first, rows = (
            [value(text, self.chain) for text in self.departure[key]] for key in ("first", "rows")
        )
        for k, name in enumerate(index_names(len(rows) + 1)[:-1]):
            at = f"my->{self.row}"
            for inner in rows[k + 1 :]:
                at += f" / {held(inner, '/')}"
                body.block.charge(scalar=1 + inner.operations)
            if k > 0:
                at += f" % {held(rows[k], '%')}"
                body.block.charge(scalar=1 + rows[k].operations)
            if first[k].text != "0":
                at = f"{held(first[k], '+', first=True)} + {at}"
                body.block.charge(scalar=1 + first[k].operations)
            body.locals[name] = f"const int {name} = {at};"

    def _write_sent(self) -> None:
        """Write the task that goes on once a row has left."""
        ahead, row = self._ahead(), self.program.spelling.of(f"row_{self.name}")
        body = Body(
            name=self.then, comment=f"A row of {self.departure['tensor']} has left.",
        )
        body.block.charge(scalar=2)
        body.block.add(f"my->{self.left} -= 1;")
        body.block.nest(f"if (my->{self.left} >= {ahead})").add(f"{row}(pe);")
        body.block.nest(f"if (my->{self.left} == 0)").add(f"{self.end}(pe);")
        self.program.add(body)

    def _send_row(self, block: Block) -> None:
        """Append the instructions of a row: before, own, after."""
        last = self.passing["after"]
        self._pass(block, "before", "NULL")
        here = block.when(holds(self.own, self.chain))
        self.transfer.pack(here)
        where = self.transfer.where(here)
        ending = holds(last, self.own)
        if last.is_disjoint(self.own):
            then = self.then
        else:
            then = "NULL" if ending is None else f"{ending.text} ? NULL : {self.then}"
        here.add(f"stream_send(pe, {self.transfer.vector}, out, {where}, {then});")
        self._pass(block, "after", self.then)

    def _pass(self, block: Block, part: str, then: str) -> None:
        pes = self.passing[part]
        if not pes.is_empty():
            vector = self.program.spelling.of(f"{part}_{self.name}")
            here = block.when(holds(pes, self.chain))
            here.add(f"stream_pass(pe, &my->{vector}, out, in, {then});")
