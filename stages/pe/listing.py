"""The program of a role as data: its functions, and what it keeps in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from lairmake.stages.machine.types import BYTES
from lairmake.stages.pe.nodes import (
    Act,
    Continues,
    Coordinate,
    Declare,
    Field,
    StatementNode,
    WaveletArgument,
    WaveletIndex,
    WaveletValue,
    walk,
)
from lairmake.stages.poly.expression import Node


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A function: what starts it, a `task`, `data` or `control`, and what it declares first.

    `parameters` are integers that a call gives values.
    """

    name: str
    comment: str
    kind: str
    declared: tuple[Declare, ...]
    statements: tuple[StatementNode, ...]
    parameters: tuple[str, ...] = ()

    @property
    def uses(self) -> dict[str, bool]:
        """Whether it needs the PE, its memory, and the wavelet that it is given."""
        kinds = set(map(type, walk((*self.declared, *self.statements))))
        acts = any(issubclass(kind, Act) for kind in kinds)
        return {
            "pe": acts or not kinds.isdisjoint((Field, Coordinate, Continues)),
            "memory": Field in kinds,
            "wavelet": not kinds.isdisjoint((WaveletIndex, WaveletValue, WaveletArgument)),
        }


@dataclass(frozen=True, slots=True)
class Local(Node):
    """A local tensor in a program's memory: its byte address, type and shape."""

    name: str
    type: str
    shape: tuple[int, ...]
    address: int

    @property
    def bytes(self) -> int:
        """Its size."""
        return BYTES[self.type] * prod(self.shape)


@dataclass(frozen=True, slots=True)
class Member:
    """A local tensor in a place, and how many bytes before it are not its own."""

    local: Local
    before: int


@dataclass(frozen=True, slots=True)
class Place:
    """Memory of one local tensor, or of several, and how many bytes are left free before it."""

    members: tuple[Member, ...]
    before: int


@dataclass(frozen=True, slots=True)
class Kept(Node):
    """A field of memory: an `int32` or `int64`, or one `vector` instruction, or `several`."""

    name: str
    type: str = "int32"
    several: tuple[int, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Table(Node):
    """Numbers of a type that a program looks up by a name, and never changes."""

    name: str
    type: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Colour(Node):
    """The name of a colour, and its number."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Listing(Node):
    """The program of a role: what it keeps, and its functions; `early` ones are used before.

    `offset` is what layer.yaml calls the PE[0, 0] of the program: nothing where that is its own.
    `numbered` counters are known by numbers alone, behind those that have names.
    """

    role: str
    layer: str
    variant: str
    offset: tuple[int, ...]
    colours: tuple[Colour, ...]
    counters: tuple[str, ...]
    locals: tuple[Local, ...]
    fields: tuple[Kept, ...]
    early: tuple[str, ...]
    functions: tuple[Function, ...]
    tables: tuple[Table, ...] = ()
    numbered: int = 0

    @property
    def counted(self) -> int:
        """The number of counters."""
        return len(self.counters) + self.numbered

    @property
    def operands(self) -> int:
        """The number of bytes up to the end of the last array."""
        return find_end(self.locals)

    @property
    def places(self) -> tuple[Place, ...]:
        """Where local tensors lie, one place after the other."""
        found, end = [], 0
        for locals_ in _list_together(self.locals):
            widest = max(BYTES[local.type] for local in locals_)
            start, natural = _begin(locals_), -(-end // widest) * widest
            members = tuple(Member(local, local.address - start) for local in locals_)
            found.append(Place(members, start - end if start != natural else 0))
            end = _end(locals_)
        return tuple(found)


def find_end(locals_: Sequence[Local]) -> int:
    """Return the first byte behind all arrays."""
    return max((local.address + local.bytes for local in locals_), default=0)


def _list_together(locals_: Sequence[Local]) -> list[list[Local]]:
    """Return local tensors in the order of their addresses, those together that share memory.

    A place of several begins and ends where elements of each of their types may begin.
    """
    found: list[list[Local]] = []
    for local in sorted(locals_, key=lambda each: each.address):
        found.append([local])
        while len(found) > 1 and _begin(found[-1]) < _end(found[-2]):
            found[-2:] = [found[-2] + found[-1]]
    return found


def _begin(locals_: Sequence[Local]) -> int:
    """Return the first byte of a place."""
    start = min(local.address for local in locals_)
    widest = max(BYTES[local.type] for local in locals_)
    return start if len(locals_) == 1 else start // widest * widest


def _end(locals_: Sequence[Local]) -> int:
    """Return the first byte behind a place."""
    end = max(local.address + local.bytes for local in locals_)
    widest = max(BYTES[local.type] for local in locals_)
    return end if len(locals_) == 1 else -(-end // widest) * widest
