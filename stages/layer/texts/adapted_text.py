"""What adapted.isl says: a layer on its computing PEs, borders for adapters peeled off.

Paper    V Sec. 4.2, (5) (6) (10)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import islpy as isl

from lairmake.stages.poly.sides import Rectangle, bounding_rectangle
from lairmake.stages.poly.text import Objects


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """The objects of adapted.isl; what it does not have is empty.

    `target` are the PEs that compute, `grid` these and the adapters; `placement` { S[i] -> PE }.
    `sources`, `arrivals`, `departures` and `collected` are { T[e] -> [PE -> index] }: how tensors
    reach the grid, and the computing PEs, how they leave these, and the adapters that collect them.
    `feedback` is { T_feedback[e] -> T[e] }; `reads` and `carried` are those of lair.isl with
    T_feedback, None where they are the same. `parts` are { T[e] -> port } at which a stream is
    taken, by name.
    """

    target: Rectangle
    grid: Rectangle
    placement: isl.UnionMap
    sources: isl.UnionMap
    arrivals: isl.UnionMap
    departures: isl.UnionMap
    collected: isl.UnionMap
    feedback: isl.UnionMap
    reads: isl.UnionMap | None
    carried: isl.UnionMap | None
    parts: Mapping[str, isl.UnionMap]

    @property
    def offset(self) -> tuple[int, int]:
        """x and y in layer.yaml of PE[0, 0]: there the grid begins with PE[0, 0]."""
        return -self.grid.left, -self.grid.top


def read_adapted(objects: Objects) -> Adapted:
    """Return what the objects of adapted.isl say."""
    none, known = isl.UnionMap("{ }"), {field.name for field in fields(Adapted)}
    return Adapted(
        target=_rectangle(objects["target"]),
        grid=_rectangle(objects["grid"]),
        placement=objects["placement"],
        sources=objects["sources"],
        arrivals=objects["arrivals"],
        departures=objects["departures"],
        collected=objects.get("collected", none),
        feedback=objects.get("feedback", none),
        reads=objects.get("reads"),
        carried=objects.get("carried"),
        parts={name: objects[name] for name in objects if "_part" in name and name not in known},
    )


def _rectangle(pes: isl.UnionSet) -> Rectangle:
    return bounding_rectangle(isl.Set.from_union_set(pes))
