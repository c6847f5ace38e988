"""The layout of a part where the part lies on a larger fabric.

All that names PEs is moved. Roles, streams and tensors are called `part.name`, for those of another
part may have the same name. Colours keep their numbers, and are called by them: parts never touch,
so that a number may be another colour in each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from stages.fabric.grid import SIDES
from stages.fabric.layout_yaml import Colour, Entry, Exit, Layout, LocalTensor, Queue, Role
from stages.poly.text import spell_object

KEPT = isl.UnionMap("{ " + "; ".join(f"{side}[] -> {side}[]" for side in SIDES) + " }")
Place = tuple[int, int]


def shift(place: Place) -> isl.Map:
    """Return { PE[x, y] -> PE[x + place x, y + place y] }."""
    return isl.Map(f"{{ PE[x, y] -> PE[x + ({place[0]}), y + ({place[1]})] }}")


def name_colour(number: int) -> str:
    """Return what a colour is called on the fabric of several parts."""
    return f"colour{number}"


def move_layout(layout: Layout, part: str, place: Place) -> Layout:
    """Return the layout of a part of which PE[0, 0] lies at `place`."""
    names = {name: name_colour(each.number) for name, each in layout.colours.items()}
    return Layout(
        grid=_move_pes(layout.grid, place),
        roles={f"{part}.{n}": _move_role(r, part, place, names) for n, r in layout.roles.items()},
        colours={names[n]: _move_colour(each, place) for n, each in layout.colours.items()},
        arrivals={
            f"{part}.{n}": _move_entry(each, part, place, names)
            for n, each in layout.arrivals.items()
        },
        departures={
            f"{part}.{n}": _move_exit(each, part, place, names)
            for n, each in layout.departures.items()
        },
    )


def move_order(order: str, place: Place) -> str:
    """Return { tensor[e] -> [PE[x, y] -> index[i]] } with the ports moved."""
    relation = isl.Map(order)
    index = relation.range().unwrap().range().get_space()
    kept = isl.Map.identity(index.map_from_set())
    return spell_object(relation.apply_range(shift(place).product(kept)))


def _move_pes(text: str, place: Place) -> str:
    return spell_object(isl.UnionSet(text).apply(isl.UnionMap(shift(place))))


def _move_role(role: Role, part: str, place: Place, names: Mapping[str, str]) -> Role:
    return replace(
        role, at=_move_pes(role.at, place), origin=place,
        listens=None if role.listens is None else tuple(names[name] for name in role.listens),
        input_queues=_rename(role.input_queues, names),
        output_queues=_rename(role.output_queues, names),
        tensors={n: _move_local(each, part, place) for n, each in role.tensors.items()},
    )


def _rename(
    queues: Mapping[str, Queue] | None, names: Mapping[str, str]
) -> Mapping[str, Queue] | None:
    return None if queues is None else {names[name]: queue for name, queue in queues.items()}


def _move_local(local: LocalTensor, part: str, place: Place) -> LocalTensor:
    """Return what lies in memory; it is { [PE[x, y] -> local[l]] -> tensor[e] }."""
    if local.stored is None:
        return local
    stored = isl.Map(local.stored)
    kept = isl.Map.identity(stored.domain().unwrap().range().get_space().map_from_set())
    moved = stored.apply_domain(shift(place).product(kept))
    return replace(local, tensor=f"{part}.{local.tensor}", stored=spell_object(moved))


def _move_colour(colour: Colour, place: Place) -> Colour:
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
    moving = isl.UnionMap(shift(place)).product(KEPT)
    return spell_object(isl.UnionMap(text).apply_domain(moving))


def _move_numbers(text: str | None, place: Place) -> str | None:
    """Return { PE[x, y] -> [n] } moved."""
    if text is None:
        return None
    return spell_object(isl.UnionMap(text).apply_domain(isl.UnionMap(shift(place))))


def _move_entry(entry: Entry, part: str, place: Place, names: Mapping[str, str]) -> Entry:
    along = _move_numbers(entry.along, place)
    if along is not None:
        along = spell_object(isl.UnionMap(along).apply_range(isl.UnionMap(shift(place))))
    return replace(
        entry, tensor=f"{part}.{entry.tensor}", colour=names[entry.colour], along=along,
        order=move_order(entry.order, place),
        replicas=None if entry.replicas is None else _move_pes(entry.replicas, place),
    )


def _move_exit(departure: Exit, part: str, place: Place, names: Mapping[str, str]) -> Exit:
    return replace(
        departure, tensor=f"{part}.{departure.tensor}",
        colours=tuple(names[name] for name in departure.colours),
        order=move_order(departure.order, place),
    )
