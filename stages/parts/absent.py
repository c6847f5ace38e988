"""Terms that nothing counts for in a tile: there, what reads them goes without.

Source   F Alg. 1, terms of a part; of those under a mask a tile may have none
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import Number
from lairmake.stages.machine.types import find_integers
from lairmake.stages.parts.boxes import SIGNS
from lairmake.stages.parts.cutting import Region
from lairmake.stages.parts.folding import fold, list_numbers
from lairmake.stages.parts.matching import NoSliceError
from lairmake.stages.volumes.operation import Operation, Program

OUT = isl.dim_type.out


def leave_out_absent(program: Program, region: Region, part: str) -> Program:
    """Return a program without what has no instance in a region, where that is neutral.

    What reads it is folded, and in turn left out if it is a number; the part itself is then a
    constant. Raises NoSliceError where something has to be read that is left out.
    """
    absent, known, operations = find_absent(program, region, part), dict[str, float](), []
    for each in program.operations:
        number = NEUTRAL[each.results[0].operator] if each.name in absent else None
        if number is None:
            each, number = _folded(each, known, program.types)
        if number is None:
            operations.append(each)
            continue
        known[each.name] = number
        operations.append(replace(
            each, kind="constant", constant=number, loops=None, reads={}, results=()
        ))
    return replace(program, operations=tuple(operations)) if known else program


def find_absent(program: Program, region: Region, part: str) -> set[str]:
    """Return the reductions that no element which a region needs has an instance of."""
    wanted, absent = {part: region.tiles}, set[str]()
    for operation in reversed(program.operations):
        if operation.kind != "compute" or operation.name not in wanted:
            continue
        assert operation.loops is not None
        (result,) = operation.results
        by = wanted[operation.name].apply_range(result.writes.reverse())
        by = by.intersect_range(operation.loops)
        if operation.name == part and region.sums is not None:
            by = by.intersect(region.sums)
        if by.is_empty():
            absent |= {operation.name} if result.operator in SIGNS else set()
            continue
        for read in operation.reads.values():
            name, elements = read.get_tuple_name(OUT) or "", by.apply_range(read)
            wanted[name] = wanted[name].union(elements) if name in wanted else elements
    return absent


def _folded(
    operation: Operation, known: Mapping[str, float], types: Mapping[str, str]
) -> tuple[Operation, float | None]:
    """Return an operation without what is known, and the number that its result is, or None."""
    names = {label: read.get_tuple_name(OUT) or "" for label, read in operation.reads.items()}
    numbers = {label: known[name] for label, name in names.items() if name in known}
    if not numbers:
        return operation, None
    (result,) = operation.results
    value = fold(parse_expression(result.value), numbers, find_integers([types[operation.name]]))
    if isinstance(value, Number) and value.value == NEUTRAL.get(result.operator, value.value):
        return operation, value.value
    if isinstance(value, Number) or not all(map(math.isfinite, list_numbers(value))):
        raise NoSliceError(operation.reads[next(iter(numbers))])
    reads = {label: read for label, read in operation.reads.items() if label not in numbers}
    text = replace(result, value=write_expression(value))
    return replace(operation, reads=reads, results=(text,)), None
