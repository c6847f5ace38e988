"""The program of a role as data: its functions, and what it keeps in memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from stages.layer.pe.statement_nodes import Act, Declare, Statement
from stages.layer.pe.value_nodes import (
    Continues,
    Coordinate,
    Field,
    WaveletIndex,
    WaveletValue,
    walk,
)
from stages.machine.types import BYTES
from stages.poly.expression import Node


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A function: what starts it, a `task`, `data` or `control`, and what it declares first."""

    name: str
    comment: str
    kind: str
    declared: tuple[Declare, ...]
    statements: tuple[Statement, ...]

    @property
    def parts(self) -> list[Node]:
        """All nodes in it."""
        return list(walk((*self.declared, *self.statements)))

    def has(self, *kinds: type[Node]) -> bool:
        """Say whether there is a node of some kinds in it."""
        return any(isinstance(part, kinds) for part in self.parts)

    @property
    def uses(self) -> dict[str, bool]:
        """Whether it needs the PE, its memory, and the wavelet that it is given."""
        memory = self.has(Field)
        return {
            "pe": memory or self.has(Act, Coordinate, Continues),
            "memory": memory,
            "wavelet": self.has(WaveletIndex, WaveletValue),
        }


@dataclass(frozen=True, slots=True)
class Local(Node):
    """A local tensor in a program's memory: its byte address, type and shape.

    `before` are the bytes left free before it.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    address: int
    before: int = 0

    @property
    def bytes(self) -> int:
        """Its size."""
        return BYTES[self.type] * prod(self.shape)


@dataclass(frozen=True, slots=True)
class Kept(Node):
    """A field of memory: an `int32`, or one `vector` instruction, or `several`."""

    name: str
    type: str = "int32"
    several: tuple[int, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Colour(Node):
    """The name of a colour, and its number."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Listing(Node):
    """The program of a role: what it keeps, and its functions; `early` ones are used before."""

    role: str
    layer: str
    variant: str
    colours: tuple[Colour, ...]
    counters: tuple[str, ...]
    locals: tuple[Local, ...]
    fields: tuple[Kept, ...]
    early: tuple[str, ...]
    functions: tuple[Function, ...]
