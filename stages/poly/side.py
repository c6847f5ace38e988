"""The four sides of a rectangle, and the turn that puts one of them on top.

Every side is treated as the north one: a turn maps PE[x, y] to [lane, depth], where depth counts
from 0 at the side inwards and -1 is the external PE, and lanes run along the side.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.extents import bounding_box


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
