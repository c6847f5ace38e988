"""Faults of a layout that can be found before a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import DTYPES, Bools, Ints
from lairmake.stages.fabric.engine import INLET, OUTLET, EngineProgram
from lairmake.stages.fabric.grid import (
    OPPOSITE,
    SIDES,
    Colours,
    Grid,
    Thinned,
    coordinates,
    find_neighbours,
    members,
    thin,
)
from lairmake.stages.fabric.layout import FabricLayout, Queue, Role
from lairmake.stages.fabric.switches import LAST_BITS
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade

# --- Circles of a colour --------------------------------------------------------------------------
#
# A circle is routes on which a wavelet comes back to a link that it took. Links are numbered
# side * PEs + PE, by the side on which the router of a PE hears them.
#
# Every circle of one position is found. Of routers in different positions, every circle is found
# that passes no router which circles enter on two sides. Such a router has the two in different
# positions, so that a wavelet which needs both goes round only if the switch turns under way.

Routes = NDArray[np.uint8]
"""The sides that a link goes on to, as bits: [side][PE]."""


def may_go_round(routes: Routes, thinned: Thinned) -> bool:
    """Return whether routes of all positions, [side][PE that is kept], may have a circle.

    There is none if every way turns only so often: a circle of the whole grid turns, and so does
    its picture in which rows and columns that are alike are one.
    """
    size = thinned.grid.size
    links = list(_links(routes, thinned.grid))
    goes = np.concatenate([each for each, _ in links])
    heard = np.concatenate([each for _, each in links])
    straight = goes // size == heard // size
    goes, heard = (each // size * size + thinned.alike[each % size] for each in (goes, heard))
    reached = np.ones(len(SIDES) * size, dtype=np.bool_)
    while True:
        found = _reach(heard[~straight & reached[goes]], len(reached))
        new = found
        while new.any():
            new = _reach(heard[straight & new[goes]], len(reached)) & ~found
            found = found | new
        if np.array_equal(found, reached):
            return bool(found.any())
        reached = found


def _reach(links: Ints, count: int) -> Bools:
    result = np.zeros(count, dtype=np.bool_)
    result[links] = True
    return result


def find_circle(routes: Routes, grid: Grid) -> int | None:
    """Return a PE on a circle of the routes of one position, in which a router hears one side."""
    upstream = np.full(len(SIDES) * grid.size, -1, dtype=np.int64)
    for goes, heard in _links(routes, grid):
        upstream[heard] = goes
    for _ in range(int(upstream.size).bit_length()):
        upstream = np.where(upstream >= 0, upstream[upstream], -1)
    turning = np.flatnonzero(upstream >= 0)
    return int(turning[0]) % grid.size if turning.size else None


def find_mixed_circle(positions: Routes, grid: Grid) -> int | None:
    """Return a PE on a circle of routers that are in one position each, of [position][side][PE]."""
    upstream = np.full((len(SIDES) * grid.size, len(SIDES)), -1, dtype=np.int64)
    downstream = np.full_like(upstream, -1)
    for goes, heard in _links(np.bitwise_or.reduce(positions, axis=0), grid):
        upstream[heard, goes // grid.size] = goes
        downstream[goes, heard // grid.size] = heard
    kept = np.ones(len(upstream), dtype=np.bool_)
    _drop_ends(kept, upstream, downstream)
    _drop_ends(kept, downstream, upstream)
    several = kept.reshape(len(SIDES), grid.size).sum(axis=0) > 1
    kept &= ~np.tile(several, len(SIDES))
    _drop_ends(kept, upstream, downstream)
    turning = np.flatnonzero(kept)
    return int(turning[0]) % grid.size if turning.size else None


def _links(routes: Routes, grid: Grid) -> Iterator[tuple[Ints, Ints]]:
    """Yield links, and those that they go on to."""
    for source in range(len(SIDES)):
        for side, word in enumerate(SIDES[:-1]):
            goes = np.flatnonzero(routes[source] >> side & 1)
            inside, neighbour = find_neighbours(goes, grid, word)
            heard = SIDES.index(OPPOSITE[word]) * grid.size + neighbour[inside]
            yield source * grid.size + goes[inside], heard


def _drop_ends(kept: Bools, before: Ints, after: Ints) -> None:
    """Drop, again and again, links that are kept and come from none that is."""
    count = ((before >= 0) & kept[before]).sum(axis=1)
    ends = np.flatnonzero(kept & (count == 0))
    while ends.size:
        kept[ends] = False
        following = after[ends]
        following = following[following >= 0]
        np.subtract.at(count, following, 1)
        ends = np.unique(following[kept[following] & (count[following] == 0)])

# --- Faults of a layout before a run --------------------------------------------------------------
#
# Routes clash, end nowhere or go round. A colour is a set of links. A link into a router is
# numbered [side][PE], by the side on which the router hears it; the ramp is the link from the PE
# itself. Of rows and columns that repeat only some are looked at (`thin` in grid.py), as long as
# nothing can go round: then time does not grow with the grid, but for finding what repeats.
#
# Source   that two inputs at once are not defined, and what a position may change: Cerebras SDK,
#          CSL builtins, switching configuration semantics

RAMP = SIDES.index("ramp")


Place = tuple[int, int]
"""x and y of a PE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutFault:
    """What is wrong with a layout, and the keys of its text under which that stands."""

    said: str
    place: tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedLayout:
    """A colour that is looked through: on PEs that are kept, its routes and last positions.

    `taken` is as of `_taken`, `entering` has the sides of ports as bits by PE; `circles` has a
    place of a circle by position, and `mixed` one of routers in different positions.
    """

    colour: str
    thinned: Thinned
    positions: Routes
    last: Ints
    taken: Bools
    entering: Routes
    circles: Sequence[Place | None]
    mixed: Place | None
    several: bool


