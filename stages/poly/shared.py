"""Domains of symbolic constants that several objects of a file share, to be said once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.bind import PARAM, PE_NAMES, project_names

FEWEST = 3
"""How many objects must share a domain for it to be said once."""
SAID = re.compile(r"(?:\w+_)?context\d*")
"""What a domain that is said once is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A set of symbolic constants, its name, and the names of the objects that lie in it."""

    name: str
    elements: isl.Set
    members: tuple[str, ...]


def share(
    objects: Mapping[str, isl.UnionSet | isl.UnionMap], text: Callable[[isl.Set], Sequence[str]]
) -> list[Shared]:
    """Return the domains that at least `FEWEST` of the objects share.

    The domain of an object is where it has elements, `[PE_X, PE_Y, index] -> { : ... }`. Where too
    few share that, it is taken of the PEs alone. `text` tells domains apart.
    """
    own = {name: each.params() for name, each in objects.items() if _may_share(name, each)}
    found: list[Shared] = []
    for of_pes in (False, True) if len(own) >= FEWEST else ():
        groups: dict[str, list[str]] = {}
        domains: dict[str, isl.Set] = {}
        for name, elements in own.items():
            domain = _of_pes(elements) if of_pes else elements
            said, *more = text(domain)
            if said != ":" and not more and (of_pes or not _is_of_pes(elements)):
                groups.setdefault(said, []).append(name)
                domains[said] = domain
        for said, members in groups.items():
            if len(members) >= FEWEST:
                elements = _read(said, domains[said])
                name = _name(members, elements, objects, [each.name for each in found])
                found.append(Shared(name=name, elements=elements, members=tuple(members)))
        taken = {member for each in found for member in each.members}
        own = {name: elements for name, elements in own.items() if name not in taken}
    return found


def _may_share(name: str, union: isl.UnionSet | isl.UnionMap) -> bool:
    """Has an object symbolic constants, and is it none of the domains that are said once?"""
    return bool(
        union.space.dim(PARAM)
        and not union.is_empty()
        and not (SAID.fullmatch(name) and isinstance(union, isl.UnionSet) and union.is_params())
    )


def _of_pes(elements: isl.Set) -> isl.Set:
    names = elements.get_var_names_not_none(PARAM)
    return project_names(elements, [name for name in names if name not in PE_NAMES])


def _read(said: str, elements: isl.Set) -> isl.Set:
    """Return the conjunction that a text says, which a set may be from several disjuncts."""
    return isl.Set(f"[{', '.join(elements.get_var_names_not_none(PARAM))}] -> {{ {said} }}")


def _is_of_pes(elements: isl.Set) -> bool:
    used = elements.drop_unused_params().get_var_names_not_none(PARAM)
    return all(name in PE_NAMES for name in used)


def _name(
    members: Sequence[str], elements: isl.Set,
    objects: Mapping[str, isl.UnionSet | isl.UnionMap], taken: Sequence[str],
) -> str:
    """Return what the names of the members begin with, and `context`; a number if that is taken."""
    parts = [name.split("_") for name in members]
    length = next((k for k, each in enumerate(zip(*parts, strict=False)) if len(set(each)) > 1), 0)
    start = "_".join([*parts[0][:length], "context"])
    number, name = 1, start
    while name in taken or (name in objects and not _is_same(objects[name], elements)):
        number += 1
        name = f"{start}{number}"
    return name


def _is_same(union: isl.UnionSet | isl.UnionMap, elements: isl.Set) -> bool:
    return isinstance(union, isl.UnionSet) and bool(union.is_equal(isl.UnionSet.from_set(elements)))
