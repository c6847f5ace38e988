"""Element maps and program maps: the elements of operands, or inputs, that an element needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.poly.canonical import unite, unite_sets
from lairmake.stages.volumes.operation import VolumeOperation, VolumeProgram, make_domains

OUT = isl.dim_type.out

# --- Volume element maps --------------------------------------------------------------------------
#
# Source   F Def. 4.10; VEM from MLIR; A.2.6

def element_map(operation: VolumeOperation, volumes: isl.UnionSet) -> isl.UnionMap:
    """Return M_X = { R[r] -> O[o] } of an operation X, within its implied context.

    For a computation, M_X = union over j, k of (I_Rj^-1 restricted to dom X) then I_Ok, where I is
    what `reads` and `writes` say. Ensures M_X is a subset of union dom R_j x union dom O_k.
    """
    found = [*operation.copies, *_computed(operation), *_inits(operation, volumes)]
    return unite(found).intersect_domain(volumes).intersect_range(volumes).coalesce()


def list_reads(operation: VolumeOperation) -> list[isl.Map]:
    """Return every function from instances, or elements of a result, to elements of an operand."""
    loops = operation.loops
    return [
        *operation.copies,
        *(read.intersect_domain(loops) for read in operation.reads.values() if loops is not None),
    ]


def _computed(operation: VolumeOperation) -> list[isl.Map]:
    """Return { R[r] -> O[o] } for each result and each operand of a computation."""
    if operation.loops is None:
        return []
    return [
        result.writes.intersect_domain(operation.loops).reverse().apply_range(read)
        for result in operation.results
        for read in operation.reads.values()
    ]


def _inits(operation: VolumeOperation, volumes: isl.UnionSet) -> list[isl.Map]:
    """Return { R[r] -> init[r] } for each result that is reduced from given values."""
    domains = make_domains(volumes)
    return [
        isl.Map.identity(domains[r.volume].space.map_from_set())
        .intersect_domain(domains[r.volume])
        .set_tuple_name(OUT, r.init)
        for r in operation.results
        if r.init is not None
    ]

# --- Program maps ---------------------------------------------------------------------------------
#
# Source   F Def. 4.14 (program) and 4.15 (lenient composition)

def lenient(a: isl.UnionMap, b: isl.UnionMap) -> isl.UnionMap:
    """Return A o^id B = A o (B u id(range A \\ dom B)): what B has not stays as it is.

    `A o B` is { a -> c : a -> b in A and b -> c in B }, as the paper writes it.
    """
    rest = a.range().subtract(b.domain()).coalesce()
    return a.apply_range(b.union(rest.identity())).coalesce()


def program_map(
    operations: Sequence[VolumeOperation], elements: Mapping[str, isl.UnionMap],
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

# --- Outputs and inputs of a program map ----------------------------------------------------------
#
# Source   F Def. 4.14: live-outs and live-ins are chosen

def choose(
    program: VolumeProgram, outputs: Sequence[str], inputs: Sequence[str], span: Callable[..., Span]
) -> VolumeProgram:
    """Return the program with outputs and inputs that a file names; where it names none, as it is.

    `span` gives the place of one in the file, by "outputs" or "inputs" and its number.
    Raises UserError for those that are no volumes.
    """
    for key, names in (("outputs", outputs), ("inputs", inputs)):
        for at, name in enumerate(names):
            if name not in program.types:
                hint = did_you_mean(name, program.types, "volumes")
                raise UserError(f"unknown volume {name}", span(key, at), hint)
    return replace(
        program, outputs=tuple(outputs) or program.outputs, inputs=tuple(inputs) or program.inputs
    )
