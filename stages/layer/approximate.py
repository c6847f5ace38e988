"""Approximate compressed instance sets by boxes of fixed size.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5.3, eqs. (35)-(41), Examples 5.8, 5.9
Reads    tasks.yaml, instances.isl, compressions.isl, allocations.isl
Writes   hulls.isl    per task T: T_offset, T_size, T_hull, T_extra, ..., T_minimum, T_maximum
Assumes  local memory is allocated for every element that a task accesses.
Ensures  T_hull holds all instances of T; T_outside and T_conflict what extra ones do harm to.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass

import islpy as isl

from stages.diagnose import working_on
from stages.layer.streams.tasks import RUNS
from stages.poly.bind import PE_NAMES, bind_domain, index_constants
from stages.poly.bounds import bound_set, exact_bounds
from stages.poly.box_hull import BoxHull, as_set, box_hull, offset_set, size_set
from stages.poly.interference import accessed_by, extra_instances
from stages.poly.local import at_this_pe
from stages.poly.pieces import maps_of, sets_of
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("tasks.yaml", "compressions.isl", "instances.isl", "allocations.isl")
WRITES = ("hulls.isl",)
HEADER = """Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
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


class Approximator:
    """The local memory of a layer, and the boxes of its tasks."""

    def __init__(self, inputs: Inputs) -> None:
        """Read the files."""
        self.graph = inputs.yaml("tasks.yaml")
        self.instances = inputs.objects("instances.isl")
        self.compressed = inputs.objects("compressions.isl")
        allocations = inputs.objects("allocations.isl")
        self.local = {s.get_tuple_name(): s for s in sets_of(allocations["local"])}
        self.by_tensor = at_this_pe(allocations["to_local"])
        self.accessed = {
            m.get_tuple_name(isl.dim_type.out): bind_domain(m, PE_NAMES)
            for m in maps_of(allocations["accessed"])
        }

    def objects(self) -> dict[str, typing.Any]:
        """Return the content of hulls.isl."""
        found: dict[str, typing.Any] = {}
        for name, task in self.graph["tasks"].items():
            with working_on(f"task {name}"):
                described = self._task(name, task) if task["kind"] in RUNS else {}
            found |= {f"{name}_{key}": obj for key, obj in described.items()}
        return found

    def _task(self, name: str, task: dict[str, typing.Any]) -> dict[str, typing.Any]:
        known = isl.Set.from_union_set(self.instances[f"{name}_known"])
        compressed = isl.Set.from_union_set(self.compressed[name])
        exact = exact_bounds(compressed, known)
        approximation = self._approximation(name, task, compressed)
        found = {
            "minimum": bound_set(compressed, exact.minimum),
            "maximum": bound_set(compressed, exact.maximum),
        }
        return found if approximation is None else found | _described(approximation, compressed)

    def _approximation(
        self, name: str, task: dict[str, typing.Any], compressed: isl.Set
    ) -> Approximation | None:
        """Return the hull of a task and what its extra instances touch; None without hull."""
        hull = box_hull(compressed, isl.Set.from_union_set(self.instances[f"{name}_known"]))
        if hull is None:
            return None
        extra = extra_instances(as_set(hull, compressed.params()), compressed)
        reads, outside, writes = isl.UnionSet("{ }"), isl.UnionSet("{ }"), None
        for access in maps_of(self.compressed[f"{name}_access"]):
            tensor = access.get_tuple_name(isl.dim_type.out)
            if tensor == self._arriving(task):
                continue
            local = access.apply_range(self.by_tensor[tensor])
            touched = accessed_by(local, extra, index_constants(extra))
            if tensor == task["target"]:
                writes = touched
            else:
                reads = reads.union(isl.UnionSet.from_set(touched))
                beyond = touched.subtract(self.local[touched.get_tuple_name()])
                outside = outside.union(isl.UnionSet.from_set(beyond))
        assert writes is not None, "a statement writes its target"
        return Approximation(
            hull=hull,
            extra=extra,
            reads=reads,
            writes=writes,
            outside=outside,
            conflict=writes.intersect(self._used(task["target"])),
        )

    def _arriving(self, task: dict[str, typing.Any]) -> str | None:
        if task["kind"] != "react":
            return None
        tensor: str = self.graph["arrivals"][task["arrival"]]["tensor"]
        return tensor

    def _used(self, tensor: str) -> isl.Set:
        """Return [PE_X, PE_Y] -> { T_local[l] } of the elements that a PE keeps, eq. (40)."""
        return self.accessed[tensor].apply(self.by_tensor[tensor])


def run(inputs: Inputs) -> dict[str, str]:
    """Return hulls.isl."""
    return {"hulls.isl": write_objects(HEADER, Approximator(inputs).objects())}


def _described(approximation: Approximation, compressed: isl.Set) -> dict[str, typing.Any]:
    return {
        "offset": offset_set(approximation.hull),
        "size": size_set(approximation.hull),
        "hull": as_set(approximation.hull, compressed.params()),
        "extra": approximation.extra,
        "reads": approximation.reads,
        "writes": approximation.writes,
        "outside": approximation.outside,
        "conflict": approximation.conflict,
    }
