"""Whether a painting that somebody may have edited is one of the program that it is built for.

Where routers send what they hear may be edited, as long as the layout has no faults then. Roles and
geo-vars follow from the field: programs and memory are laid out for these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.poly.canonical import find_example
from lairmake.stages.program.regions.properties import CODE, GEO
from lairmake.stages.program.vm.features import Features, list_colours
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.painting import ROLE, Painting
from lairmake.stages.program.vm.whole import paint_machine

CHECKS_HINT = "paint writes paint.isl anew once it is deleted"


def check_painting(
    painting: Painting, geometry: Geometry, features: Features, path: str
) -> None:
    """Raise UserErrors where a colour is missing, or a role or geo-var is not that of the field."""
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
    """Say which relations are others than expected, and a PE where they are."""
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
    """Return { PE[x, y] -> [] } of the PEs of a role."""
    return _as_values(isl.Set.from_union_set(code.intersect_range(
        isl.UnionSet(f"{{ {role}[] }}")).domain()))


def _as_values(variable: isl.Set | isl.Map) -> isl.UnionMap:
    """Return { PE[x, y] -> [] } of a condition, { PE[x, y] -> [n] } of a number."""
    if isinstance(variable, isl.Map):
        return isl.UnionMap.from_map(variable)
    domain = isl.UnionSet.from_set(variable)
    return isl.UnionMap.from_domain_and_range(domain, isl.UnionSet("{ [] }"))