def find_faults(
    layout: FabricLayout, grid: Grid, colours: Colours, inlets: Any, outlets: Any, profile: Profile
) -> list[LayoutFault]:
    """Return what is wrong with a layout, a sentence each; empty if nothing is.

    `inlets` and `outlets` are records of engine.INLET and OUTLET. What goes to a router must be
    heard there in one of its positions. Clashes are looked for in each position, circles in each
    and in routers of different positions, as far as is said above. Raises nothing.
    """
    assert inlets.dtype == INLET and outlets.dtype == OUTLET
    found: list[LayoutFault] = []
    here = {name: members(isl.Set(role.at), grid).reshape(-1)
            for name, role in layout.roles.items()}
    for number, name in enumerate(colours.names):
        entering, leaving = np.zeros((2, grid.size), dtype=np.uint8)
        ports = inlets[inlets["colour"] == number]
        np.bitwise_or.at(entering, ports["node"], (1 << ports["side"]).astype(np.uint8))
        ports = outlets[outlets["colours"] >> number & 1 == 1]
        np.bitwise_or.at(leaving, ports["node"], (1 << ports["side"]).astype(np.uint8))
        listening = np.zeros(grid.size, dtype=np.bool_)
        for role, given in layout.roles.items():
            if given.listens is None or name in given.listens:
                listening |= here[role]
        looked = _look(name, number, grid, colours, entering, leaving, listening)
        said = [*_unheard(looked)]
        if looked.several:
            said += [*_unable(looked, number, profile), *_mixed_rounds(looked)]
        found += (LayoutFault(said=text, place=("colours", name)) for text in said)
        found += (each for k in range(len(looked.positions))
                  for each in _of_position(looked, k, profile))
    return found


def _look(
    name: str, number: int, grid: Grid, colours: Colours, entering: Routes, leaving: Routes,
    listening: Bools,
) -> CheckedLayout:
    """Return what is to be known of a colour; ports are by PE the sides as bits."""
    positions = colours.routes[:, number]
    last = colours.switches[:, number] >> LAST_BITS & 3
    given = positions, last, entering, leaving, listening
    thinned = thin(grid, given)
    kept, last, entering, leaving, listening = map(thinned.take, given)
    reachable = np.bitwise_or.reduce(kept, axis=0)
    circles: list[Place | None] = [None] * len(positions)
    mixed = None
    several = bool(np.count_nonzero(kept.any(axis=(1, 2))) > 1)
    if may_go_round(reachable, thinned):
        circles = [_find_place(find_circle(routes, grid), grid) for routes in positions]
        if several and not any(circles):
            mixed = _find_place(find_mixed_circle(positions, grid), grid)
    return CheckedLayout(
        colour=name, thinned=thinned, positions=kept, last=last.astype(np.int64),
        taken=_taken(reachable, thinned.grid, leaving, listening), entering=entering,
        circles=circles, mixed=mixed, several=several)


def _find_place(number: int | None, grid: Grid) -> Place | None:
    if number is None:
        return None
    x, y = coordinates(np.array(number), grid)
    return int(x), int(y)


