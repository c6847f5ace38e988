"""Roles and routers of all PEs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.engine import MAX_POSITIONS
from lairmake.stages.fabric.layout import FabricLayout, Role
from lairmake.stages.fabric.switches import POP_MODES, find_counts, read_switches
from lairmake.stages.machine.types import TYPES
from lairmake.stages.mapping.isl_texts import IslText, parse_map, parse_set
from lairmake.stages.mapping.yaml_text import Document, read_document
from lairmake.stages.movement.flow import RouterColour
from lairmake.stages.poly.arrays import evaluate_pw_aff, evaluate_set
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import find_example, list_maps, list_sets
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, bind_set, find_function

# --- Grid of a layout: roles and routes -----------------------------------------------------------

SIDES = ("N", "E", "S", "W", "ramp")
STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0), "ramp": (0, 0)}
"""The step to the neighbour on a side, in x and y."""

OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
"""The side on which a neighbour hears what leaves on a side."""

EVERY_INDEX = (0, 65535)
"""The indices that a router without filter hands to its PE, from the least to the greatest."""


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


def read_colours(colours: Mapping[str, RouterColour], grid: Grid) -> Colours:
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
    switches: NDArray[np.uint8], routes: NDArray[np.uint8], colour: RouterColour, grid: Grid
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


def _names(colours: Mapping[str, RouterColour]) -> tuple[str, ...]:
    """Return the name of each number; numbers that are not used get one, too."""
    numbers = [colour.number for colour in colours.values()]
    if len(set(numbers)) != len(numbers) or any(number < 0 for number in numbers):
        raise ValueError(f"the colours' numbers {numbers} are not distinct and not negative")
    by_number = {colour.number: name for name, colour in colours.items()}
    return tuple(by_number.get(i, f"colour {i}") for i in range(max(numbers, default=0) + 1))


def _positions(colour: RouterColour) -> Sequence[str]:
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

# --- Grids without most repeated rows and columns -------------------------------------------------
#
# So few PEs are looked at. Where each row is as the one two before it, an even number of rows in
# the middle is left out. A router that is left out is as one that is kept, and so are its
# neighbours: each of its faults is there once more, with other numbers.

Array = NDArray[Any]
PERIOD, KEPT = 2, 3
"""Rows after which they repeat, and rows that are kept at the start and the end of repetition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinned:
    """The PEs that are kept of a grid: those of some rows and columns.

    `grid` is the rectangle that they make, from PE[0, 0]. Of rows and of columns that repeat, those
    that are alike have one number in `alike`, by PE that is kept.
    """

    whole: Grid
    grid: Grid
    rows: Ints
    columns: Ints
    alike: Ints

    def find_place(self, number: int) -> tuple[int, int]:
        """Return x and y of a PE that is kept, by its number in `grid`."""
        row, column = divmod(int(number), self.grid.width)
        return self.whole.west + int(self.columns[column]), self.whole.north + int(self.rows[row])

    def take(self, values: Array) -> Array:
        """Return of values [...][PE] those of PEs that are kept."""
        lines = values.reshape(*values.shape[:-1], self.whole.height, self.whole.width)
        kept = lines[..., self.rows, :][..., self.columns]
        return kept.reshape(*values.shape[:-1], self.grid.size)


def thin(grid: Grid, values: Sequence[Array]) -> Thinned:
    """Return the PEs that are kept: rows and columns are alike where all `values` [...][PE] are."""
    lines = [each.reshape(-1, grid.height, grid.width) for each in values]
    rows, row_numbers = _keep(grid.height, [_compare(each) for each in lines])
    lines = [each[:, rows].transpose(0, 2, 1) for each in lines]
    columns, column_numbers = _keep(grid.width, [_compare(each) for each in lines])
    alike = row_numbers[:, None] * len(columns) + column_numbers
    kept = Grid(west=0, north=0, width=len(columns), height=len(rows))
    return Thinned(whole=grid, grid=kept, rows=rows, columns=columns, alike=alike.reshape(-1))


