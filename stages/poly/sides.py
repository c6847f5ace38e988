"""Sides of a rectangle, and the order in which elements pass one."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, greatest, least, name_indices

# --- Sides of a rectangle, and turns --------------------------------------------------------------
#
# Every side is treated as the north one: a turn maps PE[x, y] to [lane, depth], where depth counts
# from 0 at the side inwards and -1 is the external PE, and lanes run along the side.

@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """The PEs [left : right, top : bottom], bounds inclusive."""

    left: int
    top: int
    right: int
    bottom: int

    def as_set(self) -> isl.Set:
        """Return { PE[x, y] } of the rectangle."""
        return isl.Set(
            f"{{ PE[x, y] : {self.left} <= x <= {self.right} "
            f"and {self.top} <= y <= {self.bottom} }}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A side by name, and the names of the sides around it once it is turned to the top."""

    name: str
    word: str
    far: str
    left: str
    right: str


SIDES = {
    "N": Side(name="N", word="north", far="S", left="W", right="E"),
    "W": Side(name="W", word="west", far="E", left="N", right="S"),
    "S": Side(name="S", word="south", far="N", left="W", right="E"),
    "E": Side(name="E", word="east", far="W", left="N", right="S"),
}


def turn(side: str, rectangle: Rectangle) -> isl.Map:
    """Return { PE[x, y] -> [lane, depth] }, a bijection on all of the plane."""
    pattern = {
        "N": f"PE[x, y] -> [x, y - {_int(rectangle.top)}]",
        "S": f"PE[x, y] -> [x, {_int(rectangle.bottom)} - y]",
        "W": f"PE[x, y] -> [y, x - {_int(rectangle.left)}]",
        "E": f"PE[x, y] -> [y, {_int(rectangle.right)} - x]",
    }[side]
    return isl.Map(f"{{ {pattern} }}")


def ports(side: str, rectangle: Rectangle) -> isl.Set:
    """Return { PE[x, y] } of the external PEs that touch the rectangle on a side."""
    lanes = (rectangle.left, rectangle.right) if side in "NS" else (rectangle.top, rectangle.bottom)
    strip = isl.Set(f"{{ [lane, -1] : {lanes[0]} <= lane <= {lanes[1]} }}")
    return strip.apply(turn(side, rectangle).reverse())


def bounding_rectangle(pes: isl.Set) -> Rectangle:
    """Return the smallest rectangle that holds a non-empty bounded set { PE[x, y] }."""
    (left, right), (top, bottom) = bounding_box(pes)
    return Rectangle(left=left, top=top, right=right, bottom=bottom)


def _int(value: int) -> str:
    return f"({value})"

# --- Orders of elements ---------------------------------------------------------------------------
#
# An order says with which index an element reaches or leaves a PE: { tensor[element] ->
# [PE[x, y] -> index[i]] }. Its index symbolic constants are index0, ..., index; see `name_indices`.
#
# Paper    V Sec. 4.1.2, 5.1

def on_side(order: isl.Map, side: str, rectangle: Rectangle) -> isl.Map:
    """Return the part of an order at the external PEs on a side of a rectangle."""
    return at_places(order, ports(side, rectangle))


def at_places(order: isl.Map, pes: isl.Set) -> isl.Map:
    """Return the part of an order at the given { PE[x, y] }."""
    return order.intersect_range(_pairs(order, pes).wrap())


def behind_ports(order: isl.Map, side: str, rectangle: Rectangle) -> isl.Map:
    """Return the order, on a side, at all PEs of the row or column of each port.

    { t[e] -> [PE -> index] : t[e] has that index at the external PE on the lane of PE }.
    """
    turned = turn(side, rectangle)
    inwards = isl.Map("{ [lane, depth] -> [lane, d] : depth < d }")
    behind = turned.apply_range(inwards).apply_range(turned.reverse())
    return relocate(on_side(order, side, rectangle), behind)


