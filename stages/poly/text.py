"""Texts of isl objects, written and read: `name := { ... };`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.poly.canonical import (
    DimensionNames,
    Needed,
    SharedDomains,
    Usual,
    find_names,
    list_tuples,
    name_dimensions,
    share,
    sort_names,
)
from lairmake.stages.poly.disjuncts import WORD, write_disjuncts, write_plain_disjuncts
from lairmake.stages.poly.iscc import (
    Union,
    find_line,
    parse,
    rename,
    statements,
    tell_apart,
    unname,
)
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

PARAM = isl.dim_type.param

# --- Settled text of one set or relation ----------------------------------------------------------
#
# Reading forgets how an object was constructed, and what is read may be printed in another way. So
# an object is printed and read until its text settles. Texts are remembered, but for the names of
# tuples: layers and networks are made of few kinds of objects.

Single: TypeAlias = isl.Set | isl.Map

TUPLE_NAME = re.compile(r"\b[A-Za-z_]\w*\[")
# Counted by isl, not timed, so machines agree. What needs more is written as isl has it: the text
# is right, but not the same for all equal sets (docs/stages.md), nor for all versions of isl. In a
# stage, which has a limit of its own, these are up to an eighth less, by what isl did before
# (quota.GRAIN): what needs nearly as much may get either text.
MOST_FOR_TEXT = 1_000_000
"""Operations that isl may spend on one text; a set that needs more is written as isl has it."""
MOST_FOR_CHECK = 100_000
"""Operations that isl may spend on checking one text."""
MOST_REMEMBERED = 4096
WRITTEN: dict[tuple[str, ...], list[str]] = {}
"""The disjuncts of the sets that this process wrote, by what isl prints of them, and the names."""
SETTLED: dict[tuple[str, ...], list[str] | None] = {}
"""The disjuncts on which texts settled, by what tells objects apart."""
QUOTIENTS = "//", "mod", "floor", "exists"


def settle(
    single: Single, names: DimensionNames, known: Needed, context: isl.Set | None
) -> list[str] | None:
    """Return the disjuncts of the text on which printing and reading of an object settle.

    None where isl needs long to tell. What the context, a set of symbolic constants, implies is not
    said; what is found out of constraints is added to `known`.
    """
    plain, stands = unname(single)
    names = _rename_tuples(plain, names, stands)
    key = (*tell_apart(plain), str(context), str(names))
    if key not in SETTLED:
        if len(SETTLED) == MOST_REMEMBERED:
            SETTLED.clear()
        SETTLED[key] = _settle(plain, names, known, context)
    found = SETTLED[key]
    return None if found is None else [rename(text, stands) for text in found]


def _settle(
    single: Single, names: DimensionNames, known: Needed, context: isl.Set | None
) -> list[str] | None:
    """Return the same. Where texts alternate, the least one is taken.

    Each text is compared with a copy that shares nothing with the given object: see `detach`.
    """
    apart = as_union(type(single)(str(single)))
    seen: dict[str, list[str]] = {}
    found = write_singles([single], names, known, context)
    while (text := lay_out(found, apart)) not in seen:
        seen[text] = found
        read = parse(text, 1)
        read = read if context is None else read.intersect_params(context)
        if not _is_same(read, apart):
            return None
        if len(found) == 1 and not any(word in text for word in QUOTIENTS):
            return found
        found = write_singles(list_singles(read), names, known, context)
    texts = list(seen)
    return seen[min(texts[texts.index(text) :])]


def write_singles(
    singles: Iterable[Single], names: DimensionNames, known: Needed, context: isl.Set | None
) -> list[str]:
    """Return the disjuncts of sets or relations, sorted, from memory if these were written before.
    """
    return sorted({text for each in singles for text in _written(each, names, known, context)})


def _written(
    single: Single, names: DimensionNames, known: Needed, context: isl.Set | None
) -> list[str]:
    space = single.get_space()
    usual = [names.usual.get((each.name, len(each.given))) for each in list_tuples(space)]
    key = str(single), str(context), str(usual), *name_dimensions(space, [], names)
    if key not in WRITTEN:
        if len(WRITTEN) == MOST_REMEMBERED:
            WRITTEN.clear()
        WRITTEN[key] = _describe(single, names, known, context)
    return WRITTEN[key]


def _describe(
    single: Single, names: DimensionNames, known: Needed, context: isl.Set | None
) -> list[str]:
    try:
        with limit_operations(MOST_FOR_TEXT):
            return write_disjuncts(single, names, known, context)
    except (TooManyOperations, isl.Error):
        return write_plain_disjuncts(single, names)


def _rename_tuples(
    single: Single, names: DimensionNames, stands: Mapping[str, str]
) -> DimensionNames:
    """Return those names of dimensions that an object has, of which other names of tuples stand."""
    if not (names.always or names.usual):
        return names
    keys = [(each.name, len(each.given)) for each in list_tuples(single.get_space())]

    def renamed(found: Usual) -> Usual:
        real = {key: (stands.get(key[0], key[0]), key[1]) for key in keys}
        return {key: found[other] for key, other in real.items() if other in found}

    return DimensionNames(always=renamed(names.always), usual=renamed(names.usual))


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


def as_union(obj: Single | Union) -> Union:
    """Return a set or relation as a union."""
    if isinstance(obj, isl.Set):
        return isl.UnionSet.from_set(obj)
    if isinstance(obj, isl.Map):
        return isl.UnionMap.from_map(obj)
    return obj


def list_singles(union: Union) -> list[Single]:
    """Return the sets or relations of a union, one a space, that are not empty."""
    singles: list[Single] = []
    if isinstance(union, isl.UnionSet):
        union.foreach_set(singles.append)
    else:
        union.foreach_map(singles.append)
    return [single for single in singles if not single.is_empty()]


def lay_out(disjuncts: list[str], union: Union) -> str:
    """Return `[names] -> { disjunct; ... }`, one disjunct a line, with the names that these say.

    An empty relation names its kind, for `{ }` reads as a set.
    """
    space = union.get_space()
    constants = {str(space.get_dim_name(PARAM, k)) for k in range(space.dim(PARAM))}
    said = {word for text in disjuncts for word in WORD.findall(TUPLE_NAME.sub("[", text))}
    names = sort_names(constants & said)
    prefix = f"[{', '.join(names)}] -> " if names else ""
    if not disjuncts:
        inside = " " if isinstance(union, isl.UnionSet) else " [] -> [] : false "
    elif len(disjuncts) == 1:
        inside = f" {disjuncts[0]} "
    else:
        inside = "\n  " + ";\n  ".join(disjuncts) + "\n"
    return f"{prefix}{{{inside}}}"

# --- Texts of isl objects -------------------------------------------------------------------------
#
# People read such a text in a diff. It is a header of `#` comments and statements `name :=
# { ... };`, the syntax of iscc. One disjunct stands on a line. Symbolic constants come in the order
# PE_X, PE_Y, index0, index1, ..., index, then the others by name; those that are not used are
# dropped.

IslObject: TypeAlias = Single | Union

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
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
    writer = _Writer(DimensionNames(always=always, usual=find_names(unions.values())))
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
    statement = _Writer(DimensionNames()).statement("it", as_union(obj), None)
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

    def __init__(self, names: DimensionNames) -> None:
        self._names = names
        self._known: Needed = {}

    def statement(self, name: str, union: Union, within: SharedDomains | None) -> str:
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
