"""Grid of a layout on a page, and heat maps, bins and path of a run on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import DTYPES
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
from lairmake.stages.fabric.layout import FabricLayout, PortEntry, PortExit, Role
from lairmake.stages.picture.page import Ints, PackedArray, pack, pack_within
from lairmake.stages.poly.arrays import evaluate_pw_aff
from lairmake.stages.poly.box import at_this_pe, bounding_box
from lairmake.stages.poly.functions import PE_NAMES, find_index_constants, project_names

# --- Floorplan of a network on one fabric ---------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The least rectangle with all PEs that run programs of a part, bridges left out.

    `x` and `y` are those of its north-west corner, `origin` those of PE[0, 0] of its layer.yaml.
    `streams` has its names for the colours of the fabric.
    """

    part: str
    x: int
    y: int
    width: int
    height: int
    origin: tuple[int, int]
    streams: Mapping[str, str] = field(default_factory=dict)


def find_frames(layout: FabricLayout) -> tuple[Frame, ...]:
    """Return the frames of the parts of a layout, whose roles have names `part.role`."""
    parts: dict[str, list[Role]] = {}
    for name, role in layout.roles.items():
        part, dot, _ = name.rpartition(".")
        if dot:
            parts.setdefault(part, []).append(role)
    return tuple(_frame(part, roles) for part, roles in parts.items())


def _frame(part: str, roles: list[Role]) -> Frame:
    """Return the frame of a part. Raises ValueError for one without PEs."""
    pes = isl.Set("{ PE[x, y] : false }")
    for role in roles:
        pes = pes.union(isl.Set(role.at))
    (west, east), (north, south) = bounding_box(pes)
    (x, y), (right, down) = roles[0].origin or (0, 0), roles[0].offset or (0, 0)
    return Frame(
        part=part, x=west, y=north, width=east - west + 1, height=south - north + 1,
        origin=(x - right, y - down), streams=roles[0].streams or {},
    )

