"""A PE program under construction: its memory, its configuration and its functions."""

from __future__ import annotations

import typing
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.codegen.instruction import (
    configuration,
    count_buffers,
    find_part_field,
    find_table_entry,
    find_table_field,
    find_vectors,
)
from lairmake.stages.layer.codegen.model import Buffers, Model, holds, value
from lairmake.stages.layer.texts.simd_yaml import TableDecision
from lairmake.stages.layer.texts.task_graph import Forwarding
from lairmake.stages.machine.types import BYTES
from lairmake.stages.pe.block import Block, Body, count_kinds
from lairmake.stages.pe.listing import Colour, Function, Kept, Listing, Local, find_end
from lairmake.stages.pe.names import IdentifierNames, IdentifierNaming
from lairmake.stages.pe.nodes import (
    Assign,
    Choice,
    Declare,
    Field,
    For,
    Forward,
    Group,
    If,
    Nothing,
    PassBy,
    Task,
    find_mentioned,
)
from lairmake.stages.poly.expression import Name, Number, Value, compare, express
from lairmake.stages.poly.functions import (
    find_index_constants,
    greatest_value,
    least_value,
    project_names,
)

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

DATA = ("../../fabric/pe.h",)
PE_H = Path(__file__).parents[2] / "fabric" / "pe.h"


def read_names() -> IdentifierNames:
    """Return the names that a program may still use."""
    return IdentifierNames(PE_H.read_text(encoding="utf-8"))


