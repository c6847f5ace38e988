"""Statements that a person reads: what is painted on PEs, by rectangles and checkerboards."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from lairmake.stages.poly.canonical import list_maps, list_sets
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.text import write_objects
from lairmake.stages.program.regions.boards import find_rectangles, spell_rectangle

OUT = isl.dim_type.out
Union = isl.UnionSet | isl.UnionMap
FEW = 4
"""So many values of a geo-var are told one by one; more are a function of the place."""
SIDES = "{ PE[x, y] : x < %d }", "{ PE[x, y] : x >= %d }"


def write_statement(name: str, union: Union, middle: int) -> str:
    """Return `name := { ... };` of sets or relations of PEs, whose middle column is given."""
    lines = list(_list_lines(union, middle))
    body = f" {lines[0]} " if len(lines) == 1 else "\n  " + ";\n  ".join(lines) + "\n"
    return f"{name} := {{{body}}};\n"


def spell_pes(pes: isl.Set) -> str:
    """Return a set of PEs on one line, as `write_statement` has it."""
    return f"{{ {'; '.join(_list_lines(isl.UnionSet.from_set(pes), 0))} }}"


def _list_lines(union: Union, middle: int) -> Iterator[str]:
    """Yield the disjuncts: those of one route or one value together, from north to south."""
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
    """Return (heard, to) of { [PE[x, y] -> heard[]] -> to[] }; nothing of numbers."""
    space = each.get_space()
    if not space.domain().is_wrapping():
        return ()
    return space.domain().unwrap().get_tuple_name(OUT), space.get_tuple_name(OUT)


def _spell(pes: isl.Set, before: str, behind: str) -> list[str]:
    """Return the rectangles of a set, and what is painted there; nothing if it has other shapes."""
    result = []
    for rectangle in find_rectangles(pes) or []:
        place, colon, where = spell_rectangle(rectangle).partition(" : ")
        result.append(f"{before}{place}{behind}{colon}{where}")
    return result


def _spell_function(each: isl.Map | Union) -> list[str]:
    """Return the disjuncts as all other texts have them."""
    text = write_objects("", {"it": each})
    return [line.strip() for line in text[text.index("{") + 1 : text.rindex("}")].split(";")]


def _list_values(numbers: isl.Map) -> dict[int, isl.Set] | None:
    """Return the PEs of each number, if there are few numbers."""
    found: dict[int, isl.Set] = {}
    while not numbers.is_empty():
        if len(found) == FEW:
            return None
        point = isl.Set.from_point(numbers.range().sample_point())
        value = find_least(point, 0).to_python()
        found[value] = numbers.intersect_range(point).domain()
        numbers = numbers.subtract_range(point)
    return dict(sorted(found.items()))