def _of_position(of: CheckedLayout, number: int, profile: Profile) -> Iterator[LayoutFault]:
    """Yield what is wrong with the routes of one position."""
    where = f" in position {number + 1}" if of.several else ""
    key: tuple[str | int, ...] = ("positions", number) if of.several else ("routes",)
    routes, place = of.positions[number], ("colours", of.colour, *key)
    for text in (*_clashes(of, routes), *_dead_ends(of, routes), *_rounds(of, number)):
        yield LayoutFault(said=f"{text}{where}", place=place)
    if number > 0 and not profile.switch_both:
        for text in _both(of, of.positions[0], routes):
            grade = note_grade(profile, "switch_both")
            said = f"{text}{where}; on {profile.name} only one of these changes{grade}"
            yield LayoutFault(said=said, place=place)


def _clashes(of: CheckedLayout, routes: Routes) -> Iterator[str]:
    """Say where a router hears a colour on two sides at once, in one position."""
    several = np.flatnonzero((routes > 0).sum(axis=0) > 1)
    if several.size:
        sides = [SIDES[k] for k in np.flatnonzero(routes[:, several[0]])]
        yield (f"colour {of.colour} enters {_pe(several[0], of)} on the sides "
               f"{' and '.join(sides)}")


def _both(of: CheckedLayout, first: Routes, routes: Routes) -> Iterator[str]:
    """Say where a router has another input, and other outputs, than in the first position."""
    heard = (first > 0).any(axis=0) & (routes > 0).any(axis=0)
    inputs = (first > 0).argmax(axis=0) != (routes > 0).argmax(axis=0)
    outputs = np.bitwise_or.reduce(first, axis=0) != np.bitwise_or.reduce(routes, axis=0)
    wrong = np.flatnonzero(heard & inputs & outputs)
    if wrong.size:
        yield f"colour {of.colour} has at {_pe(wrong[0], of)} another input and other outputs"


def _unable(of: CheckedLayout, number: int, profile: Profile) -> Iterator[str]:
    """Say where a router has more positions than the machine has for a colour."""
    figure = "unswitched" if number in profile.unswitched else "positions"
    most = 1 if figure == "unswitched" else profile.positions
    turning = np.zeros(of.thinned.grid.size, dtype=np.bool_)
    for k in range(1, len(of.positions)):
        turning |= (of.last >= k) & (of.positions[k] != of.positions[0]).any(axis=0)
    wrong = np.flatnonzero(turning & (of.last >= most))
    if wrong.size:
        yield (f"colour {of.colour} has {of.last[wrong[0]] + 1} positions at "
               f"{_pe(wrong[0], of)}; routers of {profile.name} have {most} for number {number}"
               f"{note_grade(profile, figure)}")


def _unheard(of: CheckedLayout) -> Iterator[str]:
    """Say where a port sends into a router that has no route for it."""
    reachable = np.bitwise_or.reduce(of.positions, axis=0)
    for side, word in enumerate(SIDES):
        lost = np.flatnonzero((of.entering >> side & 1).astype(np.bool_) & (reachable[side] == 0))
        if lost.size:
            yield f"colour {of.colour} enters {_pe(lost[0], of)} from {word}, and has no route"
            return


def _dead_ends(of: CheckedLayout, routes: Routes) -> Iterator[str]:
    """Say where a route goes to a router that has none, out of the grid, or to nobody."""
    out = np.bitwise_or.reduce(routes, axis=0)
    for side, word in enumerate(SIDES):
        lost = np.flatnonzero((out >> side & 1).astype(np.bool_) & ~of.taken[side])
        if lost.size and side == RAMP:
            yield f"colour {of.colour} reaches {_pe(lost[0], of)}, where nobody reads it"
        elif lost.size:
            yield f"colour {of.colour} leaves {_pe(lost[0], of)} on side {word} and ends nowhere"


def _taken(reachable: Routes, grid: Grid, leaving: Routes, listening: Bools) -> Bools:
    """Return [side][PE] whether somebody takes what a router sends to a side, in some position."""
    number = np.arange(grid.size)
    result = np.zeros((len(SIDES), grid.size), dtype=np.bool_)
    for side, word in enumerate(SIDES[:RAMP]):
        inside, neighbour = find_neighbours(number, grid, word)
        heard = reachable[SIDES.index(OPPOSITE[word])] > 0
        result[side, inside] = heard[neighbour[inside]]
        result[side] |= (leaving >> side & 1).astype(np.bool_)
    result[RAMP] = listening
    return result


def _rounds(of: CheckedLayout, number: int) -> Iterator[str]:
    """Say where a route of a position comes back to itself."""
    through = of.circles[number]
    if through is not None:
        yield f"colour {of.colour} goes round in a circle through {_spell(through)}"


