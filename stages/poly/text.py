"""Write isl objects as text that a person reads in a diff, and read them back.

A text is a header of `#` comments and statements `name := { ... };`, the syntax of iscc. One
disjunct stands on a line. Symbolic constants come in the order PE_X, PE_Y, index0, index1, ...,
index, then the others by name; those that are not used are dropped.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import islpy as isl

from stages.poly.bind import PARAM
from stages.poly.canonical import Needed, canonical, sort_names
from stages.poly.quota import TooManyOperations, limited

Union: TypeAlias = isl.UnionSet | isl.UnionMap
Single: TypeAlias = isl.Set | isl.Map
IslObject: TypeAlias = Single | Union

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
STATEMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:=([^;{]*\{[^}]*\})\s*;")
COMMENT = re.compile(r"#[^\n]*")
MOST_FOR_CHECK = 100_000
"""What checking one text may take, in isl's own unit."""


def write_objects(header: str, objects: Mapping[str, IslObject]) -> str:
    """Return the text of the objects, in the order of the mapping, below the header.

    Objects that are equal, and name their dimensions the same, have the same text wherever
    coalescing finds the same disjuncts; writing what was read changes nothing.
    Ensures that `read_objects` of the text gives equal objects.

    Raises ValueError if a name is no identifier.
    """
    comments = "".join(f"# {line}".rstrip() + "\n" for line in header.splitlines())
    statements = "".join(f"\n{_statement(name, obj)}" for name, obj in objects.items())
    return comments + statements


class TextError(ValueError):
    """A text is malformed at one of its characters, `position`, counted from 0."""

    def __init__(self, text: str, position: int, message: str) -> None:
        super().__init__(f"line {_line(text, position)}: {message}")
        self.message = message
        self.position = position


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`name := expression;`, and at which characters of the text both begin, counted from 0."""

    name: str
    start: int
    expression: str
    expression_start: int


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
            self._read[name] = _parse(statement.expression, _line(self._text, statement.start))
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


def _statement(name: str, obj: IslObject) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not an identifier")
    return f"{name} := {_canonical(_as_union(obj))};\n"


def _as_union(obj: IslObject) -> Union:
    if isinstance(obj, isl.Set):
        return isl.UnionSet.from_set(obj)
    if isinstance(obj, isl.Map):
        return isl.UnionMap.from_map(obj)
    return obj


def _canonical(union: Union) -> str:
    """Return the text on which printing and reading settle.

    Reading forgets how an object was constructed. Where texts alternate, the least one is taken.
    Each text is compared with an object that shares nothing with the given one: see `detached`.
    """
    apart = type(union)(str(union.drop_unused_params().reset_user()))
    known: Needed = {}
    seen: list[str] = []
    text = _print(union.reset_user(), known)
    while text not in seen:
        seen.append(text)
        read = _parse(text, 1)
        _check(read, apart)
        text = _print(read, known)
    return min(seen[seen.index(text) :])


def _check(read: Union, union: Union) -> None:
    """Assert that what was read from a text is equal, unless isl needs long to tell."""
    with contextlib.suppress(TooManyOperations), limited(MOST_FOR_CHECK):
        if not _equal(read, union):
            raise AssertionError(f"{read} is not {union}")


def _equal(left: Union, right: Union) -> bool:
    if isinstance(left, isl.UnionSet):
        return isinstance(right, isl.UnionSet) and left.is_equal(right)
    return isinstance(right, isl.UnionMap) and left.is_equal(right)


def _print(union: Union, known: Needed) -> str:
    """Return `[names] -> { disjunct; ... }`, one disjunct a line."""
    singles = [_describe(single, known) for single in _singles(union)]
    names = sort_names({name for single in singles for name in _used_names(single)})
    disjuncts = sorted({text for single in singles for text in _disjuncts(single)})
    return f"{_prefix(names)}{{{_layout(disjuncts, union)}}}"


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


def _describe(single: Single, known: Needed) -> Single:
    if isinstance(single, isl.Map):
        return canonical(single.wrap(), known).unwrap()
    return canonical(single, known)


def _used_names(single: Single) -> Iterable[str]:
    return single.drop_unused_params().get_var_names_not_none(PARAM)


def _disjuncts(single: Single) -> list[str]:
    """Return the text of each disjunct, without symbolic constants and braces."""
    if isinstance(single, isl.Map):
        return [_body(str(isl.Map.from_basic_map(part))) for part in single.get_basic_maps()]
    return [_body(str(isl.Set.from_basic_set(part))) for part in single.get_basic_sets()]


def _body(text: str) -> str:
    """Return what stands between the braces."""
    return re.sub(r"\s+", " ", text[text.index("{") + 1 : text.rindex("}")]).strip()


def statements(text: str) -> list[Statement]:
    """Return the statements of a text; TextError if it is malformed, or has a name twice."""
    code = COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    found: dict[str, Statement] = {}
    position = 0
    while code[position:].strip():
        match = STATEMENT.match(code, position)
        start = position + len(code[position:]) - len(code[position:].lstrip())
        if match is None:
            raise TextError(text, start, "expected `name := { ... };`")
        if match[1] in found:
            raise TextError(text, start, f"{match[1]} is defined twice")
        found[match[1]] = Statement(
            name=match[1], start=start, expression=match[2], expression_start=match.start(2)
        )
        position = match.end()
    return list(found.values())


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _parse(expression: str, line: int) -> Union:
    """Return the isl object; raise ValueError with the line if isl refuses the expression.

    What has an arrow is tried as a relation first; it may be a set of pairs.
    """
    kinds: list[type[Union]] = [isl.UnionSet, isl.UnionMap]
    for kind in reversed(kinds) if "->" in expression.partition("{")[2] else kinds:
        with contextlib.suppress(isl.Error):
            return kind(expression)
    raise ValueError(f"line {line}: isl cannot read {expression.strip()!r}")
