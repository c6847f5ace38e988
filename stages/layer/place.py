"""Say which PE runs every instance.

Paper    V Sec. 4.1.2, Listing 2
Reads    layer.yaml, chosen.yaml, lair.isl
Writes   placement.isl    { statement[iterators] -> PE[x, y] }, the target, wraps on a torus
Assumes  nothing of the layer's text.
Ensures  the placement is total, single-valued and inside the target; that on a torus is folded.
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.mapping.isl_texts import parse_map, parse_target
from lairmake.stages.mapping.relations import check_placement
from lairmake.stages.poly.canonical import find_example, list_sets
from lairmake.stages.poly.sides import Rectangle
from lairmake.stages.poly.text import write_objects
from lairmake.stages.skewing.elements import Lair, complete, read_lair
from lairmake.stages.skewing.topology import fold

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs
    from lairmake.stages.mapping.isl_texts import IslText

READS = ("layer.yaml: target, placement, topology.kind", "chosen.yaml", "lair.isl")
WRITES = ("placement.isl",)
HEADER = """The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
x grows to the east, y to the south, both from 0 in the target rectangle."""
TURNS = """
wraps: { statement[iterators] -> [n, m] }, how often a placement wraps around the torus before, to
the east and to the south (Meister, Sec. VI.A.2)."""


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return placement.isl."""
    mapping = inputs.mapping()
    lair = read_lair(inputs.objects("lair.isl"))
    instances = lair.instances.union(lair.idle)
    width, height = parse_target(mapping.target)
    target = Rectangle(left=0, top=0, right=width - 1, bottom=height - 1).as_set()
    assert mapping.placement is not None, "a search has said where instances run"
    placement = complete(parse_map(mapping.placement), lair)
    objects: dict[str, isl.Set | isl.UnionMap] = {"target": target}
    torus = mapping.topology.kind == "torus"
    within = isl.Set.universe(target.space) if torus else target
    _check_idle(placement, lair, mapping.placement)
    check_placement(placement, instances, within, mapping.placement)
    placement = placement.intersect_domain(instances)
    objects["placement"] = placement
    if torus:
        objects["placement"], objects["wraps"] = fold(placement, (width, height))
    header = HEADER + TURNS if torus else HEADER
    return {"placement.isl": write_objects(header, objects, like=instances)}


def _check_idle(placement: isl.UnionMap, lair: Lair, text: IslText) -> None:
    """Raise UserError for an idle instance without a PE, if all that run have one."""
    missing = lair.idle.subtract(placement.domain())
    if missing.is_empty() or not lair.instances.is_subset(placement.domain()):
        return
    first = isl.UnionSet.from_set(list_sets(missing)[0].lexmin())
    name, element = find_example(first), find_example(first.apply(lair.writes))
    hint = f"{name} does not run, but {element}, to which nothing is reduced, lies at its place"
    raise UserError(f"placement is not total: {name} has no PE", text.place, hint)
