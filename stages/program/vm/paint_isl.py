"""Writer, reader and checks of paint.isl."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.fabric.engine import MAX_POSITIONS
from lairmake.stages.fabric.grid import ROUTES, is_route
from lairmake.stages.fabric.switches import POP_MODES
from lairmake.stages.mapping.isl_texts import IslText, parse_map, parse_set
from lairmake.stages.poly.canonical import find_example, list_maps, list_sets
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.iscc import COMMENT, TextError, statements
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.text import write_objects
from lairmake.stages.program.vm.colours import (
    COLOURS,
    CONDITIONS,
    MEANINGS,
    NUMBERS,
    Features,
    list_colours,
)
from lairmake.stages.program.vm.geometry import ROLES, Geometry
from lairmake.stages.program.vm.machine import paint_machine
from lairmake.stages.program.vm.regions import (
    CODE,
    COUNTS,
    GEO,
    NEVER,
    POP,
    RING,
    ROLE,
    Painted,
    PaintedRegion,
    Painting,
    find_rectangles,
    spell_rectangle,
)

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

# --- Readable statements of painted PEs -----------------------------------------------------------

Union = isl.UnionSet | isl.UnionMap
FEW = 4
"""Largest number of values of a geo-var that are listed; more are a function of the place."""
SIDES = "{ PE[x, y] : x < %d }", "{ PE[x, y] : x >= %d }"


def write_statement(name: str, union: Union, middle: int) -> str:
    """Return `name := { ... };` of sets or relations of PEs; `middle` is the middle column."""
    lines = list(_list_lines(union, middle))
    body = f" {lines[0]} " if len(lines) == 1 else "\n  " + ";\n  ".join(lines) + "\n"
    return f"{name} := {{{body}}};\n"


def spell_pes(pes: isl.Set) -> str:
    """Return a set of PEs on one line, spelt as in `write_statement`."""
    return f"{{ {'; '.join(_list_lines(isl.UnionSet.from_set(pes), 0))} }}"


def _list_lines(union: Union, middle: int) -> Iterator[str]:
    """Yield the disjuncts, grouped by route or value, each group from north to south."""
    if isinstance(union, isl.UnionSet):
        for pes in list_sets(union):
            yield from _spell(pes, "", "") or _spell_function(isl.UnionSet.from_set(pes))
        return
    for each in sorted(list_maps(union), key=_find_route):
        if route := _find_route(each):
            heard, to = route
            pes = each.curry().domain()
            yield from _spell(pes, "[", f" -> {heard}[]] -> {to}[]") or _spell_function(each)
        elif (values := _list_values(each)) is not None:
            for value, pes in values.items():
                yield from _spell(pes, "", f" -> [{value}]") or _spell_function(each)
        else:
            for side in SIDES:
                yield from _spell_function(each.intersect_domain(isl.Set(side % middle)))


def _find_route(each: isl.Map) -> tuple[str, ...]:
    """Return (heard, to) of { [PE[x, y] -> heard[]] -> to[] }; () for numbers."""
    space = each.get_space()
    if not space.domain().is_wrapping():
        return ()
    return space.domain().unwrap().get_tuple_name(OUT), space.get_tuple_name(OUT)


def _spell(pes: isl.Set, before: str, behind: str) -> list[str]:
    """Return the rectangles of a set, with the value painted there; none for other shapes."""
    result = []
    for rectangle in find_rectangles(pes) or []:
        place, colon, where = spell_rectangle(rectangle).partition(" : ")
        result.append(f"{before}{place}{behind}{colon}{where}")
    return result


def _spell_function(each: isl.Map | Union) -> list[str]:
    """Return the disjuncts as other texts of isl spell them."""
    text = write_objects("", {"it": each})
    return [line.strip() for line in text[text.index("{") + 1 : text.rindex("}")].split(";")]


def _list_values(numbers: isl.Map) -> dict[int, isl.Set] | None:
    """Return the PEs of each number; None for more than FEW numbers."""
    found: dict[int, isl.Set] = {}
    while not numbers.is_empty():
        if len(found) == FEW:
            return None
        point = isl.Set.from_point(numbers.range().sample_point())
        value = find_least(point, 0).to_python()
        found[value] = numbers.intersect_range(point).domain()
        numbers = numbers.subtract_range(point)
    return dict(sorted(found.items()))

# --- Writer of paint.isl --------------------------------------------------------------------------

HEADER = """The virtual machine: which PE runs which program, and where routers send what they hear.
x grows to the east, y to the south. A colour has a statement for each position of its switches,
all of which a PE has, in a ring, but where it says: counts, how many of them a PE has; ring, 0 if
the first one does not follow the last; pop, 1 if a router pops the command that it obeys."""


def write_painting(region: PaintedRegion) -> str:
    """Return the text of paint.isl."""
    parts: list[tuple[str, dict[str, Any]]] = [("Roles", dict(_list_roles(region)))]
    for colour in COLOURS:
        statements = dict(_list_of_colour(region, colour))
        if statements:
            parts.append((f"{colour}: {MEANINGS[colour]}", statements))
    variables = {name: _find_value(values) for name, values in sorted(region.painted.items())
                 if name.startswith(GEO)}
    parts.append(("Geo-vars: what programs know of their PE", variables))
    middle = region.width // 2
    texts = ["\n".join([f"# {comment}\n", *(
        write_statement(name, each, middle) for name, each in objects.items())])
        for comment, objects in parts]
    comments = "".join(f"# {line}\n" for line in HEADER.splitlines())
    return "\n".join([comments, *texts])


def _list_roles(region: PaintedRegion) -> Iterator[tuple[str, isl.UnionSet]]:
    """Yield role_NAME := { PE[x, y] }."""
    for role in ROLES:
        of_role = isl.UnionSet(f"{{ {role}[] }}")
        yield f"{ROLE}{role}", region.painted[CODE].intersect_range(of_role).domain()


def _list_of_colour(region: PaintedRegion, colour: str) -> Iterator[tuple[str, isl.UnionMap]]:
    """Yield { [PE[x, y] -> from[]] -> to[] } of each position, and where switches are others."""
    positions = [name for k in range(4) if (name := f"{colour}_{k}") in region.painted]
    for name in positions:
        yield name, region.painted[name].uncurry()
    usual = {COUNTS: len(positions), RING: 1, POP: NEVER}
    for key, value in usual.items():
        numbers = region.painted.get(f"{colour}_{key}")
        others = numbers and numbers.subtract_range(isl.UnionSet(f"{{ [{value}] }}"))
        if others and not others.is_empty():
            yield f"{colour}_{key}", others


def _find_value(values: isl.UnionMap) -> isl.UnionSet | isl.UnionMap:
    """Return { PE[x, y] } for a condition, which has no number; a number as it is."""
    conditions = values.intersect_range(isl.UnionSet("{ [] }"))
    return values if conditions.is_empty() else values.domain()

# --- Reader of paint.isl --------------------------------------------------------------------------
#
# A user may have edited the text, so all faults are reported with their places.
#
# Paper    E Sec. 6.2

READING_HINT = "paint writes paint.isl; what it wrote is in the store of the build"
MOST = 10_000_000
"""Limit of all checks, in operations of isl: about a second."""

MOST_COUNTED = 2**15 - 1
"""The largest number of a geo-var."""
NO_PES, NO_NUMBERS = isl.Set("{ PE[x, y] : false }"), isl.Map("{ PE[x, y] -> [n] : false }")
T = TypeVar("T", isl.UnionSet, isl.UnionMap)


def read_painting(source: Source) -> Painting:
    """Return the painting of paint.isl.

    Raises UserErrors for faults of an edited text: malformed statements or sets, unknown names,
    missing roles or positions, and numbers that a switch cannot have.
    """
    reader = _Reader(source)
    try:
        with limit_operations(MOST):
            painting = reader.read()
    except TooManyOperations:
        raise UserError(
            f"{source.path} has sets that isl needs long for", hint=READING_HINT
        ) from None
    if reader.errors:
        raise UserErrors(reader.errors)
    return painting


class _Reader:
    """A reader of statements, which notes their faults."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.errors: list[UserError] = []
        try:
            self.statements = {each.name: each for each in statements(source.text)}
        except TextError as error:
            place = Span(source=source, start=error.position, end=error.position + 1)
            raise UserError(error.message, place, READING_HINT) from None

    def read(self) -> Painting:
        """Return the painting, as far as its statements can be read."""
        for name in self.statements:
            if name not in KNOWN:
                self.note(name, f"the virtual machine has no {name}")
        roles = {role: self.read_set(ROLE + role) for role in ROLES}
        self.check_apart(roles)
        colours = {each: self.read_colour(each) for each in COLOURS
                   if any(name in self.statements for name in _list_names(each))}
        conditions = {each: self.read_set(GEO + each) for each in CONDITIONS
                      if GEO + each in self.statements}
        numbers = {each: self.read_numbers(GEO + each, 0, MOST_COUNTED) for each in NUMBERS
                   if GEO + each in self.statements}
        return Painting(roles=roles, colours=colours, variables={**conditions, **numbers})

    def note(self, name: str, said: str, hint: str = READING_HINT) -> None:
        """Note a fault of a statement."""
        start = self.statements[name].start
        span = Span(source=self.source, start=start, end=start + len(name))
        self.errors.append(UserError(said, span, hint))

    def parse(self, parse: Callable[[IslText], T], name: str, nothing: T) -> T:
        """Return the isl object of a statement, or `nothing` for a malformed one."""
        statement = self.statements.get(name)
        if statement is None:
            self.errors.append(UserError(f"{self.source.path} has no {name}", hint=READING_HINT))
            return nothing
        if statement.factor is not None:
            self.note(name, f"{name} is restricted to {statement.factor}",
                      "write the constraints into its own braces")
        if '"' in COMMENT.sub("", statement.expression):  # to isl it ends with its line
            self.note(name, f'{name} has a `"`', "names of PEs and sides have none")
            return nothing
        first = statement.expression_start
        text = IslText(text=statement.expression, source=self.source, offsets=tuple(
            range(first, first + len(statement.expression) + 1)))
        try:
            return parse(text)
        except UserError as error:
            self.errors.append(error)
            return nothing

    def read_set(self, name: str) -> isl.Set:
        """Return the set of PEs { PE[x, y] } of a statement."""
        said = self.parse(parse_set, name, isl.UnionSet("{ }"))
        for each in list_sets(said):
            if each.is_wrapping() or each.get_tuple_name() != "PE" or each.dim(SET) != 2:
                self.note(name, f"{name} has something else than PEs: {each}",
                          "write `{ PE[x, y] : ... }`")
                return NO_PES
        return isl.Set.from_union_set(said) if said.n_set() else NO_PES

    def read_colour(self, colour: str) -> Painted:
        """Return the routes of a colour; each of its positions up to the last has a statement."""
        names = [f"{colour}_{k}" for k in range(MAX_POSITIONS)]
        given = [name for name in names if name in self.statements]
        for name in names[:len(given)]:
            self.check_routes(name)
        for name in given[len(given):] or [n for n in given if n not in names[:len(given)]]:
            self.note(name, f"{name} is a position, and one before it is missing")
        numbers = {COUNTS: (1, max(1, len(given))), RING: (0, 1), POP: (0, len(POP_MODES) - 1)}
        said = {key: self.read_text(f"{colour}_{key}", *interval)
                for key, interval in numbers.items()}
        return Painted(positions=tuple(self.text(name) for name in given), counts=said[COUNTS],
                       ring=said[RING], pop=said[POP])

    def text(self, name: str) -> str:
        """Return the isl text of a statement, on one line."""
        return " ".join(COMMENT.sub("", self.statements[name].expression).split())

    def check_routes(self, name: str) -> None:
        """Note anything in a statement but routes { [PE[x, y] -> from[]] -> to[] }."""
        for each in list_maps(self.parse(parse_map, name, isl.UnionMap("{ }"))):
            if not is_route(each):
                self.note(name, f"{name} has something else than routes: {each}", ROUTES)
                return

    def read_text(self, name: str, least: int, greatest: int) -> str | None:
        """Return the text of { PE[x, y] -> [n] }; None where there is none."""
        if name not in self.statements:
            return None
        numbers = self.read_numbers(name, least, greatest)
        return None if numbers.is_empty() else self.text(name)

    def read_numbers(self, name: str, least: int, greatest: int) -> isl.Map:
        """Return { PE[x, y] -> [n] }, where least <= n <= greatest."""
        hint = f"write `{{ PE[x, y] -> [{least}] : ... }}`"
        said = self.parse(parse_map, name, isl.UnionMap("{ }"))
        for each in list_maps(said):
            if not _is_number(each):
                self.note(name, f"{name} has something else than a number of PEs: {each}", hint)
                return NO_NUMBERS
        outside = said.subtract_range(isl.UnionSet(f"{{ [n] : {least} <= n <= {greatest} }}"))
        if not said.is_single_valued():
            self.note(name, f"{name} has several numbers for one PE", hint)
        elif not outside.is_empty():
            place = isl.UnionSet.from_point(outside.domain().sample_point())
            number = find_example(place.apply(outside)).strip("[]")
            self.note(name, f"{name} is {number} at {find_example(place)}; it is from {least} to "
                      f"{greatest}", hint)
        return isl.Map.from_union_map(said) if said.n_map() else NO_NUMBERS

    def check_apart(self, roles: Mapping[str, isl.Set]) -> None:
        """Note PEs with two roles."""
        known = NO_PES
        for role, pes in roles.items():
            both = known.intersect(pes)
            if not both.is_empty():
                self.note(ROLE + role, f"{find_example(both)} has another role, too")
            known = known.union(pes)


