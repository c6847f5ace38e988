"""The rectangle of PEs of a layout: which role each one has, and where its router sends what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.layout_yaml import Role
from lairmake.stages.fabric.library import MAX_POSITIONS
from lairmake.stages.fabric.switches import find_counts, read_switches
from lairmake.stages.movement.flow import Colour
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    bind_set,
    evaluate_pw_aff,
    evaluate_set,
    find_function,
)

SIDES = ("N", "E", "S", "W", "ramp")
STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0), "ramp": (0, 0)}
"""How far the neighbour on a side is, in x and y."""

OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
"""The side on which a neighbour hears what leaves on a side."""

EVERY_INDEX = (0, 65535)
"""What a router without filter hands to its PE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A rectangle of PEs; PE number k is column k % width of row k // width."""

    west: int
    north: int
    width: int
    height: int

    @property
    def size(self) -> int:
        """The number of PEs."""
        return self.width * self.height


def read_grid(text: str) -> Grid:
    """Return the rectangle `{ PE[x, y] : ... }`. Raises ValueError if it is none."""
    elements = isl.Set(text)
    if elements.dim(isl.dim_type.set) != 2 or elements.is_empty() or not elements.is_box():
        raise ValueError(f"the grid {text} is not a rectangle of PEs")
    (west, east), (north, south) = bounding_box(elements)
    return Grid(west=west, north=north, width=east - west + 1, height=south - north + 1)


def members(elements: isl.Set, grid: Grid) -> Bools:
    """Return which PEs of the grid are in `{ PE[x, y] : ... }`, as an array [height, width]."""
    values = dict(zip(PE_NAMES, find_lines(grid), strict=True))
    return evaluate_set(bind_set(elements, PE_NAMES), values)


def find_lines(grid: Grid) -> tuple[Ints, Ints]:
    """Return x of all columns as [1, width], and y of all rows as [height, 1]."""
    x = grid.west + np.arange(grid.width, dtype=np.int64)
    y = grid.north + np.arange(grid.height, dtype=np.int64)
    return x[None, :], y[:, None]


def coordinates(numbers: Ints, grid: Grid) -> tuple[Ints, Ints]:
    """Return x and y of the PEs with these numbers."""
    return grid.west + numbers % grid.width, grid.north + numbers // grid.width


def find_neighbours(numbers: Ints, grid: Grid, side: str) -> tuple[Bools, Ints]:
    """Return which PEs have a neighbour on a side, and its number."""
    column, row = numbers % grid.width + STEPS[side][0], numbers // grid.width + STEPS[side][1]
    inside = (column >= 0) & (column < grid.width) & (row >= 0) & (row < grid.height)
    return inside, row * grid.width + column


