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

from stages.diagnose import working_on
from stages.poly.bind import PARAM
from stages.poly.canonical import Needed, sort_names
from stages.poly.disjuncts import WORD, write_disjuncts, write_plain_disjuncts
from stages.poly.iscc import Union, find_line, parse, statements
from stages.poly.naming import Names, find_names, list_spaces, list_tuples, name_dimensions
from stages.poly.quota import TooManyOperations, limit_operations
from stages.poly.shared import Shared, share
from stages.poly.unnamed import rename, tell_apart, unname

Single: TypeAlias = isl.Set | isl.Map
IslObject: TypeAlias = Single | Union

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TUPLE_NAME = re.compile(r"\b[A-Za-z_]\w*\[")
MOST_FOR_TEXT = 1_000_000
"""What one text may take, in isl's own unit; a set that needs more is written as isl has it."""
MOST_REMEMBERED = 4096
WRITTEN: dict[tuple[str, ...], list[str]] = {}
"""The disjuncts of the sets that this process wrote, by what isl prints of them, and the names."""
SPELLED: dict[tuple[str, ...], str] = {}
"""The sets and relations that this process spelled, by what tells them apart."""
MOST_FOR_CHECK = 100_000
"""What checking one text may take, in isl's own unit."""


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
    unions = {name: _as_union(obj) for name, obj in objects.items()}
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
    statement = _Writer(Names()).statement("it", _as_union(obj), None)
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


def _as_union(obj: IslObject) -> Union:
    if isinstance(obj, isl.Set):
        return isl.UnionSet.from_set(obj)
    if isinstance(obj, isl.Map):
        return isl.UnionMap.from_map(obj)
    return obj


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
        return self._disjuncts(elements, None)

    def _settled(self, union: Union, context: isl.Set | None) -> str:
        """Return the text on which printing and reading settle.

        Reading forgets how an object was constructed. Where texts alternate, the least one is
        taken. Each text is compared with a copy that shares nothing with the given object: see
        `detached`. Where isl needs long for that, its own text is taken.
        """
        plain = union.drop_unused_params().reset_user()
        apart = type(union)(str(plain))
        seen: list[str] = []
        text = self._print(plain, context)
        while text not in seen:
            seen.append(text)
            read = parse(text, 1)
            read = read if context is None else read.intersect_params(context)
            if not _is_same(read, apart):
                return str(apart)
            if _is_settled(text, read):
                return text
            text = self._print(read, context)
        return min(seen[seen.index(text) :])

    def _print(self, union: Union, context: isl.Set | None) -> str:
        """Return `[names] -> { disjunct; ... }`, one disjunct a line."""
        singles = _singles(union)
        disjuncts = sorted({text for each in singles for text in self._disjuncts(each, context)})
        space = union.get_space()
        constants = {str(space.get_dim_name(PARAM, k)) for k in range(space.dim(PARAM))}
        said = {word for text in disjuncts for word in WORD.findall(TUPLE_NAME.sub("[", text))}
        names = sort_names(constants & said)
        return f"{_prefix(names)}{{{_layout(disjuncts, union)}}}"

    def _disjuncts(self, single: Single, context: isl.Set | None) -> list[str]:
        """Return the texts of the disjuncts, from memory if this process wrote the same before."""
        parts = list_tuples(single.get_space())
        usual = [self._names.usual.get((each.name, len(each.given))) for each in parts]
        names = name_dimensions(single.get_space(), [], self._names)
        key = str(single), str(context), str(usual), *names
        if key not in WRITTEN:
            if len(WRITTEN) == MOST_REMEMBERED:
                WRITTEN.clear()
            WRITTEN[key] = self._described(single, context)
        return WRITTEN[key]

    def _described(self, single: Single, context: isl.Set | None) -> list[str]:
        try:
            with limit_operations(MOST_FOR_TEXT):
                return write_disjuncts(single, self._names, self._known, context)
        except (TooManyOperations, isl.Error):
            return write_plain_disjuncts(single, self._names)


def _is_settled(text: str, read: Union) -> bool:
    """Is a text one conjunction without quotients for each space? It then says what is needed."""
    several = text.count(";\n") >= max(1, len(list_spaces(read)))
    return not several and not any(word in text for word in ("//", "mod", "floor", "exists"))


def _is_same(read: Union, union: Union) -> bool:
    """Return whether what was read from a text is known to be equal; isl may need long to tell.

    Raises AssertionError where it is not.
    """
    try:
        with limit_operations(MOST_FOR_CHECK):
            if not _equal(read, union):
                raise AssertionError(f"{read} is not {union}")
    except TooManyOperations:
        return False
    return True


def _equal(left: Union, right: Union) -> bool:
    if isinstance(left, isl.UnionSet):
        return isinstance(right, isl.UnionSet) and left.is_equal(right)
    return isinstance(right, isl.UnionMap) and left.is_equal(right)


def _layout(disjuncts: list[str], union: Union) -> str:
    """Return the disjuncts; an empty relation names its kind, for `{ }` reads as a set."""
    if not disjuncts:
        return " " if isinstance(union, isl.UnionSet) else " [] -> [] : false "
    if len(disjuncts) == 1:
        return f" {disjuncts[0]} "
    return "\n  " + ";\n  ".join(disjuncts) + "\n"


def _prefix(names: list[str]) -> str:
    return f"[{', '.join(names)}] -> " if names else ""


def _singles(union: Union) -> list[Single]:
    singles: list[Single] = []
    if isinstance(union, isl.UnionSet):
        union.foreach_set(singles.append)
    else:
        union.foreach_map(singles.append)
    return [single for single in singles if not single.is_empty()]
