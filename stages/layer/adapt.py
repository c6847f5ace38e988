"""Peel borders off the target, so that all data flows along rows or along columns.

Paper    V Sec. 4.2, (5) (6) (10)
Reads    layer.yaml, chosen.yaml, lair.isl, placement.isl
Writes   adapted.isl    target, grid, placement, sources, arrivals, departures; moves; feedback
Assumes  the placement is total, single-valued and inside the target.
Ensures  PE[0, 0] is the first computing PE; every element that a PE needs arrives on its row or
         column; every element that leaves is computed on the row or column of its port, or of the
         adapter that collects it. What a statement reads and another PE computes does both, but for
         what neighbours exchange for the next invocation.
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.layer.routes.adaptation import (
    check_room,
    choose_adaptation,
    describe_adapted,
    find_demand,
    find_peeled_sides,
    peel,
)
from lairmake.stages.poly.sides import bounding_rectangle
from lairmake.stages.poly.text import write_objects
from lairmake.stages.skewing.elements import read_lair

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs

READS = ("layer.yaml: tensors, moves", "chosen.yaml", "lair.isl", "placement.isl")
WRITES = ("adapted.isl",)
HEADER = """What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
placement: { statement[iterators] -> PE[x, y] }, eq. (10).
arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
sources: how tensors reach the grid from outside, before adapters."""
OFFSET_HEADER = """
PE[0, 0] here, and in all texts that follow, is PE[{x}, {y}] of layer.yaml."""
COLLECTED_HEADER = """
collected: how sums that departures bring to adapters leave the grid."""
PARTS_HEADER = """
T_side_partN: the ports at which elements of a tensor that comes in several streams are taken."""
MOVES_HEADER = """
moves: { T[element] -> [PE[x, y] -> PE[x', y']] }: PE[x, y] computes what the element of T is in the
next invocation, and PE[x', y'], which is near, needs it."""
RETURNS_HEADER = """
feedback: { T_feedback[e] -> T[e] } of what is needed elsewhere than where it is computed:
T_feedback departs, and arrives again. reads, carried: those of lair.isl, with T_feedback."""
VIEWS_HEADER = """
views: those of lair.isl, with T_feedback."""


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return adapted.isl."""
    placed = inputs.objects("placement.isl")
    target = bounding_rectangle(isl.Set.from_union_set(placed["target"]))
    lair = read_lair(inputs.objects("lair.isl"))
    adaptation = choose_adaptation(find_demand(inputs.mapping(), lair, placed["placement"], target))
    check_room(adaptation)
    objects = describe_adapted(adaptation)
    header = HEADER + COLLECTED_HEADER if "collected" in objects else HEADER
    if any("_part" in name for name in objects):
        header += PARTS_HEADER
    if "moves" in objects:
        header += MOVES_HEADER
    if "feedback" in objects:
        header += RETURNS_HEADER
    if "views" in objects:
        header += VIEWS_HEADER
    core = peel(target, find_peeled_sides(adaptation))
    if (core.left, core.top) != (0, 0):
        header += OFFSET_HEADER.format(x=core.left, y=core.top)
    return {"adapted.isl": write_objects(header, objects)}
