"""Approximate compressed instance sets by boxes of fixed size.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5.3, eqs. (35)-(41), Examples 5.8, 5.9
Reads    layer.yaml, tasks.yaml, instances.isl, compressions.isl, allocations.isl
Writes   hulls.isl    per task T: T_hull, T_extra, ..., T_vector; local, to_local
Assumes  local memory is allocated for every element that a task accesses.
Ensures  extra instances read inside local memory, and write only where nobody reads.
Differs  exact bounds of fixed size win over a larger hull: the hull would run instances in vain.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass

import islpy as isl

from stages.lair.tasks import RUNS
from stages.poly.bind import PE_NAMES, bind_domain, index_constants
from stages.poly.bounds import ExactBounds, bound_set, exact_bounds, fixed_size
from stages.poly.box_hull import BoxHull, as_set, box, box_hull, offset_set
from stages.poly.interference import accessed_by, extend_allocation, extra_instances
from stages.poly.local import Shape, at_this_pe, shape_of, shifted
from stages.poly.pieces import maps_of, sets_of
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.make.inputs import Inputs

READS = ("layer.yaml", "tasks.yaml", "compressions.isl", "instances.isl", "allocations.isl")
WRITES = ("hulls.isl",)
HEADER = """Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
T_offset, T_hull: offset and elements of the fixed-size box hull.
T_extra: extra instances, eq. (36).
T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
T_minimum, T_maximum: exact bounds. T_vector: the box chosen, hull[size] or exact[size], if any.
local, to_local: the allocation with room for what extra instances write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximation:
    """One task's fixed-size box hull, and what its extra instances touch in local memory."""

    hull: BoxHull
    extra: isl.Set
    reads: isl.UnionSet
    writes: isl.Set
    outside: isl.UnionSet
    conflict: isl.Set

    @property
    def harmless(self) -> bool:
        """Say whether the extra instances may run."""
        return self.outside.is_empty() and self.conflict.is_empty()


class Approximator:
    """The local memory of a layer, and the boxes of its tasks."""

    def __init__(self, inputs: Inputs) -> None:
        """Read the files."""
        self.graph = inputs.yaml("tasks.yaml")
        self.prefer = inputs.mapping().simd.prefer
        self.instances = inputs.objects("instances.isl")
        self.compressed = inputs.objects("compressions.isl")
        allocations = inputs.objects("allocations.isl")
        self.local = {s.get_tuple_name(): s for s in sets_of(allocations["local"])}
        self.to_local = allocations["to_local"]
        self.by_tensor = at_this_pe(self.to_local)
        self.accessed = {
            m.get_tuple_name(isl.dim_type.out): bind_domain(m, PE_NAMES)
            for m in maps_of(allocations["accessed"])
        }
        self.written: dict[str, list[isl.Set]] = {}

    def objects(self) -> dict[str, typing.Any]:
        """Return the content of hulls.isl."""
        found: dict[str, typing.Any] = {}
        for name, task in self.graph["tasks"].items():
            if task["kind"] in RUNS:
                found |= {f"{name}_{key}": obj for key, obj in self._task(name, task).items()}
        sizes, shifts = self._extended()
        local = isl.UnionSet("{ }")
        for name, size in sizes.items():
            local = local.union(isl.UnionSet.from_set(box(name, size)))
        return found | {"local": local, "to_local": shifted(self.to_local, shifts)}

    def _task(self, name: str, task: dict[str, typing.Any]) -> dict[str, typing.Any]:
        known = isl.Set.from_union_set(self.instances[f"{name}_known"])
        compressed = isl.Set.from_union_set(self.compressed[name])
        exact = exact_bounds(compressed, known)
        approximation = self._approximation(name, task, compressed)
        found = {
            "minimum": bound_set(compressed, exact.minimum),
            "maximum": bound_set(compressed, exact.maximum),
        }
        if approximation is not None:
            found |= _described(approximation, compressed)
        vector = choose_box(self.prefer, approximation, exact, compressed)
        if vector is not None:
            found["vector"] = vector
            if vector.get_tuple_name() == "hull" and approximation is not None:
                local = approximation.writes.get_tuple_name()
                self.written.setdefault(local, []).append(approximation.writes)
        return found

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

    def _extended(self) -> tuple[dict[str, Shape], dict[str, Shape]]:
        """Return the size and the shift of every local tensor, Example 5.9."""
        sizes, shifts = {}, {}
        for name, local in self.local.items():
            sizes[name] = shape_of(local)
            shifts[name] = (0,) * len(sizes[name])
            for written in self.written.get(name, []):
                extension = extend_allocation(shape_of(local), written)
                assert extension is not None, "extra instances write in a bounded box"
                sizes[name], shifts[name] = _joined(
                    sizes[name], shifts[name], extension.size, extension.shift
                )
        return sizes, shifts


def run(inputs: Inputs) -> dict[str, str]:
    """Return hulls.isl."""
    return {"hulls.isl": write_objects(HEADER, Approximator(inputs).objects())}


def choose_box(
    prefer: str | None,
    approximation: Approximation | None,
    exact: ExactBounds,
    compressed: isl.Set,
) -> isl.Set | None:
    """Return { hull[size] } or [PE_X, PE_Y] -> { exact[size] }; None if neither has a fixed size.

    The hull must be harmless. It is chosen if it is as small as the exact bounds, or if these are
    not fixed; with `prefer` hull always, with exact never where exact bounds are fixed.
    """
    if prefer in ("loops", "enumerate"):
        return None
    sizes = fixed_size(exact, index_constants(compressed)) if exact.is_box else None
    harmless = approximation is not None and approximation.harmless
    if approximation is None or not harmless:
        return _exact_box(compressed, sizes)
    hull = box_of("hull", approximation.hull.size)
    if sizes is None or prefer == "hull":
        return hull
    same = approximation.extra.is_empty()
    return hull if same and prefer != "exact" else _exact_box(compressed, sizes)


def box_of(name: str, size: typing.Sequence[int]) -> isl.Set:
    """Return { name[size] }."""
    return isl.Set(f"{{ {name}[{', '.join(map(str, size))}] }}")


def _exact_box(compressed: isl.Set, sizes: tuple[isl.PwAff, ...] | None) -> isl.Set | None:
    """Return [PE_X, PE_Y] -> { exact[size] }; None without sizes."""
    return None if sizes is None else bound_set(compressed, sizes).set_tuple_name("exact")


def _described(approximation: Approximation, compressed: isl.Set) -> dict[str, typing.Any]:
    return {
        "offset": offset_set(approximation.hull),
        "hull": as_set(approximation.hull, compressed.params()),
        "extra": approximation.extra,
        "reads": approximation.reads,
        "writes": approximation.writes,
        "outside": approximation.outside,
        "conflict": approximation.conflict,
    }


def _joined(size: Shape, shift: Shape, other: Shape, other_shift: Shape) -> tuple[Shape, Shape]:
    """Return size and shift of the least box that holds two boxes."""
    first = tuple(min(a, b) for a, b in zip(shift, other_shift, strict=True))
    ends = (max(s + n, t + m) for n, s, m, t in zip(size, shift, other, other_shift, strict=True))
    return tuple(e - f for e, f in zip(ends, first, strict=True)), first
