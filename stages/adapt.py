"""Peel borders off the target, so that all data flows along rows or along columns.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, eqs. (5) (6) (10)
Reads    layer.yaml, lair.isl, placement.isl
Writes   adapted.isl    target, grid, placement, sources, arrivals, departures
Assumes  the placement is total, single-valued and inside the target.
Ensures  PE[0, 0] is the first computing PE; every element that a PE needs arrives on its row or
         column; every element that leaves is computed on the row or column of its port.
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.lair.adaptation import Adaptation
from stages.poly.side import bounding_rectangle
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.make.inputs import Inputs

READS = ("layer.yaml", "lair.isl", "placement.isl")
WRITES = ("adapted.isl",)
HEADER = """What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
placement: { statement[iterators] -> PE[x, y] }, eq. (10).
arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
sources: how tensors reach the grid from outside, before adapters."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return adapted.isl."""
    placed = inputs.objects("placement.isl")
    target = bounding_rectangle(isl.Set.from_union_set(placed["target"]))
    lair = inputs.objects("lair.isl")
    adaptation = Adaptation(inputs.mapping(), lair, placed["placement"], target)
    adaptation.check()
    return {"adapted.isl": write_objects(HEADER, adaptation.objects())}
