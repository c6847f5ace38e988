"""Which operations of a network are together in a part.

Source   V Sec. 1: a network is broken up into parts, each compiled for PEs of its own

All operations of a node of the graph are together: those of a softmax, for one. What follows a part
stays with it where it needs no element of another PE: a function of each element, or a pooling of
which no two windows share an element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import islpy as isl

from lairmake.stages.lair.tree import make_plain_name
from lairmake.stages.volumes.operation import Operation, Program

OUT = isl.dim_type.out
POOLED = ("+=", "max=", "min=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The operations of a part, in order; the last one gives its result. `why` they are together.

    `name` is that of the operator of its first contraction, else of its first node, with a number.
    """

    name: str
    operations: tuple[Operation, ...]
    why: str

    @property
    def result(self) -> str:
        """The volume that the part gives."""
        return self.operations[-1].name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uses:
    """Who uses what: `readers` has the operations that read each volume, by their names.

    `outputs` are the volumes that the network gives, `weights` those that are known.
    """

    readers: Mapping[str, Sequence[str]]
    outputs: Set[str]
    weights: Set[str]


def group(program: Program, weights: Collection[str]) -> list[Group]:
    """Return the parts of a program, each after those whose results it needs.

    Its operations are those that outputs need, through plain copies (`resolve`). `weights` are the
    inputs that are known.
    """
    uses = _find_uses(program, weights)
    found: list[list[list[Operation]]] = []
    homes: dict[str, int] = {}
    for node in _nodes(program, uses):
        given = (each for each in node[0].operands if each in homes)
        before = next((each for each in given if _stays(node, found[homes[each]], uses)), None)
        if before is None:
            homes[node[-1].name] = len(found)
            found.append([node])
        else:
            homes[node[-1].name] = homes.pop(before)
            found[homes[node[-1].name]].append(node)
    return list(_named(found, weights))


def _find_uses(program: Program, weights: Collection[str]) -> _Uses:
    readers: dict[str, list[str]] = {}
    for each in program.operations:
        for name in each.operands:
            readers.setdefault(name, []).append(each.name)
    return _Uses(readers=readers, outputs={*program.outputs}, weights={*weights})


def _nodes(program: Program, uses: _Uses) -> Iterator[list[Operation]]:
    """Yield the computations of each node; one by one where they have several results together."""
    by_line: dict[int, list[Operation]] = {}
    for each in program.operations:
        if each.kind == "compute":
            by_line.setdefault(each.line, []).append(each)
    for node in by_line.values():
        own = {each.name for each in node}
        used = [n for n in own if n in uses.outputs or not own.issuperset(uses.readers.get(n, ()))]
        if used == [node[-1].name]:
            yield node
        else:
            yield from ([each] for each in node)


def _stays(node: Sequence[Operation], home: Sequence[Sequence[Operation]], uses: _Uses) -> bool:
    """Return whether a node runs where a part does that it follows."""
    result = home[-1][-1].name
    if len(node) > 1 or result in uses.outputs:
        return False
    chain = all(_follows(after, before.name, uses) for before, after in pairwise(home[0]))
    return chain and _follows(node[0], result, uses)


def _follows(operation: Operation, result: str, uses: _Uses) -> bool:
    """Return whether an operation alone uses a result, and no element of another PE."""
    alone = list(uses.readers[result]) == [operation.name]
    others = set(operation.operands) - {result} - uses.weights
    return alone and not others and _is_local(operation, result)


def _is_local(operation: Operation, operand: str) -> bool:
    """Return whether no element of an operand is needed for two of the result, or by two PEs."""
    (result,) = operation.results
    reads = [read for read in operation.reads.values() if read.get_tuple_name(OUT) == operand]
    if result.operator == "=":
        return all(read.is_injective() for read in reads)
    return result.operator in POOLED and len(operation.reads) == 1 and reads[0].is_injective()


def _named(
    found: Sequence[Sequence[Sequence[Operation]]], weights: Collection[str]
) -> Iterator[Group]:
    """Yield the parts with their names."""
    count = Counter[str]()
    for nodes in found:
        operations = [each for node in nodes for each in node]
        first = next((each for each in operations if _contracts(each, weights)), operations[0])
        stem = make_plain_name(first.source.lower())
        count[stem] += 1
        yield Group(
            name=f"{stem}{count[stem]}", operations=tuple(operations), why=_why(nodes)
        )


def _contracts(operation: Operation, weights: Collection[str]) -> bool:
    return operation.results[0].operator == "+=" and len(operation.reads) > 1


def _why(nodes: Sequence[Sequence[Operation]]) -> str:
    first, *rest = [node[0] for node in nodes]
    said = f"{first.source}, node {first.line}"
    if rest:
        return f"{said}; {', '.join(each.source for each in rest)} after it stay on its PEs"
    if len(nodes[0]) > 1:
        return f"{said}, is one part"
    return f"{said}, is alone: what follows it needs elements of several PEs, or of other parts"
