"""Halos: elements that neighbours have of each other, in rounds, and the routes for them."""

from __future__ import annotations

import contextlib
import itertools
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.movement.flow import Routes, route_at
from lairmake.stages.poly.canonical import find_example
from lairmake.stages.poly.cardinality import count_most
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import SIDES

# --- Patterns of movement -------------------------------------------------------------------------
#
# What moves is { T[e] -> [PE -> PE'] }: an element of a tensor, who has it, and who needs it. It is
# a halo where all who need elements are near those that have them, and PEs on the way, which pass
# them on: a step in a round. Elements go to all sides at once; where some are needed along both
# axes, along one axis first, and then on along the other one, with what PEs on the axes need.
#
# Source   halo exchanges of stencil codes, in which rows are sent with what columns brought

Axis = typing.Literal["x", "y"]
AXES: dict[Axis, tuple[str, str]] = {"x": ("E", "W"), "y": ("S", "N")}
"""The sides to which elements move along an axis, those that move to the first one before others.
"""
STEPS = {"E": (1, 0), "W": (-1, 0), "S": (0, 1), "N": (0, -1)}
"""From a PE to its neighbour on a side."""
MOST_STEPS = 4
"""The most steps of a halo along an axis."""
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
    near = isl.Set(f"{{ PE[x, y] : -{MOST_STEPS} <= x, y <= {MOST_STEPS} }}")
    if not steps.is_subset(near):
        raise NoHaloError(f"{_describe(moved, steps.subtract(near))}, more than {MOST_STEPS} away")
    alone = _find_alone(moved.range().unwrap())
    if not alone.is_empty():
        raise NoHaloError(f"{_describe(moved, alone)}, which needs nothing of a PE between")
    if steps.is_disjoint(isl.Set(CORNERS)):
        hops = [_list_hops(moved, axis, first=True) for axis in AXES]
        both = itertools.zip_longest(*hops, fillvalue={})
        orders = [tuple(Round(sides=one | other) for one, other in both)]
    else:
        ways: tuple[tuple[Axis, Axis], ...] = (("x", "y"), ("y", "x"))
        orders = [
            tuple(Round(sides=each) for each in (
                *_list_hops(moved, first, first=True), *_list_hops(moved, then, first=False)
            ))
            for first, then in ways
        ]
    for rounds in orders:
        if all(taken.is_subset(pes) for taken in _list_takers(rounds)):
            return rounds
    raise NoHaloError(f"{_describe(moved, steps)}, and not all PEs between compute")


def _describe(moved: isl.Map, steps: isl.Set) -> str:
    """Return who needs what of whom, so many steps away."""
    ways = moved.range().unwrap().deltas_map().intersect_range(steps.lexmax()).domain()
    one = moved.intersect_range(ways).lexmin()
    one = one.intersect_domain(one.domain().lexmin())
    pair = one.range().unwrap()
    element, owner, user = map(find_example, (one.domain(), pair.domain(), pair.range()))
    return f"{element} of {owner} is needed on {user}"


def _find_alone(pairs: isl.Map) -> isl.Set:
    """Return the steps of { PE -> PE' } such that PE' needs nothing of who is a step nearer.

    Of those that are several steps long, along the axis of most: what passes PEs between is then of
    no use to them.
    """
    found = isl.Set("{ PE[x, y] : false }")
    for next_, long in (
        ("PE[x + 1, y]", "u - x > 1 and u - x >= v - y, y - v"),
        ("PE[x - 1, y]", "x - u > 1 and x - u >= v - y, y - v"),
        ("PE[x, y + 1]", "v - y > 1 and v - y > u - x, x - u"),
        ("PE[x, y - 1]", "y - v > 1 and y - v > u - x, x - u"),
    ):
        nearer = isl.Map(f"{{ [PE[x, y] -> PE[u, v]] -> [{next_} -> PE[u, v]] : {long} }}")
        lacking = pairs.wrap().apply(nearer).subtract(pairs.wrap()).apply(nearer.reverse())
        found = found.union(lacking.unwrap().intersect(pairs).deltas())
    return found


def _list_hops(moved: isl.Map, axis: Axis, *, first: bool) -> list[dict[str, isl.Map]]:
    """Return what moves along an axis, by step and side: `first`, or after the other axis."""
    found: list[dict[str, isl.Map]] = []
    for number in range(1, MOST_STEPS + 1):
        sides = {side: _hop(moved, axis, side, number, first=first) for side in AXES[axis]}
        some = {side: each for side, each in sides.items() if not each.is_empty()}
        if some:
            found.append(some)
    return found


def _hop(moved: isl.Map, axis: Axis, side: str, number: int, *, first: bool) -> isl.Map:
    """Return what moves to a side in a step of so many, along an axis."""
    sign = sum(STEPS[side])
    (here, there), other = (("x", "u"), "y") if axis == "x" else (("y", "v"), "x")
    rest = other if first else {"x": "u", "y": "v"}[other]
    ends = (f"{here} + ({sign * (number - 1)})", f"{here} + ({sign * number})")
    places = [f"PE[{end}, {rest}]" if axis == "x" else f"PE[{rest}, {end}]" for end in ends]
    return moved.apply_range(isl.Map(
        f"{{ [PE[x, y] -> PE[u, v]] -> [{places[0]} -> {places[1]}] : "
        f"{sign} * ({there} - {here}) >= {number} }}"
    )).coalesce()


def _list_takers(rounds: Sequence[Round]) -> Iterator[isl.Set]:
    """Yield { PE } that take elements, by round and side."""
    for each in rounds:
        for moved in each.sides.values():
            yield moved.range().unwrap().range()

# --- Elements that all PEs send alike -------------------------------------------------------------
#
# PEs at the ends of a field need less of their neighbours than those between. Where all send what
# some do, seen from the first element of each one's own, sizes and addresses are the same for all,
# and need not be computed; no PE sends more than one did.

MOST_OPERATIONS = 200_000
"""Operations that isl may spend on what all PEs send alike."""


def send_alike(rounds: Sequence[Round], own: isl.Map) -> tuple[Round, ...]:
    """Return rounds, in the first of which all PEs send what some do.

    `own` are { T[e] -> PE } of what they compute.
    """
    first, *others = rounds
    sides = {side: _widened(moved, own) for side, moved in first.sides.items()}
    return (Round(sides=sides), *others)


def _widened(moved: isl.Map, own: isl.Map) -> isl.Map:
    """Return { T[e] -> [PE -> PE'] } with what others send; as it is where isl needs long to tell.
    """
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        least = own.reverse().lexmin()
        sent = moved.range_factor_domain()
        between = isl.Map.universe(own.domain().get_space().map_from_set()).deltas_map()
        alike = least.range_product(sent.reverse()).apply_range(between).range().coalesce()
        again = between.intersect_range(alike).domain().unwrap()
        wide = least.apply_range(again).intersect(own.reverse()).reverse().coalesce()
        found = wide.range_product(wide.apply_range(moved.range().unwrap())).coalesce()
        if count_most(wide.reverse()) == count_most(sent.reverse()):
            return found
    return moved

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
