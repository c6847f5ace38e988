"""The values in programs: places in memory, elements, and what is computed of them.

Names, numbers and operations are those of isl (stages/poly/expression.py). A template spells each
node by the name of its class (stages/pe/speller.py).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from lairmake.stages.poly.expression import Name, Node, Number, Value

PLAIN = {"str", "int", "float", "bool", "str | None", "tuple[str, ...]", "tuple[int, ...]"}
"""Types of fields that hold no nodes."""


@dataclass(frozen=True, slots=True)
class Nothing(Value):
    """No task."""


@dataclass(frozen=True, slots=True)
class Task(Value):
    """A function of the program."""

    name: str


@dataclass(frozen=True, slots=True)
class Coordinate(Value):
    """The column `x` or the row `y` of the PE."""

    axis: str


@dataclass(frozen=True, slots=True)
class Field(Value):
    """What the program keeps in memory under a name."""

    name: str


@dataclass(frozen=True, slots=True)
class Element(Value):
    """An element of an array; without indices the array."""

    of: Value
    indices: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Address(Value):
    """Where something lies in memory."""

    of: Value


@dataclass(frozen=True, slots=True)
class AtWord(Value):
    """Where something lies in an array of words of 16 bits: so many of them, an int16 read without
    its sign, behind the beginning."""

    of: Value
    words: Value


@dataclass(frozen=True, slots=True)
class Pointed(Value):
    """What lies where a variable says."""

    name: Name


@dataclass(frozen=True, slots=True)
class Next(Value):
    """A variable as it is, which then grows by one."""

    of: Value


@dataclass(frozen=True, slots=True)
class More(Value):
    """A variable, after it has grown by one."""

    of: Value


@dataclass(frozen=True, slots=True)
class Less(Value):
    """A variable, after it has shrunk by one."""

    of: Value


@dataclass(frozen=True, slots=True)
class Group(Value):
    """A value in parentheses."""

    of: Value


@dataclass(frozen=True, slots=True)
class Not(Value):
    """Whether a condition does not hold."""

    of: Value


@dataclass(frozen=True, slots=True)
class Compared(Value):
    """Whether a comparison of numbers of a type holds, floats as float32; with a NaN only != does.
    """

    sign: str
    left: Value
    right: Value
    type: str


@dataclass(frozen=True, slots=True)
class Choice(Value):
    """A value under a condition, else another one."""

    condition: Value
    then: Value
    otherwise: Value


@dataclass(frozen=True, slots=True)
class Later(Value):
    """A number and so many more; it is not charged for."""

    number: Value
    more: int


@dataclass(frozen=True, slots=True)
class Digit(Value):
    """A digit of a number: after those `below` it, of which each has so many values; from
    `least` on, and of `count` values, if these are given."""

    number: Value
    below: tuple[Value, ...]
    count: Value | None
    least: Value | None


@dataclass(frozen=True, slots=True)
class Multiple(Value):
    """An iterator, times a stride."""

    stride: int
    iterator: Name


@dataclass(frozen=True, slots=True)
class Offset(Value):
    """The sum of multiples of iterators."""

    terms: tuple[Multiple, ...]


@dataclass(frozen=True, slots=True)
class Literal(Value):
    """A number of a type of elements."""

    value: float
    type: str


@dataclass(frozen=True, slots=True)
class Loaded(Value):
    """An element of a type, as a float32."""

    of: Value
    type: str


@dataclass(frozen=True, slots=True)
class Computed(Value):
    """An operator or a function of LAIR: in float32, or in a type of integers, wrapping around.

    Programs of NumPy have further ones: exp64 and log64, in float64 and rounded once; of integers
    and, or, xor, shl, shr, shr_logical; truncate of a float32, wrap, and unsigned of an int16.
    """

    function: str
    arguments: tuple[Value, ...]
    type: str


@dataclass(frozen=True, slots=True)
class WaveletIndex(Value):
    """The index of the wavelet that the function is given."""


@dataclass(frozen=True, slots=True)
class WaveletValue(Value):
    """The element of the wavelet that the function is given."""

    type: str


@dataclass(frozen=True, slots=True)
class WaveletArgument(Value):
    """The 16 bits of the control wavelet that the function is given, without a sign."""


@dataclass(frozen=True, slots=True)
class Packed(Value):
    """A sparse wavelet, as a stream sends it from memory."""

    value: Value
    index: Value
    type: str


@dataclass(frozen=True, slots=True)
class Continues(Value):
    """Whether another invocation is wanted; it says that this one is complete here."""


@dataclass(frozen=True, slots=True)
class Operand(Node):
    """An operand of an instruction in memory: how far apart its elements lie in each dimension."""

    type: str
    strides: tuple[Value, ...]


def make_operand(type_: str, strides: Iterable[int]) -> Operand:
    """Return an operand whose strides are known."""
    return Operand(type_, tuple(map(Number, strides)))


@dataclass(frozen=True, slots=True)
class Fabric(Node):
    """An operand of an instruction on the fabric."""

    type: str


OFTEN, MOST = (Name, Number, Field, Task, Element, Address), 4096
"""Nodes that are the same at many places, and so are spelled once: as many as are kept."""


def walk(part: object) -> Iterator[Node]:
    """Yield a node and all nodes in it, and those of tuples of them."""
    left = [part]
    while left:
        each = left.pop()
        if isinstance(each, tuple):
            left.extend(each[::-1])
        elif isinstance(each, Node):
            yield each
            kind: Any = type(each)
            left.extend([getattr(each, name) for name in _list_inner(kind)])


@functools.cache
def _list_inner(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of a kind of node that hold nodes, the last one first."""
    return tuple(each.name for each in reversed(fields(kind)) if each.type not in PLAIN)


def find_names(parts: Iterable[object]) -> set[str]:
    """Return the names of the variables that nodes use."""
    return {part.name for each in parts for part in walk(each) if isinstance(part, Name)}


def find_mentioned(parts: Iterable[object]) -> set[str]:
    """Return all names that stand for something in nodes: of variables, functions and memory."""
    return {p.name for e in parts for p in walk(e) if isinstance(p, Name | Task | Field)}
