"""Scalars and conditions of the executive as nodes of programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from typing import TypeAlias

from lairmake.stages.machine.scalar_code import kind_of
from lairmake.stages.machine.types import is_integer
from lairmake.stages.pe.block import Block, count_moves
from lairmake.stages.pe.listing import Local
from lairmake.stages.pe.nodes import (
    Assign,
    Choice,
    Compared,
    Computed,
    Declare,
    Element,
    Field,
    For,
    Literal,
    Loaded,
    Not,
    StatementNode,
    Store,
)
from lairmake.stages.poly.expression import Name, Number, Operation, Value
from lairmake.stages.program.irg import graph
from lairmake.stages.program.irg.addresses import COUNTER, EXECUTIVE, EntryPlace
from lairmake.stages.program.irg.graph import (
    COMPARES,
    ComparisonNode,
    Condition,
    GraphEntry,
    GraphNode,
    Joined,
    KnownValue,
    NonZero,
    Operand,
    ProgramGraph,
)
from lairmake.stages.program.irg.regions import RegionAccess, RegionAccesses
from lairmake.stages.program.values import forms
from lairmake.stages.program.values.arithmetic import (
    STEPS,
    find_accumulator,
    find_neutral,
    round_number,
)
from lairmake.stages.program.values.forms import REDUCTIONS

# --- Operations and numbers as nodes --------------------------------------------------------------
#
# They give the same bits as values/arithmetic.py.
#
# Paper    E Sec. 6.1: from nodes to text

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
FUNCTIONS = INFIX | {"neg": "negative", "maximum": "max", "minimum": "min"}
OF_FLOATS = FUNCTIONS | {"exp": "exp64", "log": "log64"}
COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def operate(
    target: Value, op: str, types: Sequence[str], operands: Sequence[Value]
) -> StatementNode:
    """Return the statement that stores the result of one of OPERATIONS, `copy` or `cast`.

    `types` are those of the target and of the operands, which are elements or numbers.
    """
    result, *of = types
    if op == "where":
        condition = Operation("!=", (load(operands[0], of[0]), Number(0)))
        return Assign(target, Choice(condition, *operands[1:]))
    if op == "copy" or (op == "cast" and result == of[0]):
        return Assign(target, operands[0])
    if op == "cast":
        return Store(target, _cast(result, of[0], operands[0]), result)
    loaded = tuple(load(each, type_) for each, type_ in zip(operands, of, strict=True))
    if op in COMPARED:
        left, right = loaded
        holds = compare(COMPARED[op], left, right, of[0])
        return Store(target, Choice(holds, Number(1), Number(0)), result)
    if is_integer(result):
        return Store(target, Computed(FUNCTIONS.get(op, op), loaded, result), result)
    return Store(target, Computed(OF_FLOATS.get(op, op), loaded, "float32"), result)


def compare(sign: str, left: Value, right: Value, type_: str) -> Compared:
    """Return a comparison of two values that were loaded in a type."""
    return Compared(sign, left, right, type_ if is_integer(type_) else "float32")


def load(value: Value, type_: str) -> Value:
    """Return an element in the type in which it is computed: a float as float32."""
    if is_integer(type_):
        return value
    return Literal(value.value, "float32") if isinstance(value, Literal) else Loaded(value, type_)


def _cast(result: str, type_: str, operand: Value) -> Value:
    """Return a value as a type; of floats before they are rounded to it."""
    if not is_integer(result):
        return Loaded(operand, type_)
    if is_integer(type_):
        return Computed("wrap", (operand,), result)
    return Computed("truncate", (load(operand, type_),), result)


def make_literal(value: forms.Number, type_: str) -> Literal:
    """Return a number rounded to a type."""
    rounded = round_number(value, type_)
    return Literal(int(rounded) if is_integer(type_) else float(rounded), type_)


def count_element(op: str, types: Sequence[str], in_memory: Sequence[bool]) -> Counter[str]:
    """Return the operations of an element of an operation, by kind.

    `types` are those of the target and of the operands, and `in_memory` says which of these are
    elements of arrays, whose addresses move.
    """
    result, *of = types
    held = [type_ if moves else None for type_, moves in zip(types, in_memory, strict=True)]
    found = count_moves(filter(None, held[1:]), filter(None, held[:1]))
    found["address"] += sum(in_memory)
    if op != "copy":
        computed = of[0] if op in COMPARED or op == "cast" else result
        found[kind_of(INFIX.get(op, op), computed)] += 1
    return found


def times(count: int, operations: Mapping[str, int]) -> Mapping[str, int]:
    """Return so many times the operations."""
    return {kind: count * each for kind, each in operations.items()}

# --- Conditions as nodes --------------------------------------------------------------------------

Argument: TypeAlias = tuple[Value, str] | graph.Number
"""An element and its type, or a number."""


def make_condition(text: str, arguments: Sequence[Argument]) -> tuple[Value, int]:
    """Return a condition with its arguments, and the largest number of comparisons that it takes.

    Raises ProgramError.
    """
    types = tuple(each[1] if isinstance(each, tuple) else "" for each in arguments)
    condition = graph.parse_condition(text, types)
    return _make(condition, arguments), _count(condition)


def _count(condition: Condition) -> int:
    match condition:
        case graph.NotNode(part=part):
            return _count(part)
        case Joined(parts=parts):
            return sum(map(_count, parts))
    return 1


def _make(condition: Condition, arguments: Sequence[Argument]) -> Value:
    match condition:
        case KnownValue(holds=holds):
            return Number(int(holds))
        case NonZero(argument=at):
            given = arguments[at]
            if not isinstance(given, tuple):
                return Number(int(given != 0))
            return Operation("!=", (load(*given), Number(0)))
        case graph.NotNode(part=part):
            return Not(_make(part, arguments))
        case Joined(parts=parts):
            made = tuple(_make(part, arguments) for part in parts)
            return Operation("and" if condition.all else "or", made)
    return _make_comparison(condition, arguments)


def _make_comparison(comparison: ComparisonNode, arguments: Sequence[Argument]) -> Value:
    terms = [number if at is None else arguments[at]
             for at, number in (comparison.left, comparison.right)]
    numbers = [each for each in terms if not isinstance(each, tuple)]
    if not comparison.type:
        return Number(int(COMPARES[comparison.sign](*numbers)))
    left, right = (_load(each, comparison.type) for each in terms)
    return compare(comparison.sign, left, right, comparison.type)


def _load(term: Argument, type_: str) -> Value:
    return load(term[0] if isinstance(term, tuple) else make_literal(term, type_), type_)

# --- Graph nodes of the executive -----------------------------------------------------------------

SCRATCH = "scratch_"


@dataclass(slots=True, kw_only=True)
class Globals:
    """Memory of the executive: a field for each entry of the graph, and each counter of a loop.

    `scratch` is the largest number of results of each type that are kept apart.
    """

    graph: ProgramGraph
    accesses: Mapping[int, RegionAccesses]
    places: Mapping[str, EntryPlace]
    names: dict[str, str] = field(init=False)
    scratch: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = _name(n for n, place in self.places.items() if place.space == EXECUTIVE)

    def find_entry(self, name: Operand) -> GraphEntry:
        """Return an entry by the operand of a node that names it."""
        return self.graph.entries[str(name)]

    def find_field(self, name: str) -> Field:
        """Return the field of an entry, or of a counter."""
        return Field(self.names[name])

    def find_counter(self, loop: str) -> Field:
        """Return the field of the counter of a loop."""
        return self.find_field(loop + COUNTER)

    def list_locals(self, used: Iterable[str]) -> list[Local]:
        """Return the fields that are used, at their addresses."""
        wanted, found = set(used), []
        for name, spelt in self.names.items():
            if spelt in wanted:
                entry = self.graph.entries.get(name)
                type_, shape = (entry.type, entry.shape) if entry else ("int32", ())
                found.append(Local(spelt, type_, shape, self.places[name].address))
        return found


def _name(names: Iterable[str]) -> dict[str, str]:
    """Return the field of each entry: all differ, and none is a word of C."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        base = spelt = "global_" + re.sub(r"\W", "_", name, flags=re.ASCII)
        number = 1
        while spelt in taken:
            number += 1
            spelt = f"{base}_{number}"
        found[name] = spelt
        taken.add(spelt)
    return found


