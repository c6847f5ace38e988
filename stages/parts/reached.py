"""Which volume that has values of its own each instance of an operation reads, and where.

Copies (padding, slices, transposition, ...) have none: a read goes through them, and where they
have several operands, to one or another, which instances tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.parts.folding import in_type
from lairmake.stages.poly.functions import find_function_in
from lairmake.stages.volumes.operation import Operation, Program

OUT = isl.dim_type.out


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way in which instances get their operands: `reads` by their names.

    `known` has the values of operands that are constants; `instances` get them in this way.
    """

    instances: isl.Set
    reads: Mapping[str, isl.Map]
    known: Mapping[str, float]


def find_variants(
    operation: Operation, program: Program, parts: Mapping[str, Mapping[str, isl.Set]],
    constants: Mapping[str, float],
) -> list[Variant]:
    """Return the ways in which the instances of a computation get their operands.

    `parts` has the parts, with their domains, that volumes were split into, `constants` the values
    of volumes and parts that have one everywhere. Ensures that every instance has exactly one.
    """
    assert operation.loops is not None
    every = [
        [(label, end) for end in find_ends(read.intersect_domain(operation.loops), program, parts)]
        for label, read in operation.reads.items()
    ]
    found = []
    for chosen in itertools.product(*every):
        instances = operation.loops
        for _, end in chosen:
            instances = instances.intersect(end.domain())
        if not instances.is_empty():
            found.append(_variant(instances.coalesce(), dict(chosen), constants))
    return found


def _variant(
    instances: isl.Set, chosen: Mapping[str, isl.Map], constants: Mapping[str, float]
) -> Variant:
    known, reads = {}, {}
    for label, end in chosen.items():
        name = end.get_tuple_name(OUT) or ""
        if name in constants:
            known[label] = constants[name]
        else:
            reads[label] = end
    return Variant(instances=instances, reads=reads, known=known)


def find_constants(program: Program) -> dict[str, float]:
    """Return the volumes that have one value everywhere; what has no values yet is zero."""
    return {
        each.name: in_type(0 if each.kind == "empty" else each.constant, program.types[each.name])
        for each in program.operations
        if each.kind in ("constant", "empty") and not isinstance(each.constant, list)
    }


def find_ends(
    read: isl.Map, program: Program, parts: Mapping[str, Mapping[str, isl.Set]]
) -> Iterator[isl.Map]:
    """Yield disjoint maps to volumes that are no copies, or to their parts."""
    name = read.get_tuple_name(OUT) or ""
    if name in parts:
        for part, domain in parts[name].items():
            inside = read.set_tuple_name(OUT, part).intersect_range(domain)
            if not inside.is_empty():
                yield inside.coalesce()
        return
    writer = program.writer(name)
    if writer.kind != "copy":
        yield read
        return
    for copy in itertools.chain.from_iterable(map(affine_pieces, writer.copies)):
        through = read.apply_range(copy).coalesce()
        if not through.is_empty():
            yield from find_ends(through, program, parts)


def affine_pieces(copy: isl.Map) -> list[isl.Map]:
    """Return the pieces of a function, each of which is affine: a periodic boundary has several."""
    found: list[isl.Map] = []

    def add(where: isl.Set, by: isl.MultiAff) -> None:
        found.append(by.as_map().intersect_domain(where))

    find_function_in(copy).coalesce().foreach_piece(add)
    return found
