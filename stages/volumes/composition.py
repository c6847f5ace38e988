"""Program maps: which elements of inputs an element of an output needs, through all operations.

Source   F Def. 4.14 (program) and 4.15 (lenient composition)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from lairmake.stages.poly.canonical import unite_sets
from lairmake.stages.volumes.domains import make_domains
from lairmake.stages.volumes.operation import Operation


def lenient(a: isl.UnionMap, b: isl.UnionMap) -> isl.UnionMap:
    """Return A o^id B = A o (B u id(range A \\ dom B)): what B has not stays as it is.

    `A o B` is { a -> c : a -> b in A and b -> c in B }, as the paper writes it.
    """
    rest = a.range().subtract(b.domain()).coalesce()
    return a.apply_range(b.union(rest.identity())).coalesce()


def program_map(
    operations: Sequence[Operation], elements: Mapping[str, isl.UnionMap],
    outputs: Mapping[str, isl.Set], inputs: Mapping[str, isl.Set],
) -> isl.UnionMap:
    """Return M_P = { o -> i : o in an output, i in an input }, by lenient composition.

    It starts with the identity on the outputs, and visits each operation once, users before what
    they use. Elements of inputs that other inputs depend on stay, so that it is the transitive
    closure of the union of all element maps, between outputs and inputs.
    """
    wanted = unite_sets(inputs.values())
    start = unite_sets(outputs.values()).identity()
    found = start
    for operation in reversed(operations):
        by = elements.get(operation.name)
        if by is not None and not by.is_empty():
            found = lenient(found, by).union(_kept(found, by, wanted)).coalesce()
    return found.intersect_range(wanted).subtract(start).coalesce()


def _kept(found: isl.UnionMap, by: isl.UnionMap, wanted: isl.UnionSet) -> isl.UnionMap:
    """Return what was found of inputs that an operation has as its results."""
    return found.intersect_range(wanted.intersect(by.domain()))


def chosen(names: Sequence[str], volumes: isl.UnionSet) -> dict[str, isl.Set]:
    """Return the index domains of some volumes, by their names."""
    every = make_domains(volumes)
    return {name: every[name] for name in names}
