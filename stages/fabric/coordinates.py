"""A layout in other coordinates: all that names PEs is moved, and programs count as they did."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from lairmake.stages.fabric.layout import FabricLayout, LocalTensor, PortEntry, PortExit, Role
from lairmake.stages.movement.flow import RouterColour
from lairmake.stages.poly.text import spell_object

Place = tuple[int, int]
"""x and y of a PE."""


def shift(place: Place) -> isl.Map:
    """Return { PE[x, y] -> PE[x + place x, y + place y] }."""
    return isl.Map(f"{{ PE[x, y] -> PE[x + ({place[0]}), y + ({place[1]})] }}")


def to_layer(layout: FabricLayout, offset: Place) -> FabricLayout:
    """Return the layout of a layer in the coordinates of layer.yaml.

    `offset` is what layer.yaml calls the PE that the layout calls PE[0, 0].
    """
    moved = move_layout(layout, offset)
    if offset == (0, 0):
        return moved
    roles = {name: replace(role, offset=offset) for name, role in moved.roles.items()}
    return replace(moved, roles=roles)


def find_offset(layout: FabricLayout) -> Place:
    """Return what layer.yaml calls the PE that a layer's programs and isl texts call PE[0, 0]."""
    return next((role.offset for role in layout.roles.values() if role.offset), (0, 0))


def move_layout(layout: FabricLayout, place: Place) -> FabricLayout:
    """Return a layout of which PE[0, 0] lies at `place`; the same one if that is PE[0, 0]."""
    if place == (0, 0):
        return layout
    return FabricLayout(
        grid=_move_pes(layout.grid, place),
        roles={name: _move_role(each, place) for name, each in layout.roles.items()},
        colours={name: _move_colour(each, place) for name, each in layout.colours.items()},
        arrivals={name: _move_entry(each, place) for name, each in layout.arrivals.items()},
        departures={name: _move_exit(each, place) for name, each in layout.departures.items()},
    )


def move_order(order: str, place: Place) -> str:
    """Return { tensor[e] -> [PE[x, y] -> index[i]] } with the ports moved."""
    relation = isl.Map(order)
    index = relation.range().unwrap().range().get_space()
    kept = isl.Map.identity(index.map_from_set())
    return spell_object(relation.apply_range(shift(place).product(kept)))


def _move_pes(text: str, place: Place) -> str:
    return spell_object(isl.UnionSet(text).apply(isl.UnionMap(shift(place))))


def _move_role(role: Role, place: Place) -> Role:
    x, y = role.origin or (0, 0)
    return replace(
        role, at=_move_pes(role.at, place), origin=(x + place[0], y + place[1]),
        tensors={name: _move_local(each, place) for name, each in role.tensors.items()},
    )


def _move_local(local: LocalTensor, place: Place) -> LocalTensor:
    """Return what lies in memory; it is { [PE[x, y] -> local[l]] -> tensor[e] }."""
    if local.stored is None:
        return local
    stored = isl.Map(local.stored)
    kept = isl.Map.identity(stored.domain().unwrap().range().get_space().map_from_set())
    return replace(local, stored=spell_object(stored.apply_domain(shift(place).product(kept))))


def _move_colour(colour: RouterColour, place: Place) -> RouterColour:
    positions = colour.positions
    return replace(
        colour,
        routes=None if colour.routes is None else _move_routes(colour.routes, place),
        positions=None if positions is None else tuple(_move_routes(p, place) for p in positions),
        counts=_move_numbers(colour.counts, place), ring=_move_numbers(colour.ring, place),
        pop=_move_numbers(colour.pop, place), filter=_move_numbers(colour.filter, place),
    )


def _move_routes(text: str, place: Place) -> str:
    """Return { [PE[x, y] -> from[]] -> to[] } moved."""
    routes = isl.UnionMap(text)
    sides = routes.domain().unwrap().range().identity()
    return spell_object(routes.apply_domain(isl.UnionMap(shift(place)).product(sides)))


def _move_numbers(text: str | None, place: Place) -> str | None:
    """Return { PE[x, y] -> [n] } moved."""
    if text is None:
        return None
    return spell_object(isl.UnionMap(text).apply_domain(isl.UnionMap(shift(place))))


def _move_entry(entry: PortEntry, place: Place) -> PortEntry:
    along = _move_numbers(entry.along, place)
    if along is not None:
        along = spell_object(isl.UnionMap(along).apply_range(isl.UnionMap(shift(place))))
    return replace(
        entry, along=along, order=move_order(entry.order, place),
        replicas=None if entry.replicas is None else _move_pes(entry.replicas, place),
    )


def _move_exit(departure: PortExit, place: Place) -> PortExit:
    return replace(departure, order=move_order(departure.order, place))