def _compare(lines: Array) -> Bools:
    """Return whether line k of [...][line][...] is as line k + PERIOD."""
    result = np.ones(max(0, lines.shape[1] - PERIOD), dtype=np.bool_)
    for each in lines:
        result &= (each[:-PERIOD] == each[PERIOD:]).all(axis=1)
    return result


def _keep(count: int, same: Sequence[Bools]) -> tuple[Ints, Ints]:
    """Return which of `count` lines are kept, and of each the number of those that it is like."""
    kept, like = np.ones(count, dtype=np.bool_), np.arange(count)
    repeated = np.logical_and.reduce(same)
    changes = np.flatnonzero(np.diff(np.concatenate(([False], repeated, [False]))))
    for first, end in changes.reshape(-1, 2):
        lines = slice(first, end + PERIOD)
        left_out = (end + PERIOD - first - 2 * KEPT) // PERIOD * PERIOD
        if left_out > 0:
            kept[first + KEPT : first + KEPT + left_out] = False
            like[lines] = first + np.arange(end + PERIOD - first) % PERIOD
    numbers = np.unique(like[kept], return_inverse=True)[1]
    return np.flatnonzero(kept), numbers

# --- Faults in texts of ports and filters ---------------------------------------------------------

Path = tuple[str | int, ...]
ORDER = "{ T[i] -> [PE[x, y] -> index[i]] }"
ALONG = "{ PE[x, y] -> PE[x, 0] }"
REPLICAS = "{ PE[x, y] : 0 <= x < 4 and 0 <= y < 4 }"
FILTER = "{ PE[x, y] -> [0, 7] }"
"""Examples of the texts of ports and filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """What is wrong under a path of keys; `said` is None where the `text` there is not isl."""

    path: Path
    said: str | None
    hint: str = ""
    text: str = ""
    is_set: bool = False


def explain(wrong: Wrong) -> str:
    """Return what is wrong with a layout that is in no file: the fault, its keys, and its place."""
    keys = ".".join(map(str, wrong.path))
    if wrong.said is not None:
        return f"{wrong.said}, in {keys} of the layout"
    source = Source(path=f"{keys} of the layout", text=wrong.text)
    return str(read_again(wrong, IslText(
        text=wrong.text, source=source, offsets=tuple(range(len(wrong.text) + 1)))))


def read_again(wrong: Wrong, text: IslText) -> UserError:
    """Return the error of a text that isl cannot read as what it is."""
    try:
        if wrong.is_set:
            parse_set(text)
        else:
            parse_map(text)
    except UserError as error:
        return error
    return UserError("isl: invalid input", text.place, wrong.hint)


def find_wrong_ports(layout: FabricLayout) -> Iterator[Wrong]:
    """Yield what is wrong with what enters and leaves: where, on which colours, in which order."""
    for name, entry in layout.arrivals.items():
        path: Path = ("arrivals", name)
        yield from _of_colours((*path, "colour"), (entry.colour,), layout)
        yield from find_wrong_form((*path, "order"), entry.order, ORDER)
        yield from find_wrong_form((*path, "along"), entry.along, ALONG)
        yield from find_wrong_form((*path, "replicas"), entry.replicas, REPLICAS)
    for name, leaving in layout.departures.items():
        path = ("departures", name)
        yield from _of_colours((*path, "colours"), leaving.colours, layout)
        yield from find_wrong_form((*path, "order"), leaving.order, ORDER)


def _of_colours(path: Path, names: Sequence[str], layout: FabricLayout) -> Iterator[Wrong]:
    for name in names:
        if name not in layout.colours:
            yield Wrong(path=path, said=f"{path[1]} is on colour {name}, which there is not",
                        hint=f"one of {', '.join(layout.colours)}")


def find_wrong_form(path: Path, text: str | None, form: str) -> Iterator[Wrong]:
    """Yield what is wrong with a text that should have as many dimensions as that of a form."""
    kind = isl.Map if "->" in form else isl.Set
    hint = f"write `{form}`"
    if text is None:
        return
    try:
        read = kind(text)
    except isl.Error:
        yield Wrong(path=path, said=None, hint=hint, text=text, is_set=kind is isl.Set)
        return
    if read.dim(isl.dim_type.param) or _find_form(read) != _find_form(kind(form)):
        said = f"{path[-1]} of {path[1]} is not of its form: {text}"
        yield Wrong(path=path, said=said, hint=hint)


def _find_form(read: isl.Map | isl.Set) -> tuple[int, ...]:
    """Return how many dimensions tell a form: of an order only those of the PEs."""
    if isinstance(read, isl.Set):
        return (read.dim(isl.dim_type.set),)
    if read.range().is_wrapping():
        return (read.range().unwrap().dim(isl.dim_type.in_),)
    return read.dim(isl.dim_type.in_), read.dim(isl.dim_type.out)

# --- Faults in all texts of a layout --------------------------------------------------------------

MAX_COLOURS = 32
"""The most colours that the engine has room for."""
MOST_PES = 2**22
"""The most PEs of a grid: several times those of a wafer."""
STORED = "write `map: { [PE[x, y] -> L[i]] -> T[i] }` for a part of `tensor: T`"
ROUTES = f"write `{{ [PE[x, y] -> W[]] -> ramp[] }}`; sides: {', '.join(SIDES)}"


def check_texts(layout: FabricLayout, source: Source) -> None:
    """Raise UserErrors with what is wrong with the texts of a layout, and with its names."""
    found = find_wrong(layout)
    if found:
        document = read_document(source)
        raise UserErrors([_explain(wrong, source, document) for wrong in found])


def find_wrong(layout: FabricLayout) -> list[Wrong]:
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


def _of_grid(layout: FabricLayout) -> Iterator[Wrong]:
    """Yield what is wrong with the rectangle of all PEs."""
    hint = "write `{ PE[x, y] : 0 <= x < 4 and 0 <= y < 4 }`"
    try:
        grid = read_grid(layout.grid)
    except (isl.Error, ValueError):
        yield Wrong(path=("grid",), said="the grid is not a rectangle of PEs", hint=hint)
        return
    if grid.size > MOST_PES:
        yield Wrong(path=("grid",), said=f"the grid has {grid.size} PEs", hint=hint)


def _of_roles(layout: FabricLayout) -> Iterator[Wrong]:
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


def _of_types(layout: FabricLayout) -> Iterator[Wrong]:
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


def _of_tensors(layout: FabricLayout) -> Iterator[Wrong]:
    """Yield which local tensors are put into memory, or read from it, and are part of none."""
    for name, role in layout.roles.items():
        for local, tensor in role.tensors.items():
            path: Path = ("roles", name, "tensors", local)
            if tensor.stored is not None and _is_no_map(tensor.stored):
                yield Wrong(path=(*path, "map"), said=None, hint=STORED, text=tensor.stored)
            elif tensor.transfer is not None and None in (tensor.tensor, tensor.stored):
                yield Wrong(path=path, said=f"{local} of role {name} has `transfer`, and no "
                            f"{'`tensor`' if tensor.tensor is None else '`map`'}", hint=STORED)
            elif tensor.buffers is not None and tensor.shape[:1] != (tensor.buffers,):
                yield Wrong(path=(*path, "buffers"), said=f"{local} of role {name} has "
                            f"{tensor.shape[0] if tensor.shape else 1} of {tensor.buffers} buffers",
                            hint="write its first size")


def _is_no_map(text: str) -> bool:
    try:
        return bool(isl.Map(text).dim(isl.dim_type.param))
    except isl.Error:
        return True


def _of_numbers_of_colours(layout: FabricLayout) -> Iterator[Wrong]:
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


def _find(name: str, colour: RouterColour, grid: isl.UnionSet) -> Iterator[Wrong]:
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
    """Say whether a relation is { [PE[x, y] -> from[]] -> to[] }."""
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

