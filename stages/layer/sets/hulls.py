"""Boxes of fixed size that hold the compressed instance sets.

Paper    V Sec. 5.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.texts.isl_files import Compressions, Instances
from lairmake.stages.layer.texts.task_graph import Graph, React, Runs
from lairmake.stages.poly.box import (
    BoxHull,
    accessed_by,
    as_set,
    at_this_pe,
    bound_set,
    box_hull,
    exact_bounds,
    extra_instances,
    find_conflict,
    offset_set,
    size_set,
)
from lairmake.stages.poly.canonical import list_maps, list_sets
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, find_index_constants
from lairmake.stages.poly.text import Objects, write_objects

HullObject = isl.Set | isl.UnionSet
HULLS_HEADER = """Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
T_extra: extra instances, eq. (36).
T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
T_minimum, T_maximum: exact bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximation:
    """One task's fixed-size box hull, and what its extra instances touch in local memory."""

    hull: BoxHull
    extra: isl.Set
    reads: isl.UnionSet
    writes: isl.Set
    outside: isl.UnionSet
    conflict: isl.Set


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The shapes of local tensors, [PE_X, PE_Y] -> { T[e] -> T_local[l] }, and what a PE keeps."""

    local: Mapping[str, isl.Set]
    by_tensor: Mapping[str, isl.Map]
    accessed: Mapping[str, isl.Set]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A task that writes a target, of what is `arriving` by the element, if anything is.

    `known` are its symbolic constants, `elements` its compressed instance set, and `accesses`
    { element -> T[e] }.
    """

    target: str
    arriving: str
    known: isl.Set
    elements: isl.Set
    accesses: tuple[isl.Map, ...]


def write_hulls(
    graph: Graph, instances: Instances, compressed: Compressions, allocations: Objects
) -> str:
    """Return hulls.isl."""
    memory = memory_of(allocations)
    found: dict[str, HullObject] = {}
    for name, task in graph.tasks.items():
        if isinstance(task, Runs):
            with working_on(f"task {name}"):
                known = instances.known(name)
                running = Running(
                    target=task.target,
                    arriving=graph.arrivals[task.arrival].tensor if isinstance(task, React) else "",
                    known=known,
                    elements=compressed.of(name),
                    accesses=tuple(compressed.accesses(name)),
                )
                described = _described(running, memory)
            found |= {f"{name}_{key}": obj for key, obj in described.items()}
    return write_objects(HULLS_HEADER, found)


def memory_of(allocations: Objects) -> Memory:
    """Return the local memory of a layer."""
    return Memory(
        local={s.get_tuple_name(): s for s in list_sets(allocations["local"])},
        by_tensor=at_this_pe(allocations["to_local"]),
        accessed={
            m.get_tuple_name(isl.dim_type.out): bind_domain(m, PE_NAMES)
            for m in list_maps(allocations["accessed"])
        },
    )


def _described(running: Running, memory: Memory) -> dict[str, HullObject]:
    """Return what hulls.isl says of a task."""
    exact = exact_bounds(running.elements, running.known)
    found: dict[str, HullObject] = {
        "minimum": bound_set(running.elements, exact.minimum),
        "maximum": bound_set(running.elements, exact.maximum),
    }
    approximation = _approximation(running, memory)
    if approximation is None:
        return found
    return found | {
        "offset": offset_set(approximation.hull),
        "size": size_set(approximation.hull),
        "hull": as_set(approximation.hull, running.elements.params()),
        "extra": approximation.extra,
        "reads": approximation.reads,
        "writes": approximation.writes,
        "outside": approximation.outside,
        "conflict": approximation.conflict,
    }


def _approximation(running: Running, memory: Memory) -> Approximation | None:
    """Return the hull of a task and what its extra instances touch; None without hull.

    There is none either where extra instances have no place in local memory, as between strips.
    """
    hull = box_hull(running.elements, running.known)
    if hull is None:
        return None
    extra = extra_instances(as_set(hull, running.elements.params()), running.elements)
    reads, outside, writes = isl.UnionSet("{ }"), isl.UnionSet("{ }"), None
    conflict = None
    for access in running.accesses:
        tensor = access.get_tuple_name(isl.dim_type.out)
        if tensor == running.arriving:
            continue
        local = access.apply_range(memory.by_tensor[tensor])
        if not extra.is_subset(local.domain()):
            return None
        touched = accessed_by(local, extra, find_index_constants(extra))
        if tensor == running.target:
            writes = touched
            conflict = find_conflict(local, extra, _used(tensor, memory))
        else:
            reads = reads.union(isl.UnionSet.from_set(touched))
            beyond = touched.subtract(memory.local[touched.get_tuple_name()])
            outside = outside.union(isl.UnionSet.from_set(beyond))
    assert writes is not None and conflict is not None, "a statement writes its target"
    return Approximation(
        hull=hull,
        extra=extra,
        reads=reads,
        writes=writes,
        outside=outside,
        conflict=conflict,
    )


def _used(tensor: str, memory: Memory) -> isl.Set:
    """Return [PE_X, PE_Y] -> { T_local[l] } of the elements that a PE keeps, V (40)."""
    return memory.accessed[tensor].apply(memory.by_tensor[tensor])
