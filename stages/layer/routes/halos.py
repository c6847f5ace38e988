"""Tensors of which PEs need parts of their neighbours in the next invocation."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.routes.exchanges import TOWARDS
from lairmake.stages.layer.routes.feedback import choose_way, find_astray
from lairmake.stages.layer.routes.placement import PlacedLayer, Routed, Streams, join
from lairmake.stages.layer.texts.isl_files import RoutesObject, named
from lairmake.stages.layer.texts.task_graph import Move, Side, WayAround
from lairmake.stages.machine.banks import PAIR, WORD
from lairmake.stages.machine.types import BYTES
from lairmake.stages.mapping.layer_yaml import AROUND
from lairmake.stages.movement.cost import SideLoad, find_around_cycles, find_round_cycles
from lairmake.stages.movement.flow import Routes
from lairmake.stages.movement.halo import (
    AXES,
    Axis,
    NoHaloError,
    Round,
    find_rounds,
    find_turning_routes,
    send_alike,
)
from lairmake.stages.poly.box import count_hull
from lairmake.stages.poly.canonical import find_example, from_domain, list_maps, unite
from lairmake.stages.poly.cardinality import cardinality, count_most
from lairmake.stages.poly.functions import PE_NAMES, bind_range
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import turn
from lairmake.stages.skewing.elements import (
    Lair,
    find_computed_elements,
    find_needed_elements,
)

if TYPE_CHECKING:
    from lairmake.stages.mapping.layer_yaml import LayerMapping

# --- Moves to the next invocation -----------------------------------------------------------------
#
# A tensor T that is S in the next invocation is needed there by PEs that do not compute S. Where
# these are neighbours of those that do, T has a halo: a PE makes the elements of T that are its own
# of S, and then exchanges those with its neighbours that they need. Else S is fed back.
#
# Source   halo exchanges of stencil codes

MOST_OPERATIONS = 5_000_000
"""Operations that isl may spend on finding out whether a tensor has a halo."""

IN = isl.dim_type.in_


def find_moves(mapping: LayerMapping, lair: Lair, placement: isl.UnionMap) -> isl.UnionMap:
    """Return { T[e] -> [PE -> PE'] } of the halos: PE computes what PE' needs T[e] to be.

    Raises UserError where layer.yaml asks for a halo that is none.
    """
    needed = find_needed_elements(lair, placement)
    computed = find_computed_elements(lair, placement)
    pes = isl.Set.from_union_set(placement.range())
    found = []
    for carried in list_maps(lair.carried):
        tensor = carried.get_tuple_name(IN)
        asked = mapping.moves.get(tensor)
        own = isl.UnionMap.from_map(carried).apply_range(computed)
        moved = find_astray(own, from_domain(needed, tensor))
        if asked == AROUND or moved.is_empty():
            continue
        halo = isl.Map.from_union_map(moved)
        reason = _find_reason(halo, isl.Map.from_union_map(own), pes)
        if reason is not None:
            if asked is not None:
                raise _refused(tensor, reason, mapping)
            continue
        found.append(halo.coalesce())
    return unite(found)


def _find_reason(halo: isl.Map, own: isl.Map, pes: isl.Set) -> str | None:
    """Return why { T[e] -> [PE -> PE'] } is no halo, given { T[e] -> PE } of who computes it."""
    try:
        with limit_operations(MOST_OPERATIONS):
            _check_whole(own.intersect_domain(halo.domain()))
            find_rounds(halo, pes)
    except NoHaloError as error:
        return str(error)
    except TooManyOperations:
        return "isl does not find out soon"
    return None


def _check_whole(own: isl.Map) -> None:
    """Raise NoHaloError where elements { T[e] -> PE } are computed on several PEs, or T is one."""
    if own.dim(IN) == 0:
        raise NoHaloError(f"{own.get_tuple_name(IN)} has one element")
    if not own.is_single_valued():
        several = own.lexmin().subtract(own.lexmax()).domain().lexmin()
        raise NoHaloError(f"{find_example(several)} is computed on several PEs")


def _refused(tensor: str, reason: str, mapping: LayerMapping) -> UserError:
    """Return the error that says why a tensor has no halo."""
    return UserError(
        f"{tensor} has no halo: {reason}",
        mapping.key_span("moves", tensor),
        f"place what computes {tensor} next to what reads it, or leave `{tensor}` out of `moves`, "
        "and it goes around by adapters",
    )

# --- Routes of moves ------------------------------------------------------------------------------

# The rounds of a tensor that go to a side once are a move; where a halo reaches farther, further
# moves follow, and pass on what came before. Moves come one after the other on every PE, so that
# those whose routers turn alike share their colours: what a neighbour sends first it has sent, and
# its router turned, before it sends more.

def add_moves(streams: Streams) -> Streams:
    """Return the streams with what neighbours exchange for the next invocation."""
    placed = streams.placed
    pes = isl.Set.from_union_set(placed.adapted.placement.range())
    moves, turning, objects = dict[str, Move](), list[Turning](), dict[str, RoutesObject]()
    for moved in list_maps(placed.adapted.moves):
        tensor = moved.get_tuple_name(IN)
        carried = isl.Map.from_union_map(from_domain(placed.lair.carried, tensor))
        own = isl.Map.from_union_map(isl.UnionMap.from_map(carried).apply_range(placed.computed))
        rounds = send_alike(find_rounds(moved, pes), own)
        ways = _find_ways(moved, rounds, placed)
        for number, part in enumerate(_list_parts(rounds), 1):
            name = _name_move(tensor, number, placed)
            colours = dict[str, tuple[str, str]]()
            for axis in AXES:
                along = next((found for each in part if (found := each.along(axis))), None)
                if along is not None:
                    colours[axis] = _find_turning(name, axis, along, turning).colours
            moves[name] = Move(
                kind="halo",
                tensor=tensor,
                rounds=tuple(tuple(typing.cast(Side, s) for s in each.sides) for each in part),
                colours=colours,
                ways=ways if number == 1 else {},
            )
            for side, here in (item for each in part for item in each.sides.items()):
                objects[named(name, TOWARDS[side])] = here
    routed = join((streams.routed, *(each.routed() for each in turning), Routed(objects=objects)))
    return replace(streams, moves=moves, routed=routed)


def explain_around(streams: Streams) -> Streams:
    """Return the streams with what it takes that tensors go around for the next invocation, and why
    neighbours do not exchange them.
    """
    placed, arrivals = streams.placed, dict(streams.arrivals)
    pes = isl.Set.from_union_set(placed.adapted.placement.range())
    for carried in list_maps(placed.lair.carried):
        tensor, back = (carried.get_tuple_name(at) for at in (IN, isl.dim_type.out))
        if back not in placed.fed_back:
            continue
        source = carried.set_tuple_name(isl.dim_type.out, placed.fed_back[back])
        own = isl.UnionMap.from_map(source).apply_range(placed.computed)
        moved = isl.Map.from_union_map(find_astray(own, from_domain(placed.needed, tensor)))
        reason = _find_reason(moved, isl.Map.from_union_map(own), pes)
        around = WayAround(
            cycles=_find_around(moved, placed), why=reason or f"layer.yaml has {tensor} go around"
        )
        for name, arrival in arrivals.items():
            if arrival.tensor == back:
                arrivals[name] = replace(arrival, around=around)
    return replace(streams, arrivals=arrivals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """The two colours of an axis, on which even and odd PEs send, and their routes by position."""

    axis: Axis
    colours: tuple[str, str]
    routes: tuple[tuple[Routes, Routes], ...]

    def turns_alike(self, other: Turning) -> bool:
        """Say whether the routes are those of another one."""
        pairs = zip(self.routes, other.routes, strict=True)
        return self.axis == other.axis and all(
            one.is_equal(also) for mine, its in pairs for one, also in zip(mine, its, strict=True)
        )

    def routed(self) -> Routed:
        """Return what routes.isl says of the colours that have routes."""
        colours: dict[str, Routes] = {}
        objects: dict[str, RoutesObject] = {}
        for colour, (first, second) in zip(self.colours, self.routes, strict=True):
            if not first.is_empty():
                colours[colour] = first.union(second)
                objects |= {colour: first}
                objects |= {} if second.is_equal(first) else {named(colour, "turned"): second}
        return Routed(colours=colours, objects=objects)


def _find_turning(
    move: str, axis: Axis, moved: dict[str, isl.Map], known: list[Turning]
) -> Turning:
    """Return the colours of an axis of a move, and note them: known ones that turn alike, if any.
    """
    stream = f"{move}_{axis}"
    new = Turning(
        axis=axis,
        colours=(named(stream, "even"), named(stream, "odd")),
        routes=tuple(find_turning_routes(moved, axis, parity) for parity in (0, 1)),
    )
    found = next((each for each in known if each.turns_alike(new)), None)
    if found is None:
        known.append(new)
    return found or new


def _list_parts(rounds: Sequence[Round]) -> list[list[Round]]:
    """Return rounds in parts, in which nothing goes twice to a side."""
    parts: list[list[Round]] = []
    for each in rounds:
        if not parts or any(not other.sides.keys().isdisjoint(each.sides) for other in parts[-1]):
            parts.append([])
        parts[-1].append(each)
    return parts


def _find_ways(moved: isl.Map, rounds: Sequence[Round], placed: PlacedLayer) -> dict[str, int]:
    """Return the cycles of a halo on the PE that has most of it, and of going around."""
    short = BYTES[placed.layer.tensors[moved.get_tuple_name(IN)].type] == WORD
    halo = sum(
        find_round_cycles(placed.profile, {
            side: SideLoad(
                sent=_count_wavelets(here.range_factor_domain().reverse(), short=short),
                taken=_count_wavelets(here.range_factor_range().reverse(), short=short),
            )
            for side, here in each.sides.items()
        })
        for each in rounds
    )
    return {"halo": halo, AROUND: _find_around(moved, placed)}


def _find_around(moved: isl.Map, placed: PlacedLayer) -> int:
    """Return the cycles of bringing { T[e] -> [PE -> PE'] } around by adapters, or straight back.
    """
    own, needed = moved.range_factor_domain(), moved.range_factor_range()
    way = choose_way(own, needed, placed.core, lambda side: True)
    users = isl.Map.from_union_map(from_domain(placed.needed, moved.get_tuple_name(IN)))
    lane = users.apply_range(turn(way.leaves, placed.core).project_out(isl.dim_type.out, 1, 1))
    elements = count_most(lane.reverse()) if way.straight else cardinality(users.domain())
    core, along_x = placed.core, way.leaves in AXES["x"]
    steps = core.right - core.left + 1 if along_x else core.bottom - core.top + 1
    ordered = all(_are_boxes(each) for each in (own, users))
    return find_around_cycles(
        placed.profile, elements, steps, straight=way.straight, ordered=ordered
    )


def _are_boxes(places: isl.Map) -> bool:
    """Say whether { T[e] -> PE } has a box of elements, or none, on each PE."""
    return count_hull(bind_range(places, PE_NAMES)) == count_most(places.reverse())


def _count_wavelets(moved: isl.Map, *, short: bool) -> int:
    """Return the most wavelets with elements { PE -> T[e] } of a PE: those of 16 bits are `short`.

    These move in pairs where rows have an even number of them, if memory is laid out for that.
    """
    elements = count_most(moved)
    if not short:
        return elements
    last = moved.dim(isl.dim_type.out) - 1
    rows = moved.move_dims(isl.dim_type.in_, moved.dim(IN), isl.dim_type.out, 0, last)
    between = rows.lexmin().range_product(rows.lexmax()).range().unwrap().deltas()
    even = between.is_subset(isl.Set(f"{{ [k] : (k + 1) mod {PAIR} = 0 }}"))
    return elements // PAIR if even else elements


def _name_move(tensor: str, number: int, placed: PlacedLayer) -> str:
    """Return the name of a move, with which that of no tensor begins: nor do those of streams."""
    name = f"{tensor}_halo{number if number > 1 else ''}"
    while any(other.startswith(name) for other in placed.layer.tensors):
        name += "_"
    return name