def compute_node(block: Block, node: GraphNode, known: Globals) -> None:
    """Append a node whose destination and sources lie on the executive.

    If the destination is also read at other elements than are written, results are kept apart until
    all are computed.
    """
    accesses = known.accesses[node.id]
    if node.op in REDUCTIONS:
        _reduce(block, node, accesses, known)
        return
    sizes, entry = accesses.dst.sizes, known.find_entry(node.dst)
    types, operands = _find_operands(node, accesses, known)
    target = _find_element(entry, accesses.dst, known)
    arrays = [each is not None and bool(each.axes) for each in (accesses.dst, *accesses.src)]
    count = prod(sizes)
    block.charge(loop=count * bool(sizes))
    block.charge(**times(count, count_element(node.op, types, arrays)))
    if node.op == "copy":
        block.charge(scalar=count)
    if not sizes or not any(name == node.dst and each != accesses.dst
                            for name, each in zip(node.src, accesses.src, strict=True)):
        nest(block, sizes).add(operate(target, node.op, types, operands))
        return
    block.charge(loop=count, address=2 * count)
    block.charge(**times(count, count_moves([entry.type], [entry.type])))
    known.scratch[entry.type] = max(count, known.scratch.get(entry.type, 0))
    apart = Element(Field(SCRATCH + entry.type), (_number(sizes),))
    nest(block, sizes).add(operate(apart, node.op, types, operands))
    nest(block, sizes).add(Assign(target, apart))


