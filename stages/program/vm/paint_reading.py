"""Read paint.isl, which somebody may have edited: what is wrong in it, and where.

Paper    E Sec. 6.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.fabric.engine import MAX_POSITIONS
from lairmake.stages.fabric.grid import ROUTES, is_route
from lairmake.stages.fabric.layout import POP_MODES
from lairmake.stages.mapping.isl_texts import IslText, parse_map, parse_set
from lairmake.stages.poly.canonical import find_example, list_maps, list_sets
from lairmake.stages.poly.iscc import COMMENT, TextError, statements
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.program.regions.properties import COUNTS, GEO, POP, RING
from lairmake.stages.program.vm.colours import COLOURS
from lairmake.stages.program.vm.painting import ROLE, Painted, Painting
from lairmake.stages.program.vm.roles import ROLES
from lairmake.stages.program.vm.variables import CONDITIONS, NUMBERS

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
READING_HINT = "paint writes paint.isl; what it wrote is in the store of the build"
MOST = 10_000_000
"""What all checks may take, in isl's own unit: about a second."""

MOST_COUNTED = 2**15 - 1
"""The largest number of a geo-var."""
NO_PES, NO_NUMBERS = isl.Set("{ PE[x, y] : false }"), isl.Map("{ PE[x, y] -> [n] : false }")
T = TypeVar("T", isl.UnionSet, isl.UnionMap)


def read_painting(source: Source) -> Painting:
    """Return what paint.isl says.

    Raises UserErrors where it was edited to say something else: what is no statement or no isl, a
    name that nothing has, a role or a position left out, numbers that a switch cannot have.
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
    """Reads statements, and notes what is wrong with them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.errors: list[UserError] = []
        try:
            self.statements = {each.name: each for each in statements(source.text)}
        except TextError as error:
            place = Span(source=source, start=error.position, end=error.position + 1)
            raise UserError(error.message, place, READING_HINT) from None

    def read(self) -> Painting:
        """Return what the statements say, as far as they say anything."""
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
        """Note what is wrong with a statement."""
        start = self.statements[name].start
        span = Span(source=self.source, start=start, end=start + len(name))
        self.errors.append(UserError(said, span, hint))

    def parse(self, parse: Callable[[IslText], T], name: str, nothing: T) -> T:
        """Return the isl object of a statement, or nothing where it is none."""
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
        """Return { PE[x, y] }."""
        said = self.parse(parse_set, name, isl.UnionSet("{ }"))
        for each in list_sets(said):
            if each.is_wrapping() or each.get_tuple_name() != "PE" or each.dim(SET) != 2:
                self.note(name, f"{name} has something else than PEs: {each}",
                          "write `{ PE[x, y] : ... }`")
                return NO_PES
        return isl.Set.from_union_set(said) if said.n_set() else NO_PES

    def read_colour(self, colour: str) -> Painted:
        """Return where routers send a colour; its first positions have a statement each."""
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
        """Note what is no route { [PE[x, y] -> from[]] -> to[] }."""
        for each in list_maps(self.parse(parse_map, name, isl.UnionMap("{ }"))):
            if not is_route(each):
                self.note(name, f"{name} has something else than routes: {each}", ROUTES)
                return

    def read_text(self, name: str, least: int, greatest: int) -> str | None:
        """Return the text of { PE[x, y] -> [n] }, None where there is none."""
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
        """Note where a PE has two roles."""
        known = NO_PES
        for role, pes in roles.items():
            both = known.intersect(pes)
            if not both.is_empty():
                self.note(ROLE + role, f"{find_example(both)} has another role, too")
            known = known.union(pes)


def _list_names(colour: str) -> list[str]:
    """Return the names of the statements that a colour can have."""
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
"""The names of all statements that there can be."""
