"""The isl texts of a layout, and its types: what is wrong in them, in which line and column."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.fabric.grid import SIDES, read_grid
from lairmake.stages.fabric.layout_yaml import Layout
from lairmake.stages.fabric.library import MAX_POSITIONS
from lairmake.stages.fabric.port_texts import (
    FILTER,
    Path,
    Wrong,
    find_wrong_form,
    find_wrong_ports,
    read_again,
)
from lairmake.stages.fabric.switches import POP_MODES
from lairmake.stages.machine.types import TYPES
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.mapping.yaml_text import Document, read_document
from lairmake.stages.movement.flow import Colour
from lairmake.stages.poly.canonical import find_example, list_maps, list_sets

MAX_COLOURS = 32
"""As many as the engine has room for."""
MOST_PES = 2**22
"""PEs of a grid: several times those of a wafer."""
STORED = "write `map: { [PE[x, y] -> L[i]] -> T[i] }` for a part of `tensor: T`"
ROUTES = f"write `{{ [PE[x, y] -> W[]] -> ramp[] }}`; sides: {', '.join(SIDES)}"


def check_texts(layout: Layout, source: Source) -> None:
    """Raise UserErrors with what is wrong with the texts of a layout, and with its names."""
    found = find_wrong(layout)
    if found:
        document = read_document(source)
        raise UserErrors([_explain(wrong, source, document) for wrong in found])


def find_wrong(layout: Layout) -> list[Wrong]:
    """Return what is wrong with grid, roles, tensors, colours and ports of a layout."""
    found = [*_of_grid(layout), *_of_numbers_of_colours(layout), *_of_types(layout),
             *_of_tensors(layout), *find_wrong_ports(layout)]
    if not found:
        grid = isl.UnionSet(layout.grid)
        found = [*_of_roles(layout), *(wrong for name, colour in layout.colours.items()
                                       for wrong in _find(name, colour, grid))]
    return found


def find_place(source: Source, path: Path) -> Span:
    """Return where the value under a path of keys stands, or what encloses it."""
    return _find_span(read_document(source), path)


def _find_span(document: Document, path: Path) -> Span:
    while path not in document.values:
        path = path[:-1]
    return document.values[path]


def _explain(wrong: Wrong, source: Source, document: Document) -> UserError:
    if wrong.said is not None:
        return UserError(wrong.said, _find_span(document, wrong.path), wrong.hint)
    value = document.value
    for key in wrong.path:
        value = value[key]
    return read_again(wrong, IslText(
        text=value, source=source, offsets=document.offsets[wrong.path]))


def _of_grid(layout: Layout) -> Iterator[Wrong]:
    """Yield what is wrong with the rectangle of all PEs."""
    hint = "write `{ PE[x, y] : 0 <= x < 4 and 0 <= y < 4 }`"
    try:
        grid = read_grid(layout.grid)
    except (isl.Error, ValueError):
        yield Wrong(path=("grid",), said="the grid is not a rectangle of PEs", hint=hint)
        return
    if grid.size > MOST_PES:
        yield Wrong(path=("grid",), said=f"the grid has {grid.size} PEs", hint=hint)


def _of_roles(layout: Layout) -> Iterator[Wrong]:
    """Yield which roles have no PEs, or some of another one."""
    known = isl.UnionSet("{ }")
    for name, role in layout.roles.items():
        path: Path = ("roles", name, "at")
        try:
            pes = isl.UnionSet(role.at)
        except isl.Error:
            yield Wrong(path=path, said=None, text=role.at, is_set=True,
                        hint="write `{ PE[x, y] : 0 <= x < 4 and y = 0 }`")
            continue
        if any(each.get_tuple_name() != "PE" or each.dim(isl.dim_type.set) != 2
                              or each.dim(isl.dim_type.param) for each in list_sets(pes)):
            yield Wrong(path=path, said=f"role {name} is of no set of PEs",
                        hint="write `{ PE[x, y] : 0 <= x < 4 and y = 0 }`")
            continue
        both = known.intersect(pes)
        if not both.is_empty():
            yield Wrong(path=path, said=f"{find_example(both)} has another role than {name}, too",
                        hint="a PE runs one program")
        known = known.union(pes)


def _of_types(layout: Layout) -> Iterator[Wrong]:
    """Yield which types of elements there are not."""
    types: dict[Path, str] = {
        ("roles", name, "tensors", local): tensor.type
        for name, role in layout.roles.items() for local, tensor in role.tensors.items()}
    types |= {("arrivals", name): entry.type for name, entry in layout.arrivals.items()}
    types |= {("departures", name): entry.type for name, entry in layout.departures.items()}
    for path, type_ in types.items():
        if type_ not in TYPES:
            yield Wrong(path=(*path, "type"), said=f"{path[-1]} is of type {type_}",
                        hint=f"one of {', '.join(TYPES)}")


def _of_tensors(layout: Layout) -> Iterator[Wrong]:
    """Yield which local tensors are put into memory, or read from it, and are part of none."""
    for name, role in layout.roles.items():
        for local, tensor in role.tensors.items():
            path: Path = ("roles", name, "tensors", local)
            if tensor.stored is not None and _is_no_map(tensor.stored):
                yield Wrong(path=(*path, "map"), said=None, hint=STORED, text=tensor.stored)
            elif tensor.transfer is not None and None in (tensor.tensor, tensor.stored):
                yield Wrong(path=path, said=f"{local} of role {name} has `transfer`, and no "
                            f"{'`tensor`' if tensor.tensor is None else '`map`'}", hint=STORED)


def _is_no_map(text: str) -> bool:
    try:
        return bool(isl.Map(text).dim(isl.dim_type.param))
    except isl.Error:
        return True


def _of_numbers_of_colours(layout: Layout) -> Iterator[Wrong]:
    """Yield which numbers of colours no machine has, or two of them."""
    seen: dict[int, str] = {}
    for name, colour in layout.colours.items():
        path: Path = ("colours", name, "number")
        if not 0 <= colour.number < MAX_COLOURS:
            yield Wrong(path=path, said=f"colour {name} has number {colour.number}",
                        hint=f"from 0 to {MAX_COLOURS - 1}")
        elif colour.number in seen:
            yield Wrong(path=path, said=f"colour {name} has the number of {seen[colour.number]}",
                        hint="each colour has one of its own")
        seen[colour.number] = name


def _find(name: str, colour: Colour, grid: isl.UnionSet) -> Iterator[Wrong]:
    """Yield what is wrong with a colour on the PEs of a grid."""
    at: Path = ("colours", name)
    positions = colour.positions or ()
    if colour.positions is not None and colour.routes is not None:
        yield Wrong(path=(*at, "positions"), said=f"colour {name} has routes and positions",
                    hint="write the routes as the first position")
    if len(positions) > MAX_POSITIONS:
        yield Wrong(path=(*at, "positions"), said=f"colour {name} has {len(positions)} positions",
                    hint=f"a switch has {MAX_POSITIONS} at most")
    texts = {(*at, "positions", k): text for k, text in enumerate(positions)}
    if colour.routes is not None:
        texts[(*at, "routes")] = colour.routes
    for path, text in texts.items():
        yield from _of_routes(path, text)
    yield from find_wrong_form((*at, "filter"), colour.filter, FILTER)
    numbers = {"counts": (colour.counts, 1, len(positions or [""])), "ring": (colour.ring, 0, 1),
               "pop": (colour.pop, 0, len(POP_MODES) - 1)}
    for key, (number, least, greatest) in numbers.items():
        if number is not None:
            yield from _of_numbers((*at, key), number, grid, least, greatest)


def _parsed(text: str) -> isl.UnionMap | None:
    """Return the relation of a text, which has no symbolic constants; None if it is none."""
    try:
        relation = isl.UnionMap(text)
    except isl.Error:
        return None
    return None if relation.dim(isl.dim_type.param) else relation


def _of_routes(path: Path, text: str) -> Iterator[Wrong]:
    """Yield what is wrong with { [PE[x, y] -> from[]] -> to[] }."""
    relation = _parsed(text)
    if relation is None:
        yield Wrong(path=path, said=None, hint=ROUTES, text=text)
        return
    for each in list_maps(relation):
        if not is_route(each):
            yield Wrong(path=path, said=f"this is no route: {each}", hint=ROUTES)


def is_route(relation: isl.Map) -> bool:
    """Whether a relation is { [PE[x, y] -> from[]] -> to[] }."""
    wrapped = relation.domain().unwrap() if relation.domain().is_wrapping() else None
    return wrapped is not None and (
        wrapped.dim(isl.dim_type.in_) == 2 and wrapped.dim(isl.dim_type.out) == 0
        and relation.dim(isl.dim_type.out) == 0
        and wrapped.get_tuple_name(isl.dim_type.out) in SIDES
        and relation.get_tuple_name(isl.dim_type.out) in SIDES
    )


def _of_numbers(
    path: Path, text: str, grid: isl.UnionSet, least: int, greatest: int
) -> Iterator[Wrong]:
    """Yield what is wrong with { PE[x, y] -> [n] }, where least <= n <= greatest."""
    key, hint = path[-1], f"write `{{ PE[x, y] -> [{greatest}] }}`: {least} to {greatest}"
    relation = _parsed(text)
    if relation is None:
        yield Wrong(path=path, said=None, hint=hint, text=text)
        return
    for each in list_maps(relation):
        if each.dim(isl.dim_type.in_) != 2 or each.dim(isl.dim_type.out) != 1:
            yield Wrong(path=path, said=f"{key} is no number of each PE: {each}", hint=hint)
            return
    if relation.n_map() != 1:
        yield Wrong(path=path, said=f"{key} is no number of PEs alone: {text}", hint=hint)
        return
    relation = relation.intersect_domain(grid)
    if not relation.is_single_valued():
        yield Wrong(path=path, said=f"{key} has several numbers for one PE", hint=hint)
    fitting = isl.UnionSet(f"{{ [n] : {least} <= n <= {greatest} }}")
    wrong = relation.subtract_range(fitting)
    if not wrong.is_empty():
        place = isl.UnionSet.from_point(wrong.domain().sample_point())
        number = find_example(place.apply(wrong)).strip("[]")
        said = f"{key} is {number} at {find_example(place)}; it is from {least} to {greatest}"
        yield Wrong(path=path, said=said, hint=hint)