def _mixed_rounds(of: CheckedLayout) -> Iterator[str]:
    """Say where a route comes back to itself if routers are in different positions."""
    if of.mixed is not None:
        yield (f"colour {of.colour} goes round in a circle through {_spell(of.mixed)} when "
               "routers are in different positions")


def _pe(number: int, of: CheckedLayout) -> str:
    return _spell(of.thinned.find_place(number))


def _spell(place: Place) -> str:
    return f"PE[{place[0]}, {place[1]}]"

# --- Needs of a layout beyond a machine -----------------------------------------------------------
#
# These are colours, PEs, memory and queues.

def find_excess(layout: FabricLayout, profile: Profile) -> Iterator[LayoutFault]:
    """Yield what a layout has more of than a machine, a sentence each. Raises nothing."""
    yield from _of_colours(layout, profile)
    for name, role in layout.roles.items():
        yield from _of_memory(name, role, profile)
        for key, depths, given in (("input_queues", profile.input_queues, role.input_queues),
                                   ("output_queues", profile.output_queues, role.output_queues)):
            yield from _of_queues((name, key), given or {}, depths, profile)


def find_lack(
    layout: FabricLayout, grid: Grid, programs: list[EngineProgram], profile: Profile
) -> Iterator[LayoutFault]:
    """Yield where the grid, or the memory of a program as it was compiled, is too large.

    The simulator keeps vectors of a program in the program's memory, a machine keeps them
    elsewhere: of a program that says where its operands lie, only these count.
    """
    columns, rows = profile.grid
    if grid.width > columns or grid.height > rows:
        yield LayoutFault(said=f"the grid has {grid.width} x {grid.height} PEs; {profile.name} has "
                         f"{columns} x {rows}{note_grade(profile, 'grid')}", place=("grid",))
    for name, program in zip(layout.roles, programs, strict=True):
        most = program.operands or program.memory
        if most > profile.memory:
            yield LayoutFault(said=f"the program of role {name} keeps {most} bytes; a PE of "
                             f"{profile.name} has {profile.memory}"
                             f"{note_grade(profile, 'memory')}", place=("roles", name))


def _of_colours(layout: FabricLayout, profile: Profile) -> Iterator[LayoutFault]:
    count, most = len(layout.colours), profile.colours
    if count > most:
        yield LayoutFault(said=f"the layout has {count} colours; {profile.name} has {most}"
                    f"{note_grade(profile, 'colours')}", place=("colours",))
    for name, colour in layout.colours.items():
        if not 0 <= colour.number < most:
            yield LayoutFault(
                said=f"colour {name} has number {colour.number}; those of {profile.name} "
                f"are 0 to {most - 1}{note_grade(profile, 'colours')}",
                place=("colours", name, "number"),
            )


def _of_memory(name: str, role: Role, profile: Profile) -> Iterator[LayoutFault]:
    has = f"a PE of {profile.name} has {profile.memory}{note_grade(profile, 'memory')}"
    needs = role.memory.data + role.memory.code
    if needs > profile.memory:
        yield LayoutFault(
            said=f"role {name} needs {needs} bytes; {has}", place=("roles", name, "memory")
        )
    for local, tensor in role.tensors.items():
        end = tensor.address + prod(tensor.shape) * DTYPES[tensor.type].itemsize
        if end > profile.memory:
            yield LayoutFault(said=f"{local} of role {name} ends at byte {end}; {has}",
                        place=("roles", name, "tensors", local))


def _of_queues(
    of: tuple[str, str], given: Mapping[str, Queue], depths: tuple[int, ...], profile: Profile
) -> Iterator[LayoutFault]:
    """Yield which queues there are not, or not so deep; a machine without any is not asked."""
    name, key = of
    kind = key.replace("_", " ")
    for colour, queue in given.items() if depths else ():
        place = ("roles", name, key, colour)
        if not 0 <= queue.number < len(depths):
            yield LayoutFault(
                said=f"role {name} has {colour} in {kind[:-1]} {queue.number}; those of "
                f"{profile.name} are 0 to {len(depths) - 1}"
                f"{note_grade(profile, key)}",
                place=place,
            )
        elif queue.holds > depths[queue.number]:
            yield LayoutFault(said=f"{kind[:-1]} {queue.number} of role {name} holds {queue.holds} "
                             f"wavelets of {colour}; that of {profile.name} holds "
                             f"{depths[queue.number]}{note_grade(profile, key)}", place=place)
