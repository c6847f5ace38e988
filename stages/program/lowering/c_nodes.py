"""Nodes of the graph that the executive computes, in C: scalars, arrays, and their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import TypeAlias

from stages.machine.types import BYTES
from stages.program.irg.graph import Entry, Graph, Node, Operand
from stages.program.irg.regions import Access, Accesses
from stages.program.lowering.c_operations import C_TYPES, write_number, write_operation
from stages.program.lowering.c_values import write_get, write_put
from stages.program.values.forms import REDUCTIONS
from stages.program.values.sums import STEPS, find_accumulator, find_neutral

Costs: TypeAlias = tuple[int, int, int]
"""Loops, scalar operations and addresses, as CHARGE has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Statements, what they take, and the bytes of memory that they need meanwhile."""

    lines: tuple[str, ...]
    costs: Costs
    scratch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What nodes are written with: the graph, and the enumerator of each entry's address."""

    graph: Graph
    accesses: Mapping[int, Accesses]
    places: Mapping[str, str]

    def find_entry(self, name: Operand) -> Entry:
        """Return an entry by the name that a node has."""
        return self.graph.entries[str(name)]


def write_node(node: Node, writing: Writing) -> Written:
    """Return a node whose destination, and so whose sources, the executive has.

    Of a destination that is read at other places than it is written, results are kept apart until
    all are computed; a single one is computed before it is written.
    """
    accesses = writing.accesses[node.id]
    if node.op in REDUCTIONS:
        return _write_reduction(node, accesses, writing)
    sizes, entry = accesses.dst.sizes, writing.find_entry(node.dst)
    value = _write_value(node, accesses, writing)
    at = _write_place(entry, accesses.dst, writing)
    arrays = sum(each is not None and bool(each.axes) for each in (accesses.dst, *accesses.src))
    count = prod(sizes)
    costs = (count * bool(sizes), count, count * arrays)
    if not sizes or not any(name == node.dst and each != accesses.dst
                            for name, each in zip(node.src, accesses.src, strict=True)):
        return Written(lines=_nest(sizes, [write_put(at, entry.type, value)]), costs=costs)
    apart = f"my->scratch + {_write_offset(_find_strides(sizes), BYTES[entry.type], 0)}"
    lines = (
        *_nest(sizes, [f"{C_TYPES[entry.type]} value = {value};", "",
                       f"memcpy({apart}, &value, sizeof value);"]),
        *_nest(sizes, [f"memcpy(my->values + {at}, {apart}, {BYTES[entry.type]});"]),
    )
    return Written(lines=lines, costs=(2 * costs[0], costs[1], costs[2] + 2 * count),
                   scratch=count * BYTES[entry.type])


def _write_value(node: Node, accesses: Accesses, writing: Writing) -> str:
    """Return what a node computes for an instance."""
    result = writing.find_entry(node.dst).type
    valued = [str(each) for each in node.src[node.op == "where" :] if isinstance(each, str)]
    type_ = writing.find_entry(valued[0]).type if valued else result
    types, operands = [result], []
    for given, access in zip(node.src, accesses.src, strict=True):
        if access is None:
            types.append(type_)
            operands.append(write_number(given, type_))  # type: ignore[arg-type]
        else:
            entry = writing.find_entry(given)
            types.append(entry.type)
            operands.append(write_get(_write_place(entry, access, writing), entry.type))
    return write_operation(node.op, types, operands)


def _write_reduction(node: Node, accesses: Accesses, writing: Writing) -> Written:
    """Return the sum, or the largest or least value, of an array, in the order of memory."""
    of = accesses.src[0]
    assert of is not None, "what is reduced is an array"
    source = writing.find_entry(node.src[0])
    wide, kept = find_accumulator(node.op, source.type), source.type
    value = write_get(_write_place(source, of, writing), kept)
    if wide != kept:
        value = write_operation("cast", [wide, kept], [value])
    added = write_operation(STEPS[node.op], [wide, wide, wide], ["found", value])
    neutral = write_number(find_neutral(node.op, kept).item(), wide)
    result = "found" if wide == kept else write_operation("cast", [kept, wide], ["found"])
    at = _write_place(writing.find_entry(node.dst), accesses.dst, writing)
    lines = ("{", *_indent([
        f"{C_TYPES[wide]} found = {neutral};", "",
        *_nest(of.sizes, [f"found = {added};"]),
        write_put(at, kept, result),
    ]), "}")
    count = prod(of.sizes)
    return Written(lines=lines, costs=(count, count + 1, count))


def _write_place(entry: Entry, access: Access, writing: Writing) -> str:
    """Return the address of the element that an instance has."""
    strides = _find_strides(entry.shape)
    start = sum(stride * at for stride, at in zip(strides, access.start, strict=True))
    by_axis = [0] * len(access.sizes)
    for axis, stride, step in zip(access.axes, strides, access.step, strict=True):
        if axis is not None:
            by_axis[axis] += stride * step
    place = writing.places[entry.name]
    if not start and not any(by_axis):
        return place
    return f"{place} + {_write_offset(by_axis, BYTES[entry.type], start)}"


def _find_strides(sizes: Sequence[int]) -> list[int]:
    """Return how many elements lie between neighbours on each axis, in the order of memory."""
    return list(accumulate(sizes[:0:-1], lambda a, b: a * b, initial=1))[::-1] if sizes else []


def _write_offset(strides: Sequence[int], size: int, start: int) -> str:
    """Return how many bytes behind the beginning the element of instance i0, i1... lies."""
    terms = [f"{stride} * i{k}" for k, stride in enumerate(strides) if stride]
    return f"{size} * ({' + '.join([*([str(start)] if start or not terms else []), *terms])})"


def _nest(sizes: Sequence[int], lines: Sequence[str]) -> tuple[str, ...]:
    """Return loops over i0, i1... around statements."""
    nested = list(lines)
    for k, size in reversed(list(enumerate(sizes))):
        head = f"for (int32_t i{k} = 0; i{k} < {size}; i{k} += 1) {{"
        nested = [head, *_indent(nested), "}"]
    return tuple(nested)


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]
