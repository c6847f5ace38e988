"""Tensors of which PEs need parts of their neighbours in the next invocation."""

from __future__ import annotations

import functools
import typing
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.routes.feedback import choose_way, find_astray
from lairmake.stages.layer.routes.placement import PlacedLayer, Routed, Streams, join
from lairmake.stages.layer.texts.isl_files import RoutesObject, Routing, Said, named
from lairmake.stages.layer.texts.task_graph import Move, Side
from lairmake.stages.movement.cost import SideLoad, find_around_cycles, find_round_cycles
from lairmake.stages.movement.flow import Routes
from lairmake.stages.movement.halo import (
    AXES,
    Axis,
    NoHaloError,
    Round,
    find_rounds,
    find_turning_routes,
)
from lairmake.stages.poly.canonical import find_example, from_domain, list_maps, unite
from lairmake.stages.poly.cardinality import cardinality, count_most
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

AROUND = "around"
TOWARDS: dict[str, Said] = {"E": "east", "W": "west", "S": "south", "N": "north"}
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
        try:
            _check_whole(isl.Map.from_union_map(own).intersect_domain(halo.domain()))
            find_rounds(halo, pes)
        except NoHaloError as reason:
            if asked is not None:
                raise _refused(tensor, reason, mapping) from None
            continue
        found.append(halo.coalesce())
    return unite(found)


def _check_whole(own: isl.Map) -> None:
    """Raise NoHaloError where elements { T[e] -> PE } are computed on several PEs, or T is one."""
    if own.dim(IN) == 0:
        raise NoHaloError(f"{own.get_tuple_name(IN)} has one element")
    if not own.is_single_valued():
        several = own.lexmin().subtract(own.lexmax()).domain().lexmin()
        raise NoHaloError(f"{find_example(several)} is computed on several PEs")


def _refused(tensor: str, reason: NoHaloError, mapping: LayerMapping) -> UserError:
    """Return the error that says why a tensor has no halo."""
    return UserError(
        f"{tensor} has no halo: {reason}",
        mapping.key_span("moves", tensor),
        f"place what computes {tensor} next to what reads it, or leave `{tensor}` out of `moves`, "
        "and it goes around by adapters",
    )

# --- Routes of moves ------------------------------------------------------------------------------

def add_moves(streams: Streams) -> Streams:
    """Return the streams with what neighbours exchange for the next invocation."""
    placed = streams.placed
    pes = isl.Set.from_union_set(placed.adapted.placement.range())
    for moved in list_maps(placed.adapted.moves):
        name = _name_move(moved.get_tuple_name(IN), placed)
        rounds = find_rounds(moved, pes)
        move = Move(
            kind="halo",
            tensor=moved.get_tuple_name(IN),
            rounds=tuple(tuple(typing.cast(Side, s) for s in each.sides) for each in rounds),
            colours={
                axis: name_colours(name, axis)
                for axis in AXES
                if any(each.along(axis) for each in rounds)
            },
            ways=_find_ways(moved, rounds, placed),
        )
        routed = (_routed(name, each, axis) for each in rounds for axis in AXES)
        streams = replace(
            streams,
            moves={**streams.moves, name: move},
            routed=join((streams.routed, *routed)),
        )
    return streams


def _find_ways(moved: isl.Map, rounds: Sequence[Round], placed: PlacedLayer) -> dict[str, int]:
    """Return the cycles of a halo on the PE that has most of it, and of going around."""
    halo = sum(
        find_round_cycles(placed.profile, {
            side: SideLoad(
                sent=count_most(here.range_factor_domain().reverse()),
                taken=count_most(here.range_factor_range().reverse()),
            )
            for side, here in each.sides.items()
        })
        for each in rounds
    )
    own, needed = moved.range_factor_domain(), moved.range_factor_range()
    way = choose_way(own, needed, placed.core, lambda side: True)
    elements = cardinality(isl.Map.from_union_map(
        from_domain(placed.needed, moved.get_tuple_name(IN))
    ).domain())
    around = find_around_cycles(placed.profile, elements, straight=way.straight)
    return {"halo": halo, AROUND: around}


def _name_move(tensor: str, placed: PlacedLayer) -> str:
    """Return the name of a move, with which that of no tensor begins: nor do those of streams."""
    name = f"{tensor}_halo"
    while any(other.startswith(name) for other in placed.layer.tensors):
        name += "_"
    return name


def name_colours(move: str, axis: str) -> tuple[str, str]:
    """Return the names of the colours of an axis: on which even PEs send, and on which odd ones."""
    return named(f"{move}_{axis}", "even"), named(f"{move}_{axis}", "odd")


def name_task(verb: str, move: str, side: str) -> str:
    """Return the name of the task that sends, or receives, what moves to a side."""
    return f"{verb}_{named(move, TOWARDS[side])}"


def _routed(name: str, each: Round, axis: Axis) -> Routed:
    """Return the routes of what moves along an axis, and what routes.isl says of it."""
    moved = each.along(axis)
    colours: dict[str, Routes] = {}
    objects: dict[str, RoutesObject] = {}
    for parity, colour in enumerate(name_colours(name, axis)):
        first, second = find_turning_routes(moved, axis, parity)
        if not first.is_empty():
            colours[colour] = first.union(second)
            objects |= {colour: first}
            objects |= {} if second.is_equal(first) else {named(colour, "turned"): second}
    for side, here in moved.items():
        objects[named(name, TOWARDS[side])] = here
    return Routed(colours=colours, objects=objects)


def find_members(move: Move, name: str, routes: Routing) -> isl.Map:
    """Return { T[e] -> PE } of the PEs that send elements, or take them."""
    found = []
    for side in (side for each in move.rounds for side in each):
        moved = routes.relation(name, TOWARDS[side])
        found += [moved.range_factor_domain(), moved.range_factor_range()]
    return functools.reduce(isl.Map.union, found).coalesce()


def find_order(move: str, side: str, routes: Routing, *, sent: bool) -> isl.Map:
    """Return { T[e] -> [PE -> index[e]] } of what moves to a side, at PEs that send it, or take it.
    """
    moved = routes.relation(move, TOWARDS[side])
    places = moved.range_factor_domain() if sent else moved.range_factor_range()
    index = moved.domain().identity().set_tuple_name(isl.dim_type.out, "index")
    return places.range_product(index)
