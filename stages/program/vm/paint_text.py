"""paint.isl: what is painted on a region as statements, each kind below a comment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import islpy as isl

from lairmake.stages.program.regions.properties import CODE, COUNTS, GEO, NEVER, POP, RING
from lairmake.stages.program.regions.region import Region
from lairmake.stages.program.vm.colours import COLOURS, MEANINGS
from lairmake.stages.program.vm.painting import ROLE
from lairmake.stages.program.vm.plain_text import write_statement
from lairmake.stages.program.vm.roles import ROLES

HEADER = """The virtual machine: which PE runs which program, and where routers send what they hear.
x grows to the east, y to the south. A colour has a statement for each position of its switches,
all of which a PE has, in a ring, but where it says: counts, how many of them a PE has; ring, 0 if
the first one does not follow the last; pop, 1 if a router pops the command that it obeys."""


def write_painting(region: Region) -> str:
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


def _list_roles(region: Region) -> Iterator[tuple[str, isl.UnionSet]]:
    """Yield role_NAME := { PE[x, y] }."""
    for role in ROLES:
        of_role = isl.UnionSet(f"{{ {role}[] }}")
        yield f"{ROLE}{role}", region.painted[CODE].intersect_range(of_role).domain()


def _list_of_colour(region: Region, colour: str) -> Iterator[tuple[str, isl.UnionMap]]:
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
    """Return { PE[x, y] } of a condition, which has no number."""
    conditions = values.intersect_range(isl.UnionSet("{ [] }"))
    return values if conditions.is_empty() else values.domain()


