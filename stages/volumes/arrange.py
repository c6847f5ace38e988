"""Arrange volumes in arrays: views of each other, and memory that they share.

Paper    F Def. 4.7 to 4.9, live ranges of buffers
Reads    volumes.isl, operations.yaml, elements.isl
Writes   layouts.isl    arrays, layouts, views, slices, live, sharing
Assumes  operations come after those whose results they use.
Ensures  every layout map is one to one; volumes whose elements lie in one place are views of each
         other, or one is needed no more when the other is there.
Differs  what is given from outside stays where it is, to the end.
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.poly.canonical import unite, unite_sets
from lairmake.stages.poly.functions import depends_on
from lairmake.stages.poly.text import IslObject, write_objects
from lairmake.stages.volumes.memory import (
    LiveRange,
    View,
    domains_in_order,
    find_sharing,
    find_views,
    lay_out,
    layout_map,
    live_ranges,
)
from lairmake.stages.volumes.operation import VolumeProgram, read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("volumes.isl", "operations.yaml", "elements.isl")
WRITES = ("layouts.isl",)
SET = isl.dim_type.set
HEADER = """Arrays and layout maps (Friebel et al., IMPACT 2023, definitions 4.7 to 4.9).
arrays: { array[place] }. layouts: { volume[element] -> array[place] }.
views: { volume[element] -> volume[element] }, the one is part of the other; slices are those that
have an offset and a stride in each dimension.
live: { volume[n] }, the operations, from 0, at which its values are needed.
sharing: { volume[] -> volume[] }, which two may lie in one place; views lie where they are of."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return layouts.isl."""
    program = read_program(inputs.yaml("operations.yaml"))
    objects = inputs.objects("volumes.isl")
    elements = dict(inputs.objects("elements.isl"))
    return {"layouts.isl": write_objects(
        HEADER, arranged(program, objects["volumes"], objects["context"].params(), elements)
    )}


def arranged(
    program: VolumeProgram, volumes: isl.UnionSet, context: isl.Set,
    elements: typing.Mapping[str, isl.UnionMap],
) -> dict[str, IslObject]:
    """Return arrays, layouts, views, slices, live and sharing."""
    views = find_views(program)
    pairs = find_sharing(program, views, elements)
    arrays = lay_out(program, volumes, views, pairs, context)
    names = _array_names(program, len(arrays))
    domains = domains_in_order(program, volumes)
    layouts = {
        volume: layout_map(volume, name, domains[volume], array.domain.dim(SET))
        for name, array in zip(names, arrays, strict=True)
        for volume in array.volumes
    }
    for volume, view in views.items():
        layouts[volume] = view.map.apply_range(layouts[view.whole])
    named = [a.domain.set_tuple_name(n) for n, a in zip(names, arrays, strict=True)]
    live = live_ranges(program, views)
    return {
        "arrays": unite_sets(named),
        "layouts": unite(layouts.values()),
        "views": unite(view.map for view in views.values()),
        "slices": unite(view.map for view in views.values() if _is_slice(view)),
        "live": unite_sets(_times(volume, live[volume]) for volume in live),
        "sharing": unite(isl.Map(f"{{ {a}[] -> {b}[] }}") for a, b in map(sorted, pairs)),
    }


def _array_names(program: VolumeProgram, count: int) -> list[str]:
    """Return array0, array1, ...; with another letter before where volumes are called so."""
    prefix = "array"
    while any(name.startswith(prefix) for name in program.types):
        prefix = f"a_{prefix}"
    return [f"{prefix}{k}" for k in range(count)]


def _is_slice(view: View) -> bool:
    """Return whether a view is i -> offset + i * stride, dimension by dimension."""
    used = depends_on(view.map)
    same_rank = len(used) == view.map.dim(isl.dim_type.in_)
    return same_rank and all(each <= {k} for k, each in enumerate(used))


def _times(volume: str, live: LiveRange) -> isl.Set:
    return isl.Set(f"{{ {volume}[n] : {live.first} <= n <= {live.last} }}")
