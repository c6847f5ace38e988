"""Volume element maps: which elements of its operands an element of a result needs.

Source   F Def. 4.10; VEM from MLIR; A.2.6
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.poly.canonical import unite
from lairmake.stages.volumes.domains import make_domains
from lairmake.stages.volumes.operation import Operation

OUT = isl.dim_type.out


def element_map(operation: Operation, volumes: isl.UnionSet) -> isl.UnionMap:
    """Return M_X = { R[r] -> O[o] } of an operation X, within its implied context.

    For a computation, M_X = union over j, k of (I_Rj^-1 restricted to dom X) then I_Ok, where I is
    what `reads` and `writes` say. Ensures M_X is a subset of union dom R_j x union dom O_k.
    """
    found = [*operation.copies, *_computed(operation), *_inits(operation, volumes)]
    return unite(found).intersect_domain(volumes).intersect_range(volumes).coalesce()


def list_reads(operation: Operation) -> list[isl.Map]:
    """Return every function from instances, or elements of a result, to elements of an operand."""
    loops = operation.loops
    return [
        *operation.copies,
        *(read.intersect_domain(loops) for read in operation.reads.values() if loops is not None),
    ]


def _computed(operation: Operation) -> list[isl.Map]:
    """Return { R[r] -> O[o] } for each result and each operand of a computation."""
    if operation.loops is None:
        return []
    return [
        result.writes.intersect_domain(operation.loops).reverse().apply_range(read)
        for result in operation.results
        for read in operation.reads.values()
    ]


def _inits(operation: Operation, volumes: isl.UnionSet) -> list[isl.Map]:
    """Return { R[r] -> init[r] } for each result that is reduced from given values."""
    domains = make_domains(volumes)
    return [
        isl.Map.identity(domains[r.volume].space.map_from_set())
        .intersect_domain(domains[r.volume])
        .set_tuple_name(OUT, r.init)
        for r in operation.results
        if r.init is not None
    ]
