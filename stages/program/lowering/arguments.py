"""Where the arguments of a procedure are, and the operands of its instructions.

Paper    E Sec. 6.1.4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lairmake.stages.pe.nodes import AtWord, Element, Field, Operand
from lairmake.stages.poly.expression import Name, Number, Operation, Value
from lairmake.stages.program.sections.hops import CENTER
from lairmake.stages.program.sections.program import ARRAY, COMPUTE, REDUCE, Procedure

ONE, SAME = Number(1), Number(0)
"""Strides: of elements that follow each other, and of what is the same for all instances."""

DATA, ARGUMENT = Field("data"), Field("argument")
"""What a worker keeps: entries, and what is kept besides; and the arguments of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemory:
    """An operand in memory: where it begins, and a stride for each size."""

    type: str
    place: Value
    strides: tuple[Value, ...] = (SAME,)

    @property
    def operand(self) -> Operand:
        """The operand as programs configure it."""
        return Operand(self.type, self.strides)

    @property
    def is_array(self) -> bool:
        """Whether it has an element for each instance."""
        return any(each != SAME for each in self.strides)

    def find_element(self, loops: Sequence[Name]) -> Value:
        """Return the number of its element for some values of loops."""
        terms = tuple(
            loop if stride == ONE else Operation("*", (loop, stride))
            for loop, stride in zip(loops, self.strides, strict=True) if stride != SAME
        )
        return Operation("+", terms) if len(terms) > 1 else terms[0] if terms else Number(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Numbers of arguments: of the sizes, the filters of who computes and who sends, and turns.

    `operands` are those in the order of their addresses, the destination first, if there is one.
    """

    operands: tuple[InMemory, ...]
    sizes: tuple[int, ...]
    filter: int
    senders: int = 0
    before: int = 0
    behind: int = 0

    @property
    def charged(self) -> tuple[int, int]:
        """The scalar operations and addresses that setting up takes.

        An address each is that of an operand and of a filter. A scalar operation each is a size,
        and a stride that is an argument, of an operand; a product of a size and a filter; and to
        join two streams.
        """
        filters = 2 if self.senders else 1
        strides = sum(each not in (ONE, SAME) for op in self.operands for each in op.strides)
        sizes = len(self.sizes) * len(self.operands)
        return sizes + strides + filters + (filters == 2), len(self.operands) + filters

    def begin_sizes(self, first: Value) -> tuple[Value, ...]:
        """Return the sizes: the first one, and those that are arguments."""
        return first, *map(find_argument, self.sizes[1:])


def find_argument(number: int) -> Value:
    """Return an argument."""
    return Element(ARGUMENT, (Number(number),))


def find_entry(number: int) -> Value:
    """Return what lies at the address that an argument is."""
    return AtWord(DATA, find_argument(number))


def find_arguments(procedure: Procedure) -> Arguments:
    """Return where the arguments are of a procedure that computes, accumulates or reduces."""
    reduces = procedure.kind == REDUCE
    kinds = procedure.sources if reduces else (ARRAY, *procedure.sources)
    types = procedure.types[1:] if reduces else procedure.types
    first, rank = int(reduces), max(procedure.rank, 1)
    sizes = tuple(range(first + len(kinds), first + len(kinds) + rank))
    at = sizes[-1] + 1
    operands = []
    for k, (kind, type_) in enumerate(zip(kinds, types, strict=True)):
        strides: tuple[Value, ...] = (ONE if kind == ARRAY else SAME,) * rank
        if kind == ARRAY and procedure.rank:
            strides = tuple(find_argument(at + i) for i in range(rank))
            at += rank
        operands.append(InMemory(type=type_, place=find_entry(first + k), strides=strides))
    found = Arguments(operands=tuple(operands), sizes=sizes, filter=at)
    if procedure.kind == COMPUTE and procedure.side != CENTER:
        return Arguments(operands=found.operands, sizes=sizes, filter=at, senders=at + 1,
                         before=at + 2, behind=at + 3)
    return found
