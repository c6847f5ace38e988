"""Say which PE runs every instance.

Paper    V Sec. 4.1.2, Listing 2
Reads    layer.yaml, lair.isl
Writes   placement.isl    { statement[iterators] -> PE[x, y] }, the target, wraps on a torus
Assumes  nothing of the layer's text.
Ensures  the placement is total, single-valued and inside the target; that on a torus is folded.
"""

from __future__ import annotations

import re
import typing

import islpy as isl

from stages.diagnose import UserError
from stages.layer.routes.completion import complete
from stages.layer.routes.tiling import choose, fit, name_iterators
from stages.mapping.relations import check_placement
from stages.mapping.texts import parse_map, parse_target
from stages.poly.pieces import list_sets
from stages.poly.side import Rectangle
from stages.poly.text import write_objects
from stages.skewing.elements import read_lair
from stages.skewing.torus import fold

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import LayerInputs
    from stages.mapping.isl_text import IslText
    from stages.mapping.layer_yaml import Mapping
    from stages.skewing.elements import Lair

READS = ("layer.yaml", "lair.isl")
WRITES = ("placement.isl",)
HEADER = """The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
x grows to the east, y to the south, both from 0 in the target rectangle."""
TURNS = """
wraps: { statement[iterators] -> [n, m] }, how often a placement wraps around the torus before, to
the east and to the south (Meister, Sec. VI.A.2)."""
DIRECTION = re.compile(r"\s*\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)\s*")


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return placement.isl."""
    mapping = inputs.mapping()
    lair = read_lair(inputs.objects("lair.isl"))
    instances = lair.instances.union(lair.idle)
    width, height = parse_target(mapping.target)
    rectangle = Rectangle(left=0, top=0, right=width - 1, bottom=height - 1)
    target = rectangle.as_set()
    placement = _placement(mapping, lair, rectangle)
    objects: dict[str, isl.Set | isl.UnionMap] = {"target": target}
    torus = mapping.topology.kind == "torus"
    if mapping.placement is not None:
        within = isl.Set.universe(target.space) if torus else target
        check_placement(placement, instances, within, mapping.placement)
    placement = placement.intersect_domain(instances)
    objects["placement"] = placement
    if torus:
        objects["placement"], objects["wraps"] = fold(placement, (width, height))
    header = HEADER + TURNS if torus else HEADER
    return {"placement.isl": write_objects(header, objects, like=instances)}


def _placement(mapping: Mapping, lair: Lair, target: Rectangle) -> isl.UnionMap:
    """Return the placement given, and completed; tiled from a direction `(j, i)`; or chosen."""
    text = mapping.placement
    if text is None:
        return choose(mapping, lair, target)
    match = DIRECTION.fullmatch(text.text)
    if match is None:
        return complete(parse_map(text), lair)
    for iterator in filter(None, match.groups()):
        _check_iterator(iterator, lair.instances, text)
    return fit((match.group(1), match.group(2)), mapping, lair, target)


def _check_iterator(iterator: str, instances: isl.UnionSet, text: IslText) -> None:
    """Raise UserError if some statement has no such iterator."""
    for statement in list_sets(instances):
        names = name_iterators(statement)
        if iterator not in names:
            start = text.text.index(iterator)
            raise UserError(
                f"{statement.get_tuple_name()} has no iterator {iterator}",
                text.span(start, start + len(iterator)),
                f"its iterators are {', '.join(names)}",
            )
