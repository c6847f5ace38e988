"""What each PE and link did in a run, and what a page shows of it: heat maps, bins, the path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lairmake.stages.picture.gridded import GridOnPage
from lairmake.stages.picture.packing import Ints, Packed, pack, pack_within

MOST = 3_500_000
"""Characters that all heat maps of a page may take together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What PEs and links did: PE-cycles, and wavelets, of each from the first cycle to the last.

    `quantities` are [height][width], by the names in QUANTITIES; `links` are [side][height][width],
    sides in the order N, E, S, W, ramp: the link over which a router hears that side. `bins` has
    PE-cycles of the whole grid, by state, in each `bin_width` cycles. `hops` are those of all
    wavelets.
    """

    until: int
    hops: int
    quantities: Mapping[str, Ints]
    links: Mapping[str, Ints]
    bin_width: int
    bins: Mapping[str, Ints]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of the critical path: a PE, or a port, from a cycle to another one, and why it lasts.

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
    """What some PEs did: tasks, vector instructions, streams and stalls, one after the other.

    `pe` is the number of the PE, from the north-west corner on, `kind` counts in KINDS, `name` in
    `names`, and so does `cause`, of a stall; -1 for none. Those that ended before `since` are
    missing, and of those that begin after `until` some; None where none is.
    """

    names: tuple[str, ...]
    pe: Packed
    begin: Packed
    duration: Packed
    kind: Packed
    name: Packed
    cause: Packed
    since: int = 0
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What happened under one name on all PEs, from its first cycle to before its last one.

    It did so `count` times, in `cycles` of all PEs together; `roles` are theirs. Of what `arrives`
    or `leaves` `count` are wavelets, and there are no cycles.
    """

    name: str
    kind: str
    roles: tuple[str, ...]
    begin: int
    end: int
    count: int
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The critical path on the grid, as lines along links: one for each journey of a wavelet.

    `x` and `y` are those of all corners, line by line, and its ends are corners, too; `corners`,
    `colour` and `before` are for each line how many it has, the number of its colour, and that of
    what came to its first PE before, -1 for none. `left_out` journeys before these are missing.
    """

    x: Packed
    y: Packed
    corners: Packed
    colour: Packed
    before: Packed
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a recorder saw: the critical path, its last part first, events of some PEs, and phases.

    `left_out` are the cycles of the path that have no part; `sums` has all of them by what they
    went into. Of the phases, in the order in which they begin, `shorter` are missing.
    """

    path: tuple[Segment, ...]
    left_out: int
    sums: Mapping[str, int]
    line: Line
    events: Events
    phases: tuple[Phase, ...]
    shorter: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A heat map: a number for each PE, or for each side of each PE if it is of links."""

    name: str
    title: str
    group: str
    unit: str
    says: str
    values: Packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """PE-cycles in each `width` cycles, by state, of a run of `until` cycles."""

    until: int
    width: int
    states: Mapping[str, Packed]


KINDS = ("task", "vector", "stream", "stall")
"""What an event is, a stall for a reason."""
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
    """Return what a layout says of each PE: its bytes, by role, and how many colours pass.

    `roles` is the number of its role, [height][width], -1 for none; `passing` that of colours.
    """
    needed = np.array([*(role.data + role.code for role in grid.roles), 0], dtype=np.int64)
    maps = {"bytes": (BYTES, needed[roles]), "colours": (COLOURS, passing)}
    return tuple(_quantity(name, said, array, MOST) for name, (said, array) in maps.items())


def quantities_of_run(usage: Usage) -> tuple[Quantity, ...]:
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


def bins_of(usage: Usage) -> Bins:
    """Return the states of the whole grid over time."""
    return Bins(until=usage.until, width=usage.bin_width, states=dict(_packed(usage.bins)))


def _packed(arrays: Mapping[str, Ints]) -> Iterator[tuple[str, Packed]]:
    return ((name, pack(array)) for name, array in arrays.items())