# --- Layout on a page: roles, memory, routes, ports -----------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class HeldMemory:
    """A local tensor: its place in the memory of each PE of a role, in bytes.

    `ends` are the least and the greatest index in each dimension of the global tensor of which it
    holds a part, [2 * dimension][height][width].
    """

    name: str
    type: str
    shape: tuple[int, ...]
    address: int
    bytes: int
    tensor: str | None = None
    ends: PackedArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleOnPage:
    """A role: its number of PEs, the bytes of its data and code, and its local tensors."""

    name: str
    pes: int
    data: int
    code: int
    tensors: tuple[HeldMemory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The sides to which routers send what they hear from a side, in one position of switches.

    `to` is [height][width], bit 0 for north, then east, south, west, ramp.
    """

    position: int
    side: str
    to: PackedArray


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
    """A place where a tensor enters or leaves: external PEs, and the colours of wavelets there."""

    tensor: str
    way: str
    side: str
    sparse: bool
    colours: tuple[str, ...]
    x: PackedArray
    y: PackedArray


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
    role: PackedArray
    streams: tuple[Stream, ...]
    ports: tuple[Port, ...]
    frames: tuple[Frame, ...] = ()


def describe_grid(layout: FabricLayout, to_local: isl.UnionMap | None) -> GridOnPage:
    """Return a layout for a page, with the part of each tensor that every PE holds.

    `to_local` is { [PE[x, y] -> T[e]] -> T_local[l] } of the elements that PEs access; None where
    it is not known. Raises ValueError for a wrong layout.
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
    """Return, by local tensor, its tensor, and the ends of the part of it that each PE holds."""
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
        tensors.append(HeldMemory(
            name=local, type=held.type, shape=held.shape, address=held.address, bytes=size,
            tensor=tensor, ends=None if ends is None else pack(ends),
        ))
    return RoleOnPage(
        name=name, pes=pes, data=role.memory.data, code=role.memory.code, tensors=tuple(tensors)
    )


def list_streams(colours: Colours, layout: FabricLayout, grid: Grid) -> Iterator[Stream]:
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
    """Return, for each colour, the first lane in which no other one passes the same router.

    `passing` is [colour][PE]; earlier colours get earlier lanes.
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


def list_ports(layout: FabricLayout) -> Iterator[Port]:
    """Yield the places where tensors arrive and leave."""
    for entry in layout.arrivals.values():
        yield _port(entry, "arrives", (entry.colour,))
    for leaving in layout.departures.values():
        yield _port(leaving, "leaves", leaving.colours)


def _port(port: PortEntry | PortExit, way: str, colours: tuple[str, ...]) -> Port:
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

def count_colours(layout: FabricLayout, grid: Grid) -> NDArray[np.int64]:
    """Return the number of colours that pass each PE's router, [height][width]."""
    routes = read_colours(layout.colours, grid).routes
    passing = routes.any(axis=(0, 2)).sum(axis=0)
    return np.asarray(passing.reshape(grid.height, grid.width), dtype=np.int64)

# --- Run on a page: heat maps, bins, critical path ------------------------------------------------

MOST = 3_500_000
"""Characters that all heat maps of a page may take together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridUsage:
    """Use of PEs and links: PE-cycles, and wavelets, of each from the first cycle to the last.

    `quantities` are [height][width], by the names in QUANTITIES. `links` are [side][height][width],
    sides in the order N, E, S, W, ramp: the link over which a router hears that side. `bins` has
    PE-cycles of the whole grid, by state, in each `bin_width` cycles. `hops` is the number of hops
    of all wavelets.
    """

    until: int
    hops: int
    quantities: Mapping[str, Ints]
    links: Mapping[str, Ints]
    bin_width: int
    bins: Mapping[str, Ints]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSegment:
    """A part of the critical path: a PE, or a port, from one cycle to another, with the cause.

    `name` is the task or the stream that runs meanwhile.
    """

    x: int
    y: int
    begin: int
    end: int
    cause: str
    name: str = ""
    colour: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Events of some PEs: tasks, vector instructions, streams and stalls, one after the other.

    `pe` is the number of the PE, from the north-west corner on. `kind` counts in KINDS. `name`
    counts in `names`, and so does `cause`, that of a stall; -1 is none. Events that ended before
    `since` are missing. Some that begin after `until` are missing, too; it is None if none is.
    """

    names: tuple[str, ...]
    pe: PackedArray
    begin: PackedArray
    duration: PackedArray
    kind: PackedArray
    name: PackedArray
    cause: PackedArray
    since: int = 0
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """All events of one name on all PEs, from their first cycle to before their last one.

    There are `count` events, in `cycles` of all PEs together; `roles` are the roles of the PEs. For
    a stream that `arrives` or `leaves`, `count` is that of wavelets, and there are no cycles.
    """

    name: str
    kind: str
    roles: tuple[str, ...]
    begin: int
    end: int
    count: int
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GridLine:
    """The critical path on the grid, as lines along links: one for each journey of a wavelet.

    `x` and `y` are those of all corners, line by line; ends of lines are corners, too. For each
    line, `corners` is its number of corners, `colour` the number of its colour, and `before` that
    of the colour which came to its first PE before, -1 for none. `left_out` journeys before these
    are missing.
    """

    x: PackedArray
    y: PackedArray
    corners: PackedArray
    colour: PackedArray
    before: PackedArray
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRecording:
    """A recorded run: its critical path, the last part first, events of some PEs, and phases.

    `left_out` are the cycles of the path that have no part; `sums` has all cycles of the path by
    what they went into. Phases are in the order in which they begin; `shorter` ones are missing.
    """

    path: tuple[PathSegment, ...]
    left_out: int
    sums: Mapping[str, int]
    line: GridLine
    events: Events
    phases: tuple[Phase, ...]
    shorter: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A heat map: a number for each PE, or for the links on one side of each PE."""

    name: str
    title: str
    group: str
    unit: str
    says: str
    values: PackedArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """PE-cycles in each `width` cycles, by state, of a run of `until` cycles."""

    until: int
    width: int
    states: Mapping[str, PackedArray]


KINDS = ("task", "vector", "stream", "stall")
"""Kinds of events; a stall has a cause."""
Said = tuple[str, str, str, str]
"""A title, a group, a unit, and a sentence."""
QUANTITIES: dict[str, Said] = {
    "computing": ("computing", "work", "cycles", "in the lanes of vector instructions"),
    "rounding": ("empty lanes", "work", "cycles", "computing, in lanes that were left empty"),
    "memory": ("memory", "work", "cycles", "for busy banks and strides"),
    "starting": ("starting", "work", "cycles", "dispatch, start-up and configuration"),
    "scalars": ("scalars", "work", "cycles", "loops, scalar operations and addresses"),
    "datapath": ("datapath taken", "work", "cycles", "that streams took from a task"),
    "moving": ("moving", "work", "cycles", "no task ran, and streams moved elements"),
    "no_input": ("no input", "waits", "cycles", "for a wavelet that was not there"),
    "no_space": ("no space", "waits", "cycles", "for space in the queue to the router"),
    "under_way": ("under way", "waits", "cycles", "for instructions that were under way"),
    "blocked": ("blocked colour", "waits", "cycles", "with what arrived on a blocked colour"),
    "full_queue": ("full queue", "waits", "cycles", "for space where wavelets go on to"),
    "idle": ("idle", "waits", "cycles", "before the first and after the last activity"),
    "received": ("received", "traffic", "wavelets", "down the ramp"),
    "sent": ("sent", "traffic", "wavelets", "up the ramp"),
    "first": ("active from", "when", "cycle", "in which it was first active, -1 for never"),
    "last": ("active until", "when", "cycle", "after its last activity, -1 for none"),
}
LINKS: dict[str, Said] = {
    "link_wavelets": ("over links", "traffic", "wavelets", "over each link"),
    "link_stalls": ("stalls of links", "traffic", "cycles", "in which the first wavelet waited"),
}
BYTES: Said = ("memory needed", "layout", "bytes", "for data and an estimate of code")
COLOURS: Said = ("colours", "layout", "colours", "that pass the router, or the ramp")


def quantities_of_layout(grid: GridOnPage, roles: Ints, passing: Ints) -> tuple[Quantity, ...]:
    """Return heat maps of a layout: the bytes of each PE, by role, and its number of colours.

    `roles` is the number of each PE's role, [height][width], -1 for none; `passing` is the number
    of colours that pass its router.
    """
    needed = np.array([*(role.data + role.code for role in grid.roles), 0], dtype=np.int64)
    maps = {"bytes": (BYTES, needed[roles]), "colours": (COLOURS, passing)}
    return tuple(_quantity(name, said, array, MOST) for name, (said, array) in maps.items())


def quantities_of_run(usage: GridUsage) -> tuple[Quantity, ...]:
    """Return heat maps of a run, of PEs and of links, in at most MOST characters together."""
    maps = [(n, QUANTITIES[n], a) for n, a in usage.quantities.items() if n in QUANTITIES]
    sides = [
        (f"{name}.{side}", LINKS[name], array[k])
        for name, array in usage.links.items() for k, side in enumerate("NESW")
    ]
    most = MOST // max(1, len(maps) + len(sides))
    return tuple(_quantity(name, said, array, most) for name, said, array in [*maps, *sides])


def _quantity(name: str, said: Said, array: Ints, most: int) -> Quantity:
    title, group, unit, says = said
    return Quantity(
        name=name, title=title, group=group, unit=unit, says=says,
        values=pack_within(array, most),
    )


def bins_of(usage: GridUsage) -> Bins:
    """Return the states of the whole grid over time."""
    return Bins(until=usage.until, width=usage.bin_width, states=dict(_packed(usage.bins)))


def _packed(arrays: Mapping[str, Ints]) -> Iterator[tuple[str, PackedArray]]:
    return ((name, pack(array)) for name, array in arrays.items())