def _list_names(colour: str) -> list[str]:
    """Return the names of the statements that a colour may have."""
    return [f"{colour}_{key}" for key in (*range(MAX_POSITIONS), COUNTS, RING, POP)]


def _is_number(relation: isl.Map) -> bool:
    return (
        not relation.get_space().domain().is_wrapping()
        and not relation.get_space().range().is_wrapping()
        and relation.get_tuple_name(IN) == "PE" and relation.dim(IN) == 2
        and relation.get_tuple_name(OUT) is None and relation.dim(OUT) == 1
    )


KNOWN = {
    *(ROLE + role for role in ROLES), *(GEO + each for each in (*CONDITIONS, *NUMBERS)),
    *(name for colour in COLOURS for name in _list_names(colour)),
}
"""The names of all possible statements."""

# --- Checks against the program -------------------------------------------------------------------
#
# Routes may be edited, as long as the layout has no faults with them. Roles and geo-vars follow
# from the field, since programs and memory are laid out for them.

CHECKS_HINT = "paint writes paint.isl anew once it is deleted"


def check_painting(
    painting: Painting, geometry: Geometry, features: Features, path: str
) -> None:
    """Raise UserErrors for a missing colour, or for roles or geo-vars not of the field."""
    found = list(_find_differences(painting, geometry, features, path))
    if found:
        raise UserErrors(UserError(said, hint=CHECKS_HINT) for said in found)


