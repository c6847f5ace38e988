"""The floorplan of a network on one fabric: the rectangle of each part, as its layout has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.fabric.layout import Layout, Role
from lairmake.stages.poly.box import bounding_box


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The least rectangle with all PEs that run programs of a part, bridges left out.

    `x` and `y` are those of its north-west corner, `origin` those of PE[0, 0] of its layer.yaml.
    `streams` is what it calls the colours of the fabric.
    """

    part: str
    x: int
    y: int
    width: int
    height: int
    origin: tuple[int, int]
    streams: Mapping[str, str] = field(default_factory=dict)


def find_frames(layout: Layout) -> tuple[Frame, ...]:
    """Return the parts of a layout whose roles are called `part.role`; none of another one."""
    parts: dict[str, list[Role]] = {}
    for name, role in layout.roles.items():
        part, dot, _ = name.rpartition(".")
        if dot:
            parts.setdefault(part, []).append(role)
    return tuple(_frame(part, roles) for part, roles in parts.items())


def _frame(part: str, roles: list[Role]) -> Frame:
    """Return the frame of a part. Raises ValueError for one without PEs."""
    pes = isl.Set("{ PE[x, y] : false }")
    for role in roles:
        pes = pes.union(isl.Set(role.at))
    (west, east), (north, south) = bounding_box(pes)
    (x, y), (right, down) = roles[0].origin or (0, 0), roles[0].offset or (0, 0)
    return Frame(
        part=part, x=west, y=north, width=east - west + 1, height=south - north + 1,
        origin=(x - right, y - down), streams=roles[0].streams or {},
    )