def _find_operands(
    node: GraphNode, accesses: RegionAccesses, known: Globals
) -> tuple[list[str], list[Value]]:
    """Return the types of the result and of the operands of a node, and the operands."""
    result = known.find_entry(node.dst).type
    valued = [str(each) for each in node.src[node.op == "where" :] if isinstance(each, str)]
    type_ = known.find_entry(valued[0]).type if valued else result
    types: list[str] = [result]
    operands: list[Value] = []
    for given, access in zip(node.src, accesses.src, strict=True):
        if access is None:
            assert not isinstance(given, str), "what has no elements is a number"
            types.append(type_)
            operands.append(make_literal(given, type_))
        else:
            entry = known.find_entry(given)
            types.append(entry.type)
            operands.append(_find_element(entry, access, known))
    return types, operands


def _reduce(block: Block, node: GraphNode, accesses: RegionAccesses, known: Globals) -> None:
    """Append the sum, or the largest or least value, of an array, in the order of memory."""
    of, found = accesses.src[0], Name("found")
    assert of is not None, "what is reduced is an array"
    source = known.find_entry(node.src[0])
    wide, kept = find_accumulator(node.op, source.type), source.type
    count = prod(of.sizes)
    step = count_moves([kept], []) + Counter([kind_of(INFIX.get(STEPS[node.op], ""), wide)])
    block.charge(loop=count, address=count, scalar=1)
    block.charge(**times(count, step))
    neutral = make_literal(find_neutral(node.op, kept).item(), wide)
    block.add(Declare(found.name, wide, neutral, fixed=False))
    value = _find_element(source, of, known)
    added = value if wide == kept else load(value, kept)
    nest(block, of.sizes).add(operate(found, STEPS[node.op], [wide] * 3, [found, added]))
    target = _find_element(known.find_entry(node.dst), accesses.dst, known)
    block.add(operate(target, "cast", [kept, wide], [found]))


def _find_element(entry: GraphEntry, access: RegionAccess, known: Globals) -> Value:
    """Return the element of an entry for instance i0, i1..."""
    place = known.find_field(entry.name)
    axes = zip(access.axes, access.start, access.step, strict=True)
    return Element(place, tuple(_find_index(*each) for each in axes)) if access.axes else place


def _find_index(axis: int | None, start: int, step: int) -> Value:
    if axis is None or step == 0:
        return Number(start)
    name = Name(f"i{axis}")
    if step == -1:
        return Operation("-", (Number(start), name))
    moved = name if step == 1 else Operation("*", (Number(step), name))
    return Operation("+", (Number(start), moved)) if start else moved


def _number(sizes: Sequence[int]) -> Value:
    """Return the lexicographic number of instance i0, i1..."""
    strides = list(accumulate(sizes[:0:-1], lambda a, b: a * b, initial=1))[::-1]
    terms = tuple(_find_index(k, 0, stride) for k, stride in enumerate(strides))
    return terms[0] if len(terms) == 1 else Operation("+", terms)


def nest(block: Block, sizes: Sequence[int]) -> Block:
    """Append loops over i0, i1... without charging them, and return the innermost block."""
    for k, size in enumerate(sizes):
        name = Name(f"i{k}")
        block = block.nest(For(name, Number(0), Operation("<", (name, Number(size)))))
    return block