@dataclass(slots=True, kw_only=True)
class RoleProgram:
    """One role: the PEs that have it, what they keep, and what they do."""

    role: str
    model: Model
    profile: Profile
    vectors: bool
    pes: isl.Set
    naming: IdentifierNaming = field(
        default_factory=lambda: IdentifierNaming(names=read_names(), words={})
    )
    placed: list[Local] = field(default_factory=list)
    behind: list[Local] = field(default_factory=list)
    fields: list[Kept] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)
    listens: list[str] = field(default_factory=list)
    reacting: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    words: dict[str, Declare] = field(default_factory=dict)
    main: Body = field(
        default_factory=lambda: Body(name="pe_main", comment="Configure, then start.")
    )
    fifos: int = 0
    in_turn: bool = False

    @property
    def code(self) -> int:
        """An estimate of its code, in bytes: a base, and a share for each function."""
        return self.profile.code_base + self.profile.code_task * len(self.functions)

    def hold(self, name: str, type_: str = "int32") -> None:
        """Give a variable, or a `vector` instruction, a field of memory, once."""
        self._hold(Kept(name, type_))

    def _hold(self, kept: Kept) -> None:
        if kept not in self.fields:
            self.fields.append(kept)

    @property
    def buffers(self) -> Buffers:
        """The numbers of buffers."""
        return self.model.find_buffers(self.naming)

    def hold_buffer(self, name: str, first: int) -> None:
        """Keep the number of a buffer, from the first one on; functions that use it read it once.
        """
        self.hold(name)
        self.words[name] = Declare(name, "int", Field(name))
        self.main.block.add(Assign(Field(name), Number(first)))

    def keep(self, name: str, type_: str, shape: tuple[int, ...], array: str = "") -> None:
        """Give an array the address that memory.isl has, once, or one behind all that have one.

        `array` is its name there, if another one.
        """
        if any(local.name == name for local in (*self.placed, *self.behind)):
            return
        address = self.model.placed.addresses.get(self.role, {}).get(array or name)
        kept = self.behind if address is None else self.placed
        kept.append(Local(name, type_, shape, address or 0))

    @property
    def locals(self) -> list[Local]:
        """The arrays at their addresses."""
        found = list(self.placed)
        for local in self.behind:
            size = BYTES[local.type]
            found.append(replace(local, address=-(-find_end(found) // size) * size))
        return found

    @property
    def data(self) -> int:
        """The number of bytes that the arrays take."""
        return find_end(self.locals)

    def configure(self, name: str, comment: str) -> None:
        """Keep a task's vector instructions, and configure them in main where they are used."""
        decision = self.model.simd[name]
        several = decision.several
        for step in find_vectors(name, decision, self.naming):
            self._hold(Kept(step.field, "vector", several, comment))
        here = self.pes_of(self.model.known(name))
        block = configuration(name, self.model, self.naming, self.pes.intersect(here))
        if block.statements:
            self.when(self.main.block, here).absorb(block)
        for table, described in decision.tables.items():
            self._fill(self.when(self.main.block, here), name, table, described)

    def _fill(self, block: Block, name: str, table: str, described: TableDecision) -> None:
        """Append the loop that computes the entries of a table."""
        index, low = described.by, described.least
        last = compare(Name(index), "<=", low + described.entries - 1)
        inner = block.nest(For(Name(index), Number(low), last))
        known = self.model.known(name)
        others = [n for n in find_index_constants(known) if n != index]
        entry = value(described.value, project_names(known, others).intersect(self.pes))
        field = find_table_field(name, table, self.naming)
        inner.add(Assign(find_table_entry(field, described), entry))

    def keep_parts(self, name: str) -> None:
        """Keep what a task's vector instructions give to each other, and look up."""
        for number, part in enumerate(self.model.simd[name].parts or ()):
            field = find_part_field(name, number, self.naming)
            self.keep(field, part.type, (part.elements,), f"{name}_part{number}")
        for table, described in self.model.simd[name].tables.items():
            field = find_table_field(name, table, self.naming)
            self.keep(field, described.type, (described.entries,), f"{name}_{table}")

    def count(self, name: str) -> None:
        """Give a task a counter."""
        self.counters.append(name)
        self.naming.counter(name)

    def places(self) -> isl.Set:
        """Return { PE[x, y] } of the role."""
        return self.pes.unbind_params(isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }")).coalesce()

    def when(self, block: Block, pes: isl.Set) -> Block:
        """Return a block that runs on the given PEs of the role."""
        return block.when(holds(pes, self.pes))

    def pes_of(self, known: isl.Set) -> isl.Set:
        """Return the PEs for which symbolic constants are known, the others projected out."""
        return project_names(known, find_index_constants(known))

    def number(self, pes: isl.Set) -> Value:
        """Return 1 on the given PEs and 0 on the others of the role."""
        condition = holds(pes, self.pes)
        if condition is None:
            return Number(1)
        return Number(0) if pes.is_disjoint(self.pes) else Group(condition)

    def when_kept(self, block: Block, pes: isl.Set, word: str) -> Block:
        """Return a block that runs on the given PEs: whether a PE is one of them is found in main.

        It is kept under the word, if that takes fewer cycles than to find it each time.
        """
        condition = holds(pes, self.pes)
        kept = Counter(load=1)
        if condition is None or self._cost(count_kinds(condition)) <= self._cost(kept):
            return block.when(condition)
        field = Field(self.naming.of(word))
        if Kept(field.name, "int32") not in self.fields:
            self.hold(field.name)
            self.main.block.charge(**count_kinds(condition))
            self.main.block.add(Assign(field, Group(condition)))
        block.charge(**kept, branch=1)
        return block.nest(If(field))

    def _cost(self, operations: Counter[str]) -> int:
        return self.profile.find_cost(operations)

    def task(self, word: str) -> Task:
        """Return the function of a word."""
        return Task(self.naming.of(word))

    def colour(self, name: str) -> Name:
        """Return a colour, or that on which a stream enters."""
        name = self.model.entering(name)
        if name not in self.colours:
            self.colours.append(name)
        return Name(self.naming.colour(name))

    def listen(self, name: str) -> Name:
        """Return a colour whose wavelets the program takes, or the constant that holds it."""
        if name in self.model.forwarding:
            return hear(self, name)
        if name not in self.listens:
            self.listens.append(name)
        return self.colour(name)

    def add(self, body: Body) -> None:
        """Append a finished function."""
        body.block.charge(scalar=count_buffers(body.block, self.buffers))
        body.locals = self.words | body.locals
        self.functions.append(body.finished())

    def listing(self, variant: str) -> Listing:
        """Return the program as it is written."""
        numbers, offset = self.model.numbers, self.model.adapted.offset
        return Listing(
            role=self.role,
            layer=self.model.layer.name,
            variant=variant,
            offset=offset if any(offset) else (),
            colours=tuple(Colour(self.naming.colour(c), numbers[c]) for c in self.colours),
            counters=tuple(self.naming.counter(each).name for each in self.counters),
            locals=tuple(self.locals),
            fields=tuple(self.fields),
            early=tuple(self._early()),
            functions=tuple(self.functions),
        )

    def _early(self) -> list[str]:
        """Return the functions of whose names there is use before they are written."""
        defined: set[str] = set()
        early: list[str] = []
        names = {f.name for f in self.functions}
        for function in self.functions:
            used = find_mentioned(function.statements) & names
            early += sorted(used - defined - {function.name} - set(early))
            defined.add(function.name)
        return early


def find_forwarding_pes(model: Model, streams: typing.Iterable[str]) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE forwards one of the streams }."""
    pes = isl.Set("[PE_X, PE_Y] -> { : false }")
    for stream in streams:
        if stream in model.forwarding:
            pes = pes.union(model.pes(stream, "forwarding"))
    return pes


def hear(program: RoleProgram, stream: str) -> Name:
    """Return the constant that holds the colour on which a PE hears a stream.

    It is that of the parity of its place, or, if it is nearest to the port, that of the port.
    """
    described = program.model.forwarding[stream]
    line = program.model.pes(stream, "line").intersect(program.pes)
    nearest = program.model.pes(stream, "nearest").intersect(program.pes)
    others = line.subtract(nearest)
    colour: Value = Nothing() if others.is_empty() else _by_parity(program, described, others)
    if not nearest.is_empty():
        first, enters = holds(nearest, line), program.listen(described.enters)
        colour = enters if first is None else Choice(first, enters, Group(colour))
    return _declare(program, f"{stream}_in", colour)


def _declare(program: RoleProgram, word: str, colour: Value) -> Name:
    """Let all functions that use it declare a constant that holds a colour."""
    name = program.naming.of(word)
    program.words[name] = Declare(name, "int", colour)
    return Name(name)


def forward_along(program: RoleProgram, stream: str) -> None:
    """Let PEs of a role forward what they take of a stream; those that take nothing, all of it."""
    model = program.model
    if stream not in model.forwarding:
        return
    forwarding = model.pes(stream, "forwarding").intersect(program.pes)
    between = model.pes(stream, "between").intersect(program.pes)
    if forwarding.is_empty():
        return
    into = hear(program, stream)
    # The first is what even places hear, so the second is what they send on.
    even, odd = model.forwarding[stream].colours
    described = replace(model.forwarding[stream], colours=(odd, even))
    out = _declare(program, f"{stream}_out", _by_parity(program, described, forwarding, sent=True))
    for passes, pes in ((Forward, forwarding.subtract(between)), (PassBy, between)):
        if not pes.is_empty():
            program.when(program.main.block, pes).add(passes(into, out))


def _by_parity(
    program: RoleProgram, described: Forwarding, pes: isl.Set, *, sent: bool = False
) -> Value:
    """Return the first of two colours for places that are even, else the second."""
    name = program.colour if sent else program.listen
    return find_by_parity(described.parity, pes, described.colours, name)


def find_by_parity(
    parity: str, pes: isl.Set, colours: typing.Sequence[str], name: typing.Callable[[str], Name]
) -> Value:
    """Return the colour of each PE by its parity, [PE_X, PE_Y] -> { [0 or 1] } as text.

    `name` gives the enumerators of those colours that occur.
    """
    # Even places have the first colour: to send on it (Leaving), or to hear it (Forwarding), which
    # only the caller knows. Neighbours on a line differ by one, so the next one hears what one
    # sends on, and for the other direction the pair comes turned round. Routes are made by the same
    # number modulo 2 (movement/): if the two differed, PEs would send where their routers have no
    # route.
    place = isl.PwAff(parity).intersect_domain(pes).floor()
    if greatest_value(place).eq(least_value(place)):
        return name(colours[0 if greatest_value(place).is_zero() else 1])
    even, odd = map(name, colours)
    return Choice(compare(express(place, pes), "==", 0), even, odd)