def relocate(order: isl.Map, move: isl.Map) -> isl.Map:
    """Return { t[e] -> [move(PE) -> index] }."""
    keep = isl.Map.identity(order.range().unwrap().range().get_space().map_from_set())
    return order.apply_range(move.product(keep))


def taken_by(order: isl.Map, taken: isl.Map) -> isl.Map:
    """Return the part of an order where { t[e] -> PE } holds."""
    pairs = _pairs(order, taken.range())
    return order.intersect(taken.apply_range(pairs.domain_map().reverse()))


def at_pe(order: isl.Map) -> isl.Map:
    """Return [PE_X, PE_Y] -> { index[i] -> t[e] } of the elements that reach a PE."""
    return bind_domain(order.reverse().curry(), PE_NAMES).unwrap()


def at_index(order: isl.Map) -> isl.Set:
    """Return [PE_X, PE_Y, index...] -> { t[e] } of the element that reaches a PE with an index."""
    by_index = at_pe(order)
    return bind_domain(by_index, name_indices(by_index.dim(isl.dim_type.in_)))


def fix_outer(at: isl.Map, names: list[str]) -> isl.Map:
    """Return [names] -> { index[i] -> t[e] } of { index[names, i] -> t[e] }."""
    listed, left = ", ".join(names), at.dim(isl.dim_type.in_) - len(names)
    kept = letters(left)
    inner = isl.Map(
        f"[{listed}] -> {{ index[{', '.join(kept)}] -> index[{', '.join([*names, *kept])}] }}"
    )
    return inner.apply_range(at)


def heard(source: isl.Map, chosen: isl.Map, sent: isl.Map) -> isl.Map:
    """Return the order, at each adapter, of all that its port sends.

    `source` is the order at the ports, `sent` the one in which adapters send elements on: the
    port of an adapter is the one at which these are taken, { t[e] -> port } in `chosen`.
    """
    return relocate(source, chosen.reverse().apply_range(sent.range_factor_domain()))


def find_index_filter(arriving: isl.Map, wanted: isl.Map) -> isl.Map | None:
    """Return { PE -> [least, greatest] }, the inner indices of the wanted elements of an order.

    None if everything that arrives is wanted, or something else has an index between the two.
    """
    everything, some = arriving.range().unwrap(), wanted.range().unwrap()
    if everything.is_subset(some):
        return None
    outer = some.dim(isl.dim_type.out) - 1
    inner = some.project_out(isl.dim_type.out, 0, outer).reset_tuple_id(isl.dim_type.out)
    interval = least(inner).flat_range_product(greatest(inner))
    passing = everything.intersect(_between(interval, some))
    return interval if passing.is_subset(some) else None


def apply_filter(order: isl.Map, interval: isl.Map) -> isl.Map:
    """Return the part of an order that a filter { PE -> [least, greatest] } lets pass."""
    return order.intersect_range(_between(interval, order.range().unwrap()).wrap())


def find_outer_box(order: isl.Map) -> list[list[int]]:
    """Return [least, greatest] of every outer index, over all ports."""
    index = order.range_factor_range().range()
    return [[low, high] for low, high in bounding_box(index)[:-1]]


def _between(interval: isl.Map, like: isl.Map) -> isl.Map:
    """Return { PE -> index[o, i] : least <= i <= greatest } in the space of `like`."""
    outer = "".join(f"o{k}, " for k in range(like.dim(isl.dim_type.out) - 1))
    return interval.apply_range(
        isl.Map(f"{{ [least, greatest] -> index[{outer}i] : least <= i <= greatest }}")
    )


def _pairs(order: isl.Map, pes: isl.Set) -> isl.Map:
    """Return { PE -> index } of the given PEs and any index of an order."""
    index = isl.Set.universe(order.range().unwrap().range().get_space())
    return isl.Map.from_domain_and_range(pes, index)
