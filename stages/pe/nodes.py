"""IR of PE programs: values, statements."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.poly.expression import Name, Node, Number, Value

# --- Values in programs ---------------------------------------------------------------------------
#
# Names, numbers and operations are those of isl (stages/poly/expression.py). A template spells each
# node by the name of its class (stages/pe/speller.py).

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

# --- Statements of programs -----------------------------------------------------------------------
#
# A template spells each node by the name of its class (stages/pe/speller.py).

@dataclass(frozen=True, slots=True)
class StatementNode(Node):
    """A part of a program that does something."""


@dataclass(frozen=True, slots=True)
class Gap(StatementNode):
    """A free line."""


@dataclass(frozen=True, slots=True)
class Declare(StatementNode):
    """A variable of a type of elements, or an `int`; `fixed` says that it stays as it is."""

    name: str
    type: str
    value: Value
    fixed: bool = True


@dataclass(frozen=True, slots=True)
class Point(StatementNode):
    """A variable that says where elements of a type lie."""

    name: str
    type: str
    to: Value


@dataclass(frozen=True, slots=True)
class Assign(StatementNode):
    """A variable gets a value."""

    target: Value
    value: Value


@dataclass(frozen=True, slots=True)
class Store(StatementNode):
    """An element gets a value, rounded once to its type."""

    target: Value
    value: Value
    type: str


@dataclass(frozen=True, slots=True)
class Increase(StatementNode):
    """A variable grows by one."""

    target: Value


@dataclass(frozen=True, slots=True)
class Decrease(StatementNode):
    """A variable shrinks by one."""

    target: Value


@dataclass(frozen=True, slots=True)
class Return(StatementNode):
    """The function ends."""


@dataclass(frozen=True, slots=True)
class If(Node):
    """Under a condition."""

    condition: Value


@dataclass(frozen=True, slots=True)
class Else(Node):
    """Where the condition before does not hold."""


ONE = Number(1)


@dataclass(frozen=True, slots=True)
class For(Node):
    """For each value of an iterator; a name is declared by it, a field of memory is not."""

    iterator: Value
    start: Value
    condition: Value
    step: Value = ONE


@dataclass(frozen=True, slots=True)
class While(Node):
    """As long as a condition holds."""

    condition: Value


@dataclass(frozen=True, slots=True)
class Switch(Node):
    """By a number: what is in it are scopes of cases, of which one runs, or none."""

    number: Value


@dataclass(frozen=True, slots=True)
class Case(Node):
    """Where the number of a switch is one of some."""

    numbers: tuple[int, ...]
    comment: str


Head = If | Else | For | While | Switch | Case


@dataclass(frozen=True, slots=True)
class Scope(StatementNode):
    """Statements with names of their own, and when they run."""

    head: Head | None
    statements: tuple[StatementNode, ...]


@dataclass(frozen=True, slots=True)
class Act(StatementNode):
    """A statement that asks something of the machine."""


@dataclass(frozen=True, slots=True)
class Charge(Act):
    """The operations of a basic block: its kinds, in their order, and how many of each."""

    kinds: tuple[str, ...]
    counts: tuple[int, ...]

    @staticmethod
    def of(**counts: int) -> Charge:
        """Return the charge of so many operations of each kind."""
        kinds = tuple(kind for kind in SCALAR_KINDS if counts.get(kind))
        return Charge(kinds, tuple(int(counts[kind]) for kind in kinds))


@dataclass(frozen=True, slots=True)
class CountCall(Act):
    """A task is called."""

    counter: Value


@dataclass(frozen=True, slots=True)
class CountInstance(Act):
    """A task runs an instance."""

    counter: Value


@dataclass(frozen=True, slots=True)
class KeepCycle(Act):
    """A variable gets the cycle to which the task has come: the simulator's, it costs nothing."""

    target: Value


@dataclass(frozen=True, slots=True)
class CountCycles(Act):
    """The cycles since a kept one are counted."""

    counter: Value
    since: Value


@dataclass(frozen=True, slots=True)
class NowRuns(Act):
    """What runs now, to who records the run: it costs nothing."""

    what: str


