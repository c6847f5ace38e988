"""Blocks of statements under construction, which charge for themselves.

Every basic block counts its loop, scalar and address operations, so that cycles never depend on
the compiler of the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lairmake.stages.pe.statement_nodes import (
    Charge,
    Declare,
    Else,
    For,
    Head,
    If,
    Scope,
    Statement,
)
from lairmake.stages.pe.value_nodes import find_names
from lairmake.stages.poly.expression import (
    Branch,
    Instance,
    Loop,
    Name,
    Nest,
    Node,
    Number,
    Operation,
    Value,
    count_operations,
)


@dataclass(slots=True, kw_only=True)
class Block:
    """The statements of a basic block, and what it is charged for.

    `head` says when it runs, and `loops` are those that it was written for, if any.
    """

    statements: list[Statement | Block] = field(default_factory=list)
    loop: int = 0
    scalar: int = 0
    address: int = 0
    head: Head | None = None
    loops: Nest | None = None

    def add(self, *statements: Statement) -> None:
        """Append statements."""
        self.statements.extend(statements)

    def charge(self, *, loop: int = 0, scalar: int = 0, address: int = 0) -> None:
        """Count operations."""
        self.loop, self.scalar = self.loop + loop, self.scalar + scalar
        self.address += address

    def declare(self, values: Mapping[str, Value], where: Block, *, free: bool = False) -> None:
        """Append a constant for each value that is used under its name in a block.

        If they are `free`, nothing is charged for them.
        """
        used = where.names()
        for name, value in values.items():
            if name in used and value != Name(name):
                self.add(Declare(name, "int", value))
                self.charge(scalar=0 if free else count_operations(value))

    def absorb(self, other: Block) -> None:
        """Append the statements of another block, and what it is charged for."""
        self.statements.extend(other.statements)
        self.charge(loop=other.loop, scalar=other.scalar, address=other.address)

    def nest(self, head: Head | None = None, *, loop: int = 0, loops: Nest | None = None) -> Block:
        """Append a block of its own."""
        inner = Block(head=head, loop=loop, loops=loops)
        self.statements.append(inner)
        return inner

    def when(self, condition: Value | None, loops: Nest | None = None) -> Block:
        """Return a block that runs under a condition, this one if there is none.

        What runs under one condition that does not change is written, and charged for, once.
        """
        if condition is None:
            return self
        head, last = If(condition), self.statements[-1] if self.statements else None
        if isinstance(last, Block) and last.head == head and loops is None is last.loops:
            return last.nest()
        self.charge(scalar=count_operations(condition))
        return self.nest(head, loops=loops)

    def names(self) -> set[str]:
        """Return the names of the variables that are used in it."""
        return find_names(self.parts())

    def parts(self) -> Iterator[Node]:
        """Yield its head and its statements, and those of the blocks in it."""
        if self.head is not None:
            yield self.head
        for each in self.statements:
            yield from each.parts() if isinstance(each, Block) else (each,)

    def finished(self) -> tuple[Statement, ...]:
        """Return the statements, the charge first."""
        charge = Charge(self.loop, self.scalar, self.address)
        found: list[Statement] = [charge] if charge != Charge(0, 0, 0) else []
        for each in self.statements:
            if isinstance(each, Block):
                found.append(Scope(each.head, each.finished()))
            else:
                found.append(each)
        return tuple(found)


def write_nest(block: Block, nest: Nest, instance: Callable[[Block, Instance], None]) -> None:
    """Append loops to a block; `instance` appends what one instance does."""
    match nest:
        case Instance():
            instance(block, nest)
        case Loop(condition=None):
            inner = Block()
            write_nest(inner, nest.body, instance)
            block.declare({nest.iterator: nest.start}, inner)
            block.absorb(inner)
        case Loop():
            write_nest(_looped(block, nest), nest.body, instance)
        case Branch():
            write_nest(block.when(nest.condition, nest.then), nest.then, instance)
            if nest.otherwise is not None:
                inner = block.nest(Else(), loops=nest.otherwise)
                write_nest(inner, nest.otherwise, instance)
        case _:
            for child in nest.children:
                write_nest(_scope(block, child), child, instance)


def _scope(block: Block, child: Nest) -> Block:
    """Return where one of several nests goes: into braces, if it may declare names of its own."""
    declares = isinstance(child, Instance) or (isinstance(child, Loop) and child.condition is None)
    return block.nest(loops=child) if declares else block


def _looped(block: Block, nest: Loop) -> Block:
    """Append a loop; what its bounds cost is charged once, before it."""
    assert nest.condition is not None
    block.charge(scalar=count_operations(nest.start) + count_operations(nest.condition) - 1)
    head = For(Name(nest.iterator), nest.start, nest.condition, nest.step)
    return block.nest(head, loop=1, loops=nest)


def total(parts: list[Value]) -> Value:
    """Return the sum of values that are 0 or 1, equal ones counted."""
    ones = parts.count(Number(1))
    others = [part for part in dict.fromkeys(parts) if not isinstance(part, Number)]
    counted = [
        p if parts.count(p) == 1 else Operation("*", (Number(parts.count(p)), p)) for p in others
    ]
    terms = [*counted, *([Number(ones)] if ones or not others else [])]
    return terms[0] if len(terms) == 1 else Operation("+", tuple(terms))