def _find_differences(
    painting: Painting, geometry: Geometry, features: Features, path: str
) -> Iterator[str]:
    for colour in list_colours(features):
        if colour not in painting.colours:
            yield f"{path} has no {colour}_0"
    for colour in painting.colours:
        if colour not in list_colours(features):
            yield f"{path} has {colour}, which the program does not use"
    painted = paint_machine(geometry, features).painted
    code, said = painted[CODE], painting.roles
    yield from _compare({ROLE + role: _as_values(pes) for role, pes in said.items()},
                        {ROLE + role: _of_role(code, role) for role in said}, path)
    yield from _compare(
        {f"{GEO}{name}": _as_values(each) for name, each in painting.variables.items()},
        {name: each for name, each in painted.items() if name.startswith(GEO)}, path)


def _compare(
    found: Mapping[str, isl.UnionMap], expected: Mapping[str, isl.UnionMap], path: str
) -> Iterator[str]:
    """Yield messages on relations that differ from those expected, each with a PE."""
    for name in dict.fromkeys((*expected, *found)):
        if name not in found:
            yield f"{path} has no {name}"
        elif name not in expected:
            yield f"{path} has {name}, which the program does not use"
        elif not found[name].is_equal(expected[name]):
            one, other = found[name], expected[name]
            wrong = one.subtract(other).union(other.subtract(one)).domain()
            yield f"{name} of {path} is not that of the field at {find_example(wrong)}"


def _of_role(code: isl.UnionMap, role: str) -> isl.UnionMap:
    """Return { PE[x, y] -> [] } for the PEs of a role."""
    return _as_values(isl.Set.from_union_set(code.intersect_range(
        isl.UnionSet(f"{{ {role}[] }}")).domain()))


def _as_values(variable: isl.Set | isl.Map) -> isl.UnionMap:
    """Return { PE[x, y] -> [] } for a condition, { PE[x, y] -> [n] } for a number."""
    if isinstance(variable, isl.Map):
        return isl.UnionMap.from_map(variable)
    domain = isl.UnionSet.from_set(variable)
    return isl.UnionMap.from_domain_and_range(domain, isl.UnionSet("{ [] }"))
