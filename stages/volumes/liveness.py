"""When the values of volumes are needed, and which of them may lie in the same memory.

Source   F: live ranges of buffers, `live(a) and live(b)` disjoint
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import islpy as isl

from lairmake.stages.volumes.operation import Operation, Program

IN = isl.dim_type.in_
OUT = isl.dim_type.out
GIVEN = ("input", "constant", "index")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A volume whose elements are elements of another: { part[i] -> whole[Pi(i)] }, one to one."""

    part: str
    whole: str
    map: isl.Map


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The operations from which to which a volume's values are needed, as their numbers."""

    first: int
    last: int


def find_views(program: Program) -> dict[str, View]:
    """Return the volumes that are views of others, by their names (F Def. 4.8).

    That is a copy from one operand, of its type, no element of which comes twice.
    """
    found = {}
    for operation in program.operations:
        if operation.kind == "copy" and len(operation.copies) == 1:
            by = operation.copies[0]
            whole = by.get_tuple_name(OUT) or ""
            if by.is_injective() and program.types[whole] == program.types[operation.name]:
                found[operation.name] = View(part=operation.name, whole=whole, map=by)
    return found


def root(volume: str, views: Mapping[str, View]) -> str:
    """Return the volume that a view is of, through views of views; or the volume itself."""
    while volume in views:
        volume = views[volume].whole
    return volume


def live_ranges(program: Program, views: Mapping[str, View]) -> dict[str, Live]:
    """Return when the values of each volume are needed; those of its views are its own.

    Operations are numbered from 0. What is given is there from the start, and stays; what is
    returned stays to the end, which is one more than the last operation.
    """
    end = len(program.operations)
    found: dict[str, Live] = {}
    for number, operation in enumerate(program.operations):
        for volume in operation.volumes:
            is_given = operation.kind in GIVEN
            found[volume] = Live(first=0 if is_given else number, last=end if is_given else number)
        for volume in operation.operands:
            found[volume] = _longer(found[volume], number)
    for volume in program.outputs:
        found[volume] = _longer(found[volume], end)
    for volume in reversed(list(views)):
        whole = views[volume].whole
        found[whole] = _longer(found[whole], found[volume].last)
    return found


def _longer(live: Live, last: int) -> Live:
    return Live(first=live.first, last=max(live.last, last))


def find_sharing(
    program: Program, views: Mapping[str, View], elements: Mapping[str, isl.UnionMap]
) -> set[frozenset[str]]:
    """Return the pairs of volumes, views left out, that may lie in the same memory.

    Their live ranges are disjoint; or one of them is needed last where the other is defined, and
    no element of that one needs another element of it than its own.
    """
    live = live_ranges(program, views)
    roots = [volume for volume in live if volume not in views]
    apart = {
        frozenset((a, b)) for a, b in combinations(roots, 2)
        if live[a].last < live[b].first or live[b].last < live[a].first
    }
    return apart | {
        frozenset((old, new))
        for number, operation in enumerate(program.operations)
        for old, new in _replaced(operation, views, elements)
        if live[old].last == number
    }


def _replaced(
    operation: Operation, views: Mapping[str, View], elements: Mapping[str, isl.UnionMap]
) -> Iterator[tuple[str, str]]:
    """Yield operand and result where an element of the result may take the place of its operand's.

    Other operands may not be views of that operand; a single result, since others might need it.
    A sum grows where it starts from only: what it adds up is read more than once.
    """
    wholes = [root(operand, views) for operand in operation.operands]
    sums = [result for result in operation.results if result.operator != "="]
    read = [by.get_tuple_name(OUT) for by in operation.reads.values()]
    if operation.name in views or len(operation.volumes) > 1:
        return
    maps: list[isl.Map] = []
    if operation.name in elements:
        elements[operation.name].foreach_map(maps.append)
    for by in maps:
        operand = by.get_tuple_name(OUT) or ""
        if any(operand != result.init or operand in read for result in sums):
            continue
        if operand not in views and wholes.count(operand) == 1 and _is_own(by):
            yield operand, operation.name


def _is_own(by: isl.Map) -> bool:
    """Return whether a map leads to elements with the same index only."""
    if by.dim(IN) != by.dim(OUT):
        return False
    plain = by.set_tuple_name(OUT, by.get_tuple_name(IN) or "")
    return bool(plain.is_subset(isl.Map.identity(plain.space)))
