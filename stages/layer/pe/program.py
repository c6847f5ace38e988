"""A PE program under construction: its memory, its configuration and its functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import islpy as isl

from stages.layer.pe.c_functions import Body, Function
from stages.layer.pe.code import C_TYPES, Block
from stages.layer.pe.identifiers import read_names
from stages.layer.pe.instruction import configuration, table_entry, table_field
from stages.layer.pe.listening import hear
from stages.layer.pe.model import Model, holds, value
from stages.layer.pe.operands import part_field, vectors_of
from stages.layer.pe.work import Spelling
from stages.machine.types import BYTES
from stages.poly.bind import index_constants, project_names

if TYPE_CHECKING:
    from stages.machine.profile import Profile

DATA = ("../../fabric/pe.h",)
PE_H = Path(__file__).parents[2] / "fabric" / "pe.h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """A local tensor in a program's memory: its byte address, type and shape."""

    name: str
    type: str
    shape: tuple[int, ...]
    address: int

    @property
    def bytes(self) -> int:
        """Its size."""
        return BYTES[self.type] * prod(self.shape)

    @property
    def declaration(self) -> str:
        """The C declaration of the field."""
        return f"{C_TYPES[self.type]} {self.name}{''.join(f'[{s}]' for s in self.shape)};"


@dataclass(slots=True, kw_only=True)
class Program:
    """One role: the PEs that have it, what they keep, and what they do."""

    role: str
    model: Model
    profile: Profile
    vectors: bool
    pes: isl.Set
    spelling: Spelling = field(default_factory=lambda: Spelling(names=read_names(PE_H), words={}))
    locals: list[Local] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)
    listens: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    main: Body = field(
        default_factory=lambda: Body(name="pe_main", comment="Configure, then start.")
    )
    data: int = 0

    @property
    def code(self) -> int:
        """An estimate of its code, in bytes: a base, and a share for each function."""
        return self.profile.code_base + self.profile.code_task * len(self.functions)

    def hold(self, declaration: str) -> None:
        """Give a variable a field of memory, once."""
        if declaration not in self.fields:
            self.fields.append(declaration)

    def keep(self, name: str, type_: str, shape: tuple[int, ...]) -> None:
        """Give a local tensor the next aligned address, once."""
        if any(local.name == name for local in self.locals):
            return
        size = BYTES[type_]
        address = -(-self.data // size) * size
        self.locals.append(Local(name=name, type=type_, shape=shape, address=address))
        self.data = address + self.locals[-1].bytes

    def configure(self, name: str, comment: str) -> None:
        """Keep a task's vector instructions, and configure them in main where they are used."""
        decision = self.model.simd[name]
        several = "".join(f"[{n}]" for n in decision.get("several", ()))
        for step in vectors_of(name, decision, self.spelling):
            self.hold(f"struct vector {step.field}{several};  /* {comment} */")
        here = self.pes_of(self.model.known(name))
        lines = configuration(name, self.model, self.spelling, self.pes.intersect(here))
        if lines:
            self.when(self.main.block, here).add(*lines)
        for table, described in decision.get("tables", {}).items():
            self._fill(self.when(self.main.block, here), name, table, described)

    def _fill(self, block: Block, name: str, table: str, described: dict[str, Any]) -> None:
        """Append the loop that computes the entries of a table."""
        index, low = described["by"], described["from"]
        last = low + described["entries"] - 1
        inner = block.nest(f"for (int {index} = {low}; {index} <= {last}; {index} += 1)")
        known = self.model.known(name)
        others = [n for n in index_constants(known) if n != index]
        entry = value(described["value"], project_names(known, others).intersect(self.pes))
        field = table_field(name, table, self.spelling)
        inner.add(f"my->{field}{table_entry(described)} = {entry.text};")

    def keep_parts(self, name: str) -> None:
        """Keep what a task's vector instructions give to each other, and look up."""
        for number, part in enumerate(self.model.simd[name].get("parts", ())):
            field = part_field(name, number, self.spelling)
            self.keep(field, part["type"], (part["elements"],))
        for table, described in self.model.simd[name].get("tables", {}).items():
            self.keep(table_field(name, table, self.spelling), "int32", (described["entries"],))

    def count(self, name: str) -> None:
        """Give a task a counter."""
        self.counters.append(name)
        self.spelling.counter(name)

    def when(self, block: Block, pes: isl.Set) -> Block:
        """Return a block that runs on the given PEs of the role."""
        return block.when(holds(pes, self.pes))

    def pes_of(self, known: isl.Set) -> isl.Set:
        """Return the PEs for which symbolic constants are known, the others projected out."""
        return project_names(known, index_constants(known))

    def number(self, pes: isl.Set) -> str:
        """Return 1 on the given PEs and 0 on the others of the role, as C."""
        condition = holds(pes, self.pes)
        if condition is None:
            return "1"
        return "0" if pes.is_disjoint(self.pes) else f"({condition.text})"

    def colour(self, name: str) -> str:
        """Return the enumerator of a colour, or of that on which a stream enters."""
        name = self.model.entering(name)
        if name not in self.colours:
            self.colours.append(name)
        return self.spelling.colour(name)

    def listen(self, name: str) -> str:
        """Return the enumerator of a colour whose wavelets the program takes, or a C constant."""
        if name in self.model.passing:
            return hear(self, name)
        if name not in self.listens:
            self.listens.append(name)
        return self.colour(name)

    def add(self, body: Body) -> None:
        """Append a finished function."""
        body.locals = self.words | body.locals
        self.functions.append(body.finished())

    def context(self) -> dict[str, Any]:
        """Return what the template prints."""
        numbers = self.model.numbers
        defined: set[str] = set()
        early: list[str] = []
        names = {f.name for f in self.functions}
        for function in self.functions:
            early += sorted((function.calls & names) - defined - {function.name} - set(early))
            defined.add(function.name)
        return {
            "role": self.role,
            "locals": self.locals,
            "fields": self.fields,
            "functions": self.functions,
            "prototypes": early,
            "colours": [f"{self.spelling.colour(c)} = {numbers[c]}" for c in self.colours],
            "counters": [self.spelling.counter(c) for c in self.counters],
        }
