"""Basic blocks, functions, and their charge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import islpy as isl

from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.machine.types import BYTES
from lairmake.stages.pe.listing import Function
from lairmake.stages.pe.nodes import (
    Charge,
    Coordinate,
    Declare,
    Else,
    For,
    Head,
    If,
    Scope,
    StatementNode,
    find_names,
)
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.expression import (
    Branch,
    Instance,
    Loop,
    Name,
    Nest,
    Node,
    Number,
    Operation,
    Series,
    Value,
    compare,
    list_iterations,
)

# --- Blocks of statements under construction ------------------------------------------------------
#
# Every basic block counts its loop, scalar and address operations, so that cycles never depend on
# the compiler of the host.

COSTLY = {"*": "integer_product", **dict.fromkeys(("/", "%", "floord"), "division")}
"""Kinds of operations on integers, by their signs, but for those that are scalar operations."""


@dataclass(slots=True, kw_only=True)
class Block:
    """The statements of a basic block, and what it is charged for.

    `head` says when it runs, and `loops` are those that it was written for, if any. What is the
    same for all iterations of a loop goes `before` it; None where the loop may have no iteration,
    for which what would be read there need not exist.
    """

    statements: list[StatementNode | Block] = field(default_factory=list)
    operations: Counter[str] = field(default_factory=Counter)
    head: Head | None = None
    loops: Nest | None = None
    before: Block | None = None

    def add(self, *statements: StatementNode) -> None:
        """Append statements."""
        self.statements.extend(statements)

    def charge(self, **counts: int) -> None:
        """Count operations, by their kinds: those of `machine/scalar_code.py`."""
        assert counts.keys() <= SCALAR_KINDS.keys(), f"{counts} has no kind of scalar code"
        self.operations.update(counts)

    def declare(self, values: Mapping[str, Value], where: Block, *, free: bool = False) -> None:
        """Append a constant for each value that is used under its name in a block.

        If they are `free`, nothing is charged for them.
        """
        used = where.names()
        for name, value in values.items():
            if name in used and value != Name(name):
                self.add(Declare(name, "int", value))
                if not free:
                    self.charge(**count_kinds(value))

    def absorb(self, other: Block) -> None:
        """Append the statements of another block, and what it is charged for."""
        self.statements.extend(other.statements)
        self.operations.update(other.operations)

    def nest(self, head: Head | None = None, *, loop: int = 0, loops: Nest | None = None) -> Block:
        """Append a block of its own."""
        inner = Block(head=head, loops=loops)
        inner.charge(loop=loop)
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
        self.charge(**count_kinds(condition), branch=1)
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

    def finished(self) -> tuple[StatementNode, ...]:
        """Return the statements, the charge first."""
        charge = Charge.of(**self.operations)
        found: list[StatementNode] = [charge] if charge.kinds else []
        for each in self.statements:
            if isinstance(each, Block):
                found.append(Scope(each.head, each.finished()))
            else:
                found.append(each)
        return tuple(found)


def count_kinds(value: Value) -> Counter[str]:
    """Return the operations of an expression of integers of 16 bits, by kind.

    A power of two as a factor is a shift, as a divisor a shift or a mask: a scalar operation each.
    By any other constant, compilers divide with products.
    """
    found = Counter[str]()
    if isinstance(value, Operation):
        between = 1 if value.sign in ("negative", "?") else len(value.arguments) - 1
        kind = COSTLY.get(value.sign, "scalar")
        powers = value.arguments[1:] if kind == "division" else value.arguments
        if kind == "division" and all(isinstance(n, Number) for n in powers):
            kind = "constant_division"
        shifts = sum(isinstance(n, Number) and n.value.bit_count() == 1 for n in powers)
        found["scalar"] += min(shifts, between)
        found[kind] += between - min(shifts, between)
        for argument in value.arguments:
            found += count_kinds(argument)
    return found


def count_moves(loaded: Iterable[str], stored: Iterable[str]) -> Counter[str]:
    """Return the loads and stores of elements of some types: of words of 16 bits."""
    words = [sum(BYTES[type_] // 2 for type_ in types) for types in (loaded, stored)]
    return Counter(load=words[0], store=words[1])


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
            inner = _looped(block, nest)
            write_nest(inner, nest.body, instance)
            _put_before(block, inner, nest)
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
    # The comparison of the condition is part of the kind `loop`.
    block.charge(**(count_kinds(nest.start) + count_kinds(nest.condition) - Counter(scalar=1)))
    head = For(Name(nest.iterator), nest.start, nest.condition, nest.step)
    inner = block.nest(head, loop=1, loops=nest)
    inner.before = Block(loops=nest) if _iterates(nest) else None
    return inner


def find_declared(block: Block) -> set[str]:
    """Return the variables that a block declares itself."""
    return {each.name for each in block.statements if isinstance(each, Declare)}


def find_iterated(block: Block) -> set[str]:
    """Return the variable of the loop of which a block is the body, if it is one."""
    return find_names([block.head.iterator]) if isinstance(block.head, For) else set()


def _iterates(nest: Loop) -> bool:
    """Say whether a loop has an iteration, whatever the loops around it do."""
    assert nest.condition is not None
    name = nest.iterator
    first = (compare(Name(name), "==", nest.start), nest.condition)
    others = sorted(find_names([nest.start, nest.condition]) - {name})
    found = list_iterations((name,), first, others)
    return found is not None and found.params().plain_is_universe()


def _put_before(block: Block, inner: Block, nest: Loop) -> None:
    """Put a loop, the last part of a block, into braces with what goes before it, if anything does.
    """
    before = inner.before
    if before is not None and (before.statements or before.operations):
        assert block.statements[-1] is inner, "a loop is the last part when it is written"
        before.statements.append(inner)
        block.statements[-1] = before


def total(parts: list[Value]) -> Value:
    """Return the sum of values that are 0 or 1, equal ones counted."""
    ones = parts.count(Number(1))
    others = [part for part in dict.fromkeys(parts) if not isinstance(part, Number)]
    counted = [
        p if parts.count(p) == 1 else Operation("*", (Number(parts.count(p)), p)) for p in others
    ]
    terms = [*counted, *([Number(ones)] if ones or not others else [])]
    return terms[0] if len(terms) == 1 else Operation("+", tuple(terms))

# --- Expected charge of a block -------------------------------------------------------------------
#
# A block of an isl loop nest is written for loops. For these it is known with which values of the
# loops around them instances are reached; the block runs once for each prefix of such values.
# The body of a loop that asks for each value whether there is an instance runs once for each value.

@dataclass(frozen=True, slots=True, kw_only=True)
class EnclosingLoops:
    """The loops around a block: their number, and the iterators of those with several values.

    `conditions` are those of these loops and of guards; None if they are not known.
    """

    depth: int = 0
    iterators: tuple[str, ...] = ()
    conditions: tuple[Value, ...] | None = ()


OUTSIDE, ONE = EnclosingLoops(), Number(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCharge:
    """Cycles of the blocks of a task, for all symbolic constants of `here`."""

    profile: Profile
    here: isl.Set

    def of(self, block: Block, times: int, around: EnclosingLoops = OUTSIDE) -> int:
        """Return the cycles of a block, and those in it, that runs so many times."""
        own = self.profile.find_cost(block.operations)
        inner = [each for each in block.statements if isinstance(each, Block)]
        return times * own + sum(self.within(each, times, around) for each in inner)

    def within(self, inner: Block, times: int, around: EnclosingLoops = OUTSIDE) -> int:
        """Return the cycles of a block in one that runs so many times."""
        if inner.loops is None:
            return self.of(inner, times, around)
        deeper = _enter(inner, inner.loops, around)
        return self.of(inner, self._count(inner, inner.loops, deeper), deeper)

    def _count(self, block: Block, nest: Nest, around: EnclosingLoops) -> int:
        """Return how often a block of a nest runs: the body of a loop, whatever a guard in it says.
        """
        guarded = isinstance(block.head, For) and _is_guarded(nest)
        if guarded and around.conditions is not None:
            constants = self.here.get_var_names_not_none(isl.dim_type.param)
            found = list_iterations(around.iterators, around.conditions, constants)
            if found is not None:
                return count(found.intersect_params(self.here))
        return self.times(nest, around.depth)

    def times(self, nest: Nest, depth: int) -> int:
        """Return how often a place with `depth` loops around it is reached by instances.

        Those of another nest count, too: their iterators are symbolic constants of this one.
        """
        reached: isl.Set | None = None
        for elements in _times(nest):
            loops = elements.dim(isl.dim_type.set)
            own = min(depth, loops)
            prefix = elements.project_out(isl.dim_type.set, own, loops - own)
            reached = prefix if reached is None else reached.union(prefix)
        return 0 if reached is None else count(reached.intersect_params(self.here))


def _enter(block: Block, nest: Nest, around: EnclosingLoops) -> EnclosingLoops:
    """Return what is around the statements of a block of a nest."""
    conditions = around.conditions
    match block.head:
        case For(Name(name), start, condition, step) if isinstance(nest, Loop):
            begun = compare(Name(name), ">=", start)
            apart = Operation("-", (Name(name), start))
            even = compare(Operation("%", (apart, step)), "==", 0)
            if conditions is not None:
                conditions = (*conditions, begun, condition, *([] if step == ONE else [even]))
            return EnclosingLoops(
                depth=nest.depth, iterators=(*around.iterators, name), conditions=conditions
            )
        case If(condition):
            conditions = None if conditions is None else (*conditions, condition)
        case Else():
            conditions = None
    return replace(around, conditions=conditions)


def _is_guarded(nest: Nest) -> bool:
    """Say whether some of a nest runs under a condition."""
    match nest:
        case Loop():
            return _is_guarded(nest.body)
        case Series():
            return any(map(_is_guarded, nest.children))
        case _:
            return isinstance(nest, Branch)


def _times(nest: Nest) -> Iterator[isl.Set]:
    """Yield the values of loops with which each place of a nest is reached."""
    match nest:
        case Instance():
            if nest.times is not None:
                yield nest.times
        case Loop():
            yield from _times(nest.body)
        case Branch():
            yield from _times(nest.then)
            if nest.otherwise is not None:
                yield from _times(nest.otherwise)
        case Series():
            for child in nest.children:
                yield from _times(child)

# --- Functions of a PE program --------------------------------------------------------------------

@dataclass(slots=True, kw_only=True)
class Body:
    """A function under construction: local names, declared where used, and the statements."""

    name: str
    comment: str
    kind: str = "task"
    parameters: tuple[str, ...] = ()
    locals: dict[str, Declare] = field(default_factory=dict)
    block: Block = field(default_factory=Block)

    def hold(self, values: Mapping[str, Value]) -> None:
        """Declare constants where they are used."""
        self.locals |= {name: Declare(name, "int", value) for name, value in values.items()}

    def finished(self) -> Function:
        """Return the function, with the declarations that its statements need."""
        statements = self.block.finished()
        declared: tuple[Declare, ...] = ()
        used = find_names(statements)
        for declaration in reversed((STANDARD | self.locals).values()):
            if declaration.name in used:
                declared = (declaration, *declared)
                used |= find_names([declaration.value])
        return Function(
            self.name, self.comment, self.kind, declared, statements, self.parameters)


STANDARD = {
    "PE_X": Declare("PE_X", "int", Coordinate("x")),
    "PE_Y": Declare("PE_Y", "int", Coordinate("y")),
}