def read_roles(roles: Mapping[str, Role], grid: Grid) -> NDArray[np.int32]:
    """Return the position in `roles` of each PE's role, -1 for none, as an array [PE].

    Raises ValueError if a PE has two roles.
    """
    result = np.full((grid.height, grid.width), -1, dtype=np.int32)
    for number, (name, role) in enumerate(roles.items()):
        here = members(isl.Set(role.at), grid)
        if np.any(result[here] >= 0):
            raise ValueError(f"a PE of role {name} has another role, too")
        result[here] = number
    return result.reshape(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """The colours of a layout by number, and their routes.

    `routes` is [position][colour][side from][PE] and holds the sides to go to, bit 0 for north,
    then east, south, west, ramp; nothing in positions that a PE's switch has not. `switches` is
    [PE][colour], a byte each; a run moves them. `filters` has, for each colour, by PE the least and
    the greatest index of the sparse elements that a router hands to its PE, or None for all.
    """

    names: tuple[str, ...]
    switches: NDArray[np.uint8]
    routes: NDArray[np.uint8]
    filters: tuple[NDArray[np.int32] | None, ...]


def read_colours(colours: Mapping[str, Colour], grid: Grid) -> Colours:
    """Return the routes of all colours. Raises ValueError if a number or a side is wrong."""
    names = _names(colours)
    positions = {
        colours[name].number: _positions(colours[name]) for name in names if name in colours
    }
    most = max(map(len, positions.values()), default=1)
    if most > MAX_POSITIONS:
        raise ValueError(f"a route has {most} positions; at most {MAX_POSITIONS} fit")
    shape = (most, len(names), len(SIDES), grid.height, grid.width)
    routes = np.zeros(shape, dtype=np.uint8)
    for number, texts in positions.items():
        for position, text in enumerate(texts):
            _add_routes(routes[position, number], text, grid)
    flat = routes.reshape(*shape[:3], grid.size)
    switches = np.zeros((grid.size, len(names)), dtype=np.uint8)
    for colour in colours.values():
        _set_switches(switches, flat, colour, grid)
    filters: list[NDArray[np.int32] | None] = [None] * len(names)
    for colour in colours.values():
        if colour.filter is not None:
            filters[colour.number] = _read_filter(colour.filter, grid)
    return Colours(names=names, switches=switches, routes=flat, filters=tuple(filters))


def _set_switches(
    switches: NDArray[np.uint8], routes: NDArray[np.uint8], colour: Colour, grid: Grid
) -> None:
    """Set the switches of a colour, and leave out routes in positions that they have not."""
    x, y = find_lines(grid)
    counts = find_counts(colour, len(_positions(colour)), x, y)
    byte = read_switches(colour, counts, x, y)
    switches[:, colour.number] = np.broadcast_to(byte, (grid.height, grid.width)).reshape(-1)
    for position, each in enumerate(routes[:, colour.number]):
        np.copyto(each.reshape(-1, grid.height, grid.width), 0, where=counts <= position)


def _read_filter(text: str, grid: Grid) -> NDArray[np.int32]:
    """Return least and greatest index of each PE, as `{ PE[x, y] -> [least, greatest] }` says."""
    filters = np.empty((grid.size, 2), dtype=np.int32)
    filters[:] = EVERY_INDEX
    interval = find_function(bind_domain(isl.Map(text), PE_NAMES))
    x, y = coordinates(np.arange(grid.size, dtype=np.int64), grid)
    for position in range(2):
        bound = interval.get_pw_aff(position)
        value, defined = evaluate_pw_aff(bound, {PE_NAMES[0]: x, PE_NAMES[1]: y})
        filters[defined, position] = value[defined]
    return filters


def _names(colours: Mapping[str, Colour]) -> tuple[str, ...]:
    """Return the name of each number; numbers that are not used get one, too."""
    numbers = [colour.number for colour in colours.values()]
    if len(set(numbers)) != len(numbers) or any(number < 0 for number in numbers):
        raise ValueError(f"the colours' numbers {numbers} are not distinct and not negative")
    by_number = {colour.number: name for name, colour in colours.items()}
    return tuple(by_number.get(i, f"colour {i}") for i in range(max(numbers, default=0) + 1))


def _positions(colour: Colour) -> Sequence[str]:
    return colour.positions or [colour.routes or "{ }"]


def _add_routes(routes: NDArray[np.uint8], text: str, grid: Grid) -> None:
    """Add `{ [PE[x, y] -> from[]] -> to[] }` to one position of one colour."""
    relations: list[isl.Map] = []
    isl.UnionMap(text).foreach_map(relations.append)
    for relation in relations:
        wrapped = relation.domain().unwrap()
        side = _side(wrapped.range().get_tuple_name())
        target = _side(relation.range().get_tuple_name())
        here = members(wrapped.domain(), grid)
        routes[side] |= here.astype(np.uint8) << target


def _side(name: str | None) -> int:
    if name not in SIDES:
        raise ValueError(f"a route names the side {name}; known are {', '.join(SIDES)}")
    return SIDES.index(name)
