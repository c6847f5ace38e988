"""Find the spaces of PEs that use an element at the same time.

Paper    M Sec. II.A, (1)
Reads    layer.yaml, chosen.yaml, lair.isl, placement.isl, schedule.isl
Writes   broadcasts.isl    time; reuse, placement, broadcast: { [S[] -> T[]] -> [t..., x, y] }
Assumes  the placement is total, and instances have one time.
Ensures  the broadcast space is the part of the reuse space at one time.
Differs  spaces are those of differences of time and PE; see stages/skewing/spaces.py.
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.poly.text import write_objects
from lairmake.stages.skewing.elements import read_lair
from lairmake.stages.skewing.spaces import (
    broadcast_space,
    coordinates,
    dimension,
    name_dimensions,
    note_on,
    placement_space,
    reuse_space,
)
from lairmake.stages.skewing.statements import Space, find_given, find_space
from lairmake.stages.skewing.topology import make_topology

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: target, topology, skew, schedule",
    "chosen.yaml",
    "lair.isl",
    "placement.isl",
    "schedule.isl",
)
WRITES = ("broadcasts.isl",)
HEADER = """Which PEs use an element at one time: spaces of differences [t..., x, y] of time and PE.
time: { statement[iterators] -> [t...] }, the clock of all PEs, which start together.
placement: { statement[] -> [t..., x, y] }, between instances at one time;
reuse, broadcast: { [statement[] -> tensor[]] -> [t..., x, y] }, between instances that use one
element, and between those of them at one time (Meister, Sec. II.A, eq. (1)); PEs differ along the
dimensions only along which layer.yaml lets them pass on, all if none;
dimensions: { [statement[] -> tensor[]] -> [reuse, placement, broadcast] }."""
OUT = isl.dim_type.out


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return broadcasts.isl."""
    mapping = inputs.mapping()
    space = find_space(
        read_lair(inputs.objects("lair.isl")),
        inputs.objects("placement.isl")["placement"],
        inputs.objects("schedule.isl")["schedule"],
        find_given(mapping),
        make_topology(mapping, parse_target(mapping.target)),
    )
    header = HEADER + note_on(space.topology)
    return {"broadcasts.isl": write_objects(header, broadcasts(space))}


def broadcasts(space: Space) -> dict[str, isl.UnionMap]:
    """Return time, placement, reuse, broadcast and dimensions."""
    names = ("time", "placement", "reuse", "broadcast", "dimensions")
    found = dict.fromkeys(names, isl.UnionMap("{ }"))
    grid, chosen = coordinates(space.topology), space.topology.spatial or (0, 1)
    pes = [each.name for each in grid]
    for name in space.clocks:
        times, points = space.times(name), space.points(name)
        count = times.dim(OUT)
        other = (count + k for k, each in enumerate(grid) if each.axis not in chosen)
        alike = [*range(count), *other]
        among = placement_space(points, alike)
        found["time"] = found["time"].union(isl.UnionMap.from_map(times))
        found["placement"] = _with(found["placement"], f"{name}[]", name_dimensions(among, pes))
        for access in space.used(name):
            key = f"[{name}[] -> {access.get_tuple_name(OUT)}[]]"
            spaces = reuse_space(points, access), broadcast_space(points, access, alike)
            found["reuse"] = _with(found["reuse"], key, name_dimensions(spaces[0], pes))
            found["broadcast"] = _with(found["broadcast"], key, name_dimensions(spaces[1], pes))
            sizes = ", ".join(str(dimension(s)) for s in (spaces[0], among, spaces[1]))
            found["dimensions"] = found["dimensions"].union(
                isl.UnionMap(f"{{ {key} -> [{sizes}] }}")
            )
    return found


def _with(found: isl.UnionMap, key: str, space: isl.Set) -> isl.UnionMap:
    """Return the relation and { key -> [t..., x, y] } for the points of a space."""
    one = isl.UnionSet(f"{{ {key} }}")
    return found.union(isl.UnionMap.from_domain_and_range(one, isl.UnionSet(space)))