@dataclass(frozen=True, slots=True)
class Demand(Act):
    """The function ends, and the run, if a number that came is none of so many."""

    number: Value
    count: int
    what: str


@dataclass(frozen=True, slots=True)
class DemandInside(Act):
    """The function ends, and the run, if elements of an operand lie outside of memory."""

    sizes: tuple[Value, ...]
    operand: Operand
    base: Value


@dataclass(frozen=True, slots=True)
class Done(Act):
    """This invocation is complete here."""


@dataclass(frozen=True, slots=True)
class Call(Act):
    """A function runs now, with values of its parameters."""

    task: Task
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Activate(Act):
    """A function runs after the present one."""

    task: Task


@dataclass(frozen=True, slots=True)
class Configure(Act):
    """A vector instruction gets its operation, its sizes and its operands, the target first."""

    vector: Value
    counter: Value | None
    operation: str
    sizes: tuple[Value, ...]
    operands: tuple[Operand | Fabric, ...]


@dataclass(frozen=True, slots=True)
class RunVector(Act):
    """A vector instruction runs on memory: the target first, then what it reads."""

    vector: Value
    operands: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Send(Act):
    """Elements from memory go out on a colour."""

    vector: Value
    out: Value
    source: Value
    then: Value


@dataclass(frozen=True, slots=True)
class SendTurning(Act):
    """Elements from memory go out on a colour; behind the last one the PE's own router turns."""

    vector: Value
    out: Value
    source: Value
    then: Value


@dataclass(frozen=True, slots=True)
class Receive(Act):
    """Elements come in on a colour, into memory; combined with those of a `source`, if any."""

    vector: Value
    colour: Value
    target: Value
    then: Value
    source: Value | None = None


@dataclass(frozen=True, slots=True)
class Combine(Act):
    """What comes in is combined with elements from memory, and goes out."""

    vector: Value
    out: Value
    colour: Value
    source: Value
    then: Value


@dataclass(frozen=True, slots=True)
class Pass(Act):
    """What comes in goes out as it is."""

    vector: Value
    out: Value
    colour: Value
    then: Value


@dataclass(frozen=True, slots=True)
class Join(Act):
    """Of the next two streams that activate a function only that which is last does."""

    then: Task


@dataclass(frozen=True, slots=True)
class SendElement(Act):
    """An element goes out."""

    out: Value
    value: Value
    type: str


@dataclass(frozen=True, slots=True)
class SendSparse(Act):
    """An element goes out with its index."""

    out: Value
    value: Value
    index: Value
    type: str


@dataclass(frozen=True, slots=True)
class SendEnd(Act):
    """The end of a sequence goes out."""

    out: Value


@dataclass(frozen=True, slots=True)
class SendTurn(Act):
    """The end of the copy of a stream for one PE goes out; `last` of all PEs, or not."""

    out: Value
    last: bool


@dataclass(frozen=True, slots=True)
class SendCommands(Act):
    """A control wavelet goes out that tells routers to ADVANCE or RESET; no PE takes it."""

    out: Value
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forward(Act):
    """From now on what is taken of a colour also goes out."""

    colour: Value
    out: Value


@dataclass(frozen=True, slots=True)
class PassBy(Act):
    """From now on what comes on a colour goes out, and nothing takes it."""

    colour: Value
    out: Value


@dataclass(frozen=True, slots=True)
class PassAsControl(Act):
    """As PassBy, and an element leaves as a control wavelet with its 16 bits as argument."""

    colour: Value
    out: Value


@dataclass(frozen=True, slots=True)
class GiveRoom(Act):
    """Wavelets of a colour may wait in memory."""

    colour: Value
    room: Field
    wavelets: int


@dataclass(frozen=True, slots=True)
class OnData(Act):
    """From now on elements that come on a colour start a function."""

    colour: Value
    task: Task


@dataclass(frozen=True, slots=True)
class OnControl(Act):
    """From now on ends of sequences that come on a colour start a function."""

    colour: Value
    task: Task


@dataclass(frozen=True, slots=True)
class BlockColour(Act):
    """What comes on a colour waits."""

    colour: Value


@dataclass(frozen=True, slots=True)
class UnblockColour(Act):
    """What comes on a colour waits no longer."""

    colour: Value
