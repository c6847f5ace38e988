"""Halos: elements that neighbours have of each other, in rounds, and the routes for them."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.movement.flow import Routes, route_at
from lairmake.stages.poly.canonical import find_example
from lairmake.stages.poly.sides import SIDES

# --- Patterns of movement -------------------------------------------------------------------------
#
# What moves is { T[e] -> [PE -> PE'] }: an element of a tensor, who has it, and who needs it. It is
# a halo where all who need elements are neighbours of those that have them. Elements go to the
# sides at once; where some are needed by neighbours at a corner, along one axis first, and then on
# along the other one, with what neighbours at the sides need.
#
# Source   halo exchanges of stencil codes, in which rows are sent with what columns brought

Axis = typing.Literal["x", "y"]
AXES: dict[Axis, tuple[str, str]] = {"x": ("E", "W"), "y": ("S", "N")}
"""The sides to which elements move along an axis, those that move to the first one before others.
"""
STEPS = {"E": (1, 0), "W": (-1, 0), "S": (0, 1), "N": (0, -1)}
"""From a PE to its neighbour on a side."""
STRAIGHT: dict[Axis, str] = {
    "x": "{ [PE[x, y] -> PE[u, v]] -> [PE[x, y] -> PE[u, y]] : u != x }",
    "y": "{ [PE[x, y] -> PE[u, v]] -> [PE[x, y] -> PE[x, v]] : v != y }",
}
"""The first part of a way, along an axis."""
ACROSS: dict[Axis, str] = {
    "x": "{ [PE[x, y] -> PE[u, v]] -> [PE[x, v] -> PE[u, v]] : u != x }",
    "y": "{ [PE[x, y] -> PE[u, v]] -> [PE[u, y] -> PE[u, v]] : v != y }",
}
"""The last part of a way, along an axis, after one along the other axis."""
NEAR = "{ PE[x, y] : -1 <= x <= 1 and -1 <= y <= 1 }"
CORNERS = "{ PE[x, y] : x != 0 and y != 0 }"


class NoHaloError(Exception):
    """The reason why what moves is no halo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What moves at once: { T[e] -> [PE -> PE'] } by the side on which PE' is a neighbour of PE."""

    sides: dict[str, isl.Map]

    def along(self, axis: Axis) -> dict[str, isl.Map]:
        """Return what moves along an axis."""
        return {side: self.sides[side] for side in AXES[axis] if side in self.sides}


def find_rounds(moved: isl.Map, pes: isl.Set) -> tuple[Round, ...]:
    """Return the rounds of a halo, given { T[e] -> [PE -> PE'] } and the PEs that may take part.

    Raises NoHaloError if it is none.
    """
    steps = moved.range().unwrap().deltas()
    if not steps.is_subset(isl.Set(NEAR)):
        far = steps.subtract(isl.Set(NEAR)).lexmin()
        raise NoHaloError(_describe(moved, far))
    if steps.is_disjoint(isl.Set(CORNERS)):
        return (_round(moved, moved),)
    orders: tuple[tuple[Axis, Axis], ...] = (("x", "y"), ("y", "x"))
    for first, second in orders:
        before = moved.apply_range(isl.Map(STRAIGHT[first]))
        if before.range().unwrap().range().is_subset(pes):
            after = moved.apply_range(isl.Map(ACROSS[second]))
            return tuple(_round(each, each) for each in (before, after))
    corner = steps.intersect(isl.Set(CORNERS)).lexmin()
    raise NoHaloError(f"{_describe(moved, corner)}, and not both have a neighbour that computes")


def _describe(moved: isl.Map, step: isl.Set) -> str:
    """Return who needs what of whom, of those that are so many steps away."""
    ways = moved.range().unwrap().deltas_map().intersect_range(step).domain()
    one = moved.intersect_range(ways).lexmin()
    one = one.intersect_domain(one.domain().lexmin())
    pair = one.range().unwrap()
    element, owner, user = map(find_example, (one.domain(), pair.domain(), pair.range()))
    return f"{element} of {owner} is needed on {user}"


def _round(along_x: isl.Map, along_y: isl.Map) -> Round:
    """Return what moves to each side, of what moves along the axes."""
    found = {}
    for axis, sides in AXES.items():
        for side in sides:
            x, y = STEPS[side]
            one = isl.Map(f"{{ PE[x, y] -> PE[x + ({x}), y + ({y})] }}")
            here = (along_x if axis == "x" else along_y).intersect_range(one.wrap()).coalesce()
            if not here.is_empty():
                found[side] = here
    return Round(sides=found)


def list_members(rounds: Sequence[Round]) -> Iterator[isl.Map]:
    """Yield { T[e] -> PE } of those that send elements, and of those that take them."""
    for each in rounds:
        for moved in each.sides.values():
            yield moved.range_factor_domain()
            yield moved.range_factor_range()

# --- Routes of a halo -----------------------------------------------------------------------------
#
# An axis has two colours, by the parity of the coordinate of those that send: neighbours send on
# different ones. A router that sends both ways, or hears from both sides, has two positions. Behind
# what it sends to one side a PE sends a command to advance, which its own router and that of the
# neighbour obey; behind the last one both are in their first position again. All send to the east,
# or to the south, first; all hear from the west, or from the north, first.
#
# No PE waits for ever. What goes to the first side of an axis is heard by all who take it at once,
# for they hear it first; then what goes to the other side is.
#
# Source   Cerebras SDK, switches of colours

def find_turning_routes(
    moved: dict[str, isl.Map], axis: Axis, parity: int
) -> tuple[Routes, Routes]:
    """Return the routes of a colour in both positions of routers: of one that turns, others stay.

    `moved` are { T[e] -> [PE -> PE'] } by side, of the axis; PEs of the parity send on it.
    """
    sends = isl.Set(f"{{ PE[x, y] : {axis} mod 2 = {parity} }}")
    hears = isl.Set(f"{{ PE[x, y] : {axis} mod 2 = {1 - parity} }}")
    none = isl.Set("{ PE[x, y] : false }")
    pairs = {side: each.range().unwrap() for side, each in moved.items()}
    out = [pairs[s].domain().intersect(sends) if s in pairs else none for s in AXES[axis]]
    into = [pairs[s].range().intersect(hears) if s in pairs else none for s in AXES[axis]]
    ways = [(out[k], "ramp", side) for k, side in enumerate(AXES[axis])]
    heard = [(into[k], SIDES[side].far, "ramp") for k, side in enumerate(AXES[axis])]
    found = []
    for now, other in ((0, 1), (1, 0)):
        stay = [(each[other][0].subtract(each[now][0]), *each[other][1:]) for each in (ways, heard)]
        found.append(route_at(ways[now], heard[now], *stay))
    return found[0], found[1]
