"""What operations read in the end, through copies.

Source   F Def. 4.10: a copy has no values of its own

A copy that an access can do itself, as a transposition or a slice, is none between two operations,
and where dimensions are collapsed, the loops of who reads are split. What is left are copies that
differ from element to element, as a padding: maps of what crosses from part to part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import islpy as isl

from lairmake.stages.parts.partition import affine_pieces, find_constants, find_ends, find_needed
from lairmake.stages.parts.rewrites import split_loops
from lairmake.stages.poly.functions import find_function_in
from lairmake.stages.volumes.operation import Operation, Program

OUT, DIV = isl.dim_type.out, isl.dim_type.div


def resolve(program: Program) -> Program:
    """Return the operations that the outputs need; computations read through plain copies."""
    plain = find_constants(program)
    operations = tuple(
        _through(each, program, plain) if each.kind == "compute" else each
        for each in find_needed(program)
    )
    found = replace(program, operations=operations)
    return replace(found, operations=tuple(find_needed(found)))


def _through(operation: Operation, program: Program, plain: Mapping[str, float]) -> Operation:
    """Return a computation with what it reads through copies that accesses can do."""
    split = split_loops(operation, lambda read: [_follow(read, program, plain)[-1]])
    assert split.loops is not None
    reads = {}
    for label, read in split.reads.items():
        ends = _follow(read.intersect_domain(split.loops), program, plain)
        reads[label] = next((end for end in reversed(ends) if is_affine(end)), read)
    return replace(split, reads=reads)


def _follow(read: isl.Map, program: Program, plain: Mapping[str, float]) -> list[isl.Map]:
    """Return a read, and what it is through one copy, two, and so on.

    It ends before a copy of which instances read several pieces, as of a concatenation, and before
    a number.
    """
    found = [read]
    while (writer := program.writer(found[-1].get_tuple_name(OUT) or "")).kind == "copy":
        pieces = [
            through for copy in writer.copies for piece in affine_pieces(copy)
            if not (through := found[-1].apply_range(piece).coalesce()).is_empty()
        ]
        if len(pieces) != 1 or pieces[0].get_tuple_name(OUT) in plain:
            break
        found.append(pieces[0])
    return found


def is_affine(read: isl.Map) -> bool:
    """Return whether a function is one expression without quotients."""
    pieces: list[isl.MultiAff] = []
    find_function_in(read).coalesce().foreach_piece(lambda _, by: pieces.append(by))
    if len(pieces) != 1:
        return False
    return all(not pieces[0].get_at(k).dim(DIV) for k in range(pieces[0].dim(OUT)))


def trace(elements: isl.Map, program: Program) -> dict[str, isl.Map]:
    """Return { x[e] -> v[e'] } by volumes v that are no copies, of { x[e] -> volume[e'] }.

    Numbers are volumes, too: `find_constants` has their values.
    """
    found: dict[str, isl.Map] = {}
    for end in find_ends(elements, program, {}):
        name = end.get_tuple_name(OUT) or ""
        found[name] = found[name].union(end) if name in found else end
    return {name: each.coalesce() for name, each in found.items()}


def find_padded(program: Program, numbers: Collection[str]) -> set[str]:
    """Return the copies that hold `numbers`, at places where nothing else is."""
    found: set[str] = set()
    for each in program.operations:
        if each.kind == "copy" and any(n in numbers or n in found for n in each.operands):
            found.add(each.name)
    return found
