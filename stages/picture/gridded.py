"""The grid of a layout as a page shows it: roles, memory, the routes of colours, and ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.grid import (
    SIDES,
    Colours,
    Grid,
    coordinates,
    find_lines,
    members,
    read_colours,
    read_grid,
    read_roles,
)
from lairmake.stages.fabric.layout import DTYPES, Entry, Exit, Layout, Role
from lairmake.stages.picture.framed import Frame, find_frames
from lairmake.stages.picture.packing import Packed, pack
from lairmake.stages.poly.box import at_this_pe, bounding_box
from lairmake.stages.poly.functions import (
    PE_NAMES,
    evaluate_pw_aff,
    find_index_constants,
    project_names,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A local tensor: where it lies in the memory of each PE of a role, in bytes.

    `ends` are, for each dimension of the global tensor of which it holds a part, the least and the
    greatest index, [2 * dimension][height][width].
    """

    name: str
    type: str
    shape: tuple[int, ...]
    address: int
    bytes: int
    tensor: str | None = None
    ends: Packed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleOnPage:
    """A role: how many PEs have it, the bytes of its data and code, and its local tensors."""

    name: str
    pes: int
    data: int
    code: int
    tensors: tuple[Held, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where routers send what they hear from a side, in one position of their switches.

    `to` is [height][width], bit 0 for north, then east, south, west, ramp.
    """

    position: int
    side: str
    to: Packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A colour: its number, and its routes.

    Streams that pass one router are drawn side by side, each in a `lane` of its own.
    """

    name: str
    number: int
    lane: int
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """Where a tensor enters, or leaves: external PEs, and the colours of the wavelets there."""

    tensor: str
    way: str
    side: str
    sparse: bool
    colours: tuple[str, ...]
    x: Packed
    y: Packed


@dataclass(frozen=True, slots=True, kw_only=True)
class GridOnPage:
    """A rectangle of PEs from (west, north) on; `role` is [height][width], -1 for none.

    `frames` are the parts of a network on one fabric.
    """

    west: int
    north: int
    width: int
    height: int
    roles: tuple[RoleOnPage, ...]
    role: Packed
    streams: tuple[Stream, ...]
    ports: tuple[Port, ...]
    frames: tuple[Frame, ...] = ()


def describe_grid(layout: Layout, to_local: isl.UnionMap | None) -> GridOnPage:
    """Return what a page shows of a layout, and of which part of a tensor each PE holds.

    `to_local` is { [PE[x, y] -> T[e]] -> T_local[l] } of what it accesses; None where that is not
    known. Raises ValueError for a layout that is none.
    """
    grid = read_grid(layout.grid)
    roles = read_roles(layout.roles, grid)
    counts = np.bincount(roles + 1, minlength=len(layout.roles) + 1)[1:]
    ends = {} if to_local is None else find_parts(to_local, grid)
    return GridOnPage(
        west=grid.west, north=grid.north, width=grid.width, height=grid.height,
        roles=tuple(
            _role(name, role, int(count), ends)
            for (name, role), count in zip(layout.roles.items(), counts, strict=True)
        ),
        role=pack(roles.reshape(grid.height, grid.width)),
        streams=tuple(list_streams(read_colours(layout.colours, grid), layout, grid)),
        ports=tuple(list_ports(layout)),
        frames=find_frames(layout),
    )


def find_parts(to_local: isl.UnionMap, grid: Grid) -> dict[str, tuple[str, NDArray[np.int64]]]:
    """Return, by local tensor, the tensor it is of, and the ends of the part that each PE holds."""
    x, y = find_lines(grid)
    found = {}
    for tensor, relation in at_this_pe(to_local).items():
        local = relation.get_tuple_name(isl.dim_type.out)
        inside = relation.domain()
        elements = project_names(inside, find_index_constants(inside))
        values = {PE_NAMES[0]: x, PE_NAMES[1]: y}
        bounds = [
            np.broadcast_to(evaluate_pw_aff(bound, values)[0], (grid.height, grid.width))
            for k in range(elements.dim(isl.dim_type.set))
            for bound in (elements.dim_min(k), elements.dim_max(k))
        ]
        if bounds:
            found[local] = (tensor, np.stack(bounds))
    return found


def _role(
    name: str, role: Role, pes: int, parts: Mapping[str, tuple[str, NDArray[np.int64]]]
) -> RoleOnPage:
    tensors = []
    for local, held in role.tensors.items():
        tensor, ends = parts.get(local, (held.tensor, None))
        size = prod(held.shape) * DTYPES[held.type].itemsize
        tensors.append(Held(
            name=local, type=held.type, shape=held.shape, address=held.address, bytes=size,
            tensor=tensor, ends=None if ends is None else pack(ends),
        ))
    return RoleOnPage(
        name=name, pes=pes, data=role.memory.data, code=role.memory.code, tensors=tuple(tensors)
    )


def list_streams(colours: Colours, layout: Layout, grid: Grid) -> Iterator[Stream]:
    """Yield every colour with its routes, in the order of the layout."""
    lanes = find_lanes(np.any(colours.routes, axis=(0, 2)))
    for name, colour in layout.colours.items():
        routes = colours.routes[:, colour.number].reshape(-1, len(SIDES), grid.height, grid.width)
        yield Stream(
            name=name, number=colour.number, lane=lanes[colour.number],
            routes=tuple(
                Route(position=at, side=side, to=pack(routes[at, k]))
                for at in range(len(routes)) for k, side in enumerate(SIDES)
                if routes[at, k].any()
            ),
        )


def find_lanes(passing: NDArray[np.bool_]) -> list[int]:
    """Return for each colour the first lane of which no other one passes the same router.

    `passing` is [colour][PE]; a colour before has the lane before.
    """
    taken: list[NDArray[np.bool_]] = []
    lanes = []
    for here in passing:
        lane = next((k for k, there in enumerate(taken) if not (there & here).any()), len(taken))
        if lane == len(taken):
            taken.append(np.zeros_like(here))
        taken[lane] |= here
        lanes.append(lane)
    return lanes


def list_ports(layout: Layout) -> Iterator[Port]:
    """Yield where each tensor arrives and leaves."""
    for entry in layout.arrivals.values():
        yield _port(entry, "arrives", (entry.colour,))
    for leaving in layout.departures.values():
        yield _port(leaving, "leaves", leaving.colours)


def _port(port: Entry | Exit, way: str, colours: tuple[str, ...]) -> Port:
    places = find_places(isl.Map(port.order))
    return Port(
        tensor=port.tensor, way=way, side=port.side, sparse=port.sparse, colours=colours,
        x=pack(places[0]), y=pack(places[1]),
    )


def find_places(order: isl.Map) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return x and y of the external PEs of { T[e] -> [PE[x, y] -> index[i]] }."""
    places = order.range().unwrap().domain()
    if places.is_empty():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    (west, east), (north, south) = bounding_box(places)
    around = Grid(west=west, north=north, width=east - west + 1, height=south - north + 1)
    return coordinates(np.flatnonzero(members(places, around)), around)

def count_colours(layout: Layout, grid: Grid) -> NDArray[np.int64]:
    """Return how many colours pass each PE's router, [height][width]."""
    routes = read_colours(layout.colours, grid).routes
    passing = routes.any(axis=(0, 2)).sum(axis=0)
    return np.asarray(passing.reshape(grid.height, grid.width), dtype=np.int64)
