"""Write isl objects as text that a person reads in a diff, and read them back.

A text is a header of `#` comments and statements `name := { ... };`, the syntax of iscc. One
disjunct stands on a line. Symbolic constants come in the order PE_X, PE_Y, index0, index1, ...,
index, then the others by name; those that are not used are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.poly.canonical import Needed
from lairmake.stages.poly.iscc import Union, find_line, parse, statements
from lairmake.stages.poly.naming import Names, find_names
from lairmake.stages.poly.settling import (
    Single,
    as_union,
    lay_out,
    list_singles,
    settle,
    write_singles,
)
from lairmake.stages.poly.shared import Shared, share
from lairmake.stages.poly.unnamed import rename, tell_apart, unname

IslObject: TypeAlias = Single | Union

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST_REMEMBERED = 4096
SPELLED: dict[tuple[str, ...], str] = {}
"""The sets and relations that this process spelled, by what tells them apart."""


def write_objects(
    header: str, objects: Mapping[str, IslObject], like: Union | None = None
) -> str:
    """Return the text of the objects, in the order of the mapping, below the header.

    Domains that several share come first. Tuples that are in `like`, too, have its names.
    Objects that are equal, and name their dimensions the same, have the same text as far as
    docs/stages.md says; writing what was read changes nothing.
    Ensures that `read_objects` of the text gives equal objects.

    Raises ValueError if a name is no identifier.
    """
    unions = {name: as_union(obj) for name, obj in objects.items()}
    always = {} if like is None else find_names([like])
    writer = _Writer(Names(always=always, usual=find_names(unions.values())))
    shared = share(unions, writer.text_of_constants)
    said = {**{each.name: isl.UnionSet.from_set(each.elements) for each in shared}, **unions}
    within = {member: each for each in shared for member in each.members}
    comments = "".join(f"# {line}".rstrip() + "\n" for line in header.splitlines())
    texts = []
    for name, union in said.items():
        with working_on(f"object {name}"):
            texts.append(writer.statement(name, union, within.get(name)))
    return comments + "".join(f"\n{text}" for text in texts)


def spell_object(obj: IslObject) -> str:
    """Return an object as `write_objects` writes it, on one line.

    What this process spelled is remembered, but for the names of tuples.
    """
    if not isinstance(obj, isl.Set | isl.Map):
        return _spell(obj)
    plain, stands = unname(obj)
    key = tell_apart(plain)
    if key not in SPELLED:
        if len(SPELLED) == MOST_REMEMBERED:
            SPELLED.clear()
        SPELLED[key] = _spell(plain)
    return rename(SPELLED[key], stands)


def _spell(obj: IslObject) -> str:
    statement = _Writer(Names()).statement("it", as_union(obj), None)
    return re.sub(r"\s+", " ", statement.removeprefix("it := ").rstrip(";\n"))


class Objects(Mapping[str, Any]):
    """The objects of a text by name; each is read when it is first asked for.

    Raises ValueError, with the number of the line, if the text is malformed or has a name twice,
    and where an object is asked for that isl cannot read.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._statements = {statement.name: statement for statement in statements(text)}
        self._read: dict[str, Union] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            statement = self._statements[name]
            found = parse(statement.expression, find_line(self._text, statement.start))
            self._read[name] = _within(found, self[statement.factor]) if statement.factor else found
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)

    def __len__(self) -> int:
        return len(self._statements)


def read_objects(text: str) -> dict[str, Union]:
    """Return the objects of a text by name.

    Raises ValueError, with the number of the line, if the text is malformed or has a name twice.
    """
    return dict(Objects(text))


def _within(union: Union, domain: isl.UnionSet) -> Union:
    """Return what iscc calls `union * domain`: a relation is restricted to the domain."""
    if isinstance(union, isl.UnionSet):
        return union.intersect(domain)
    return union.intersect_domain(domain)


class _Writer:
    """Writes the objects of one file."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: Needed = {}

    def statement(self, name: str, union: Union, within: Shared | None) -> str:
        """Return `name := { ... };`, or `name := { ... } * within;`."""
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not an identifier")
        context = within.elements if within else None
        factor = f" * {within.name}" if within else ""
        return f"{name} := {self._settled(union, context)}{factor};\n"

    def text_of_constants(self, elements: isl.Set) -> list[str]:
        """Return the disjuncts of a set of symbolic constants."""
        return write_singles([elements], self._names, self._known, None)

    def _settled(self, union: Union, context: isl.Set | None) -> str:
        """Return the text on which each set or relation of a union settles.

        Where isl needs long for one, its own text of the union is taken.
        """
        plain = union.drop_unused_params().reset_user()
        texts: set[str] = set()
        for single in list_singles(plain):
            found = settle(single, self._names, self._known, context)
            if found is None:
                return str(type(plain)(str(plain)))
            texts.update(found)
        return lay_out(sorted(texts), plain)
