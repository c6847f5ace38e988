"""Statements of iscc, and texts that differ in names alone."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import islpy as isl

from lairmake.stages.nesting import too_much
from lairmake.stages.poly.canonical import ALWAYS, SYNTAX, unite_sets

PARAM, IN, OUT, SET = isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

# --- Objects that differ in tuple names alone -----------------------------------------------------
#
# The text of a set or relation has the names of its tuples before their `[`, and they make no other
# difference: but for `PE`, whose dimensions have names of their own.

Single = isl.Set | isl.Map
KEPT = {*SYNTAX, *(name for name, _ in ALWAYS)}
"""Names of tuples that mean something."""
NAMED = re.compile(r"\b[A-Za-z_]\w*(?=\[)")
STANDING = re.compile(r"\btuple_\d+(?=\[)")


@dataclass(frozen=True, slots=True)
class ToldObject:
    """An object as the key of what is remembered of it: equal where isl prints the same of both."""

    text: str
    it: Any = field(compare=False)


def tell(it: Any) -> ToldObject:
    """Return an object of isl as a key."""
    return ToldObject(str(it), it)


def unname(single: Single) -> tuple[Single, dict[str, str]]:
    """Return a set or relation with other names of its tuples, and what these stand for.

    Where a tuple has tuples within, or symbolic constants are around, names are left as they are.
    """
    if single.dim(PARAM) or _is_nested(single):
        return single, {}
    given = _tuple_names(single)
    names = dict.fromkeys(name for name in given if name is not None and name not in KEPT)
    other = {name: f"tuple_{n}" for n, name in enumerate(names)}
    plain = _with_names(single, [None if name is None else other.get(name) for name in given])
    return plain, {stands: name for name, stands in other.items()}


def read_set(text: str) -> isl.Set:
    """Return the set of a text; texts that differ in the names of tuples alone are parsed once."""
    plain, stands = _unname_text(text)
    found: isl.Set | None = None
    with contextlib.suppress(isl.Error):
        found = _renamed(_parse_set(plain), stands)
    return isl.Set(text) if found is None else found


def read_map(text: str) -> isl.Map:
    """Return the relation of a text; texts that differ in names of tuples alone are parsed once."""
    plain, stands = _unname_text(text)
    found: isl.Map | None = None
    with contextlib.suppress(isl.Error):
        found = _renamed(_parse_map(plain), stands)
    return isl.Map(text) if found is None else found


def _unname_text(text: str) -> tuple[str, dict[str, str]]:
    """Return a text with other names of its tuples, and what these stand for."""
    names = list(dict.fromkeys(NAMED.findall(text)))
    other = {name: f"tuple_{n}" for n, name in enumerate(names)}
    plain = NAMED.sub(lambda name: other[name[0]], text)
    return plain, {stands: name for name, stands in other.items()}


@functools.lru_cache(1024)
def _parse_set(text: str) -> isl.Set:
    return isl.Set(text)


@functools.lru_cache(1024)
def _parse_map(text: str) -> isl.Map:
    return isl.Map(text)


def _renamed(found: Single, stands: Mapping[str, str]) -> Any:
    """Return a copy with what the names of its tuples stand for, which shares nothing with it.

    None where that is none: without such names, or with tuples within a tuple.
    """
    given = _tuple_names(found)
    if _is_nested(found) or not any(given):
        return None
    return _with_names(found, [None if name is None else stands[name] for name in given])


def rename(text: str, stands: Mapping[str, str]) -> str:
    """Return a text with the names that tuples of such an object stand for."""
    return STANDING.sub(lambda found: stands.get(found[0], found[0]), text) if stands else text


def tell_apart(single: Single) -> tuple[str, ...]:
    """Return a key that tells a set or relation, as it was constructed, from others."""
    kinds = (IN, OUT) if isinstance(single, isl.Map) else (SET,)
    names = [single.get_dim_name(kind, k) for kind in kinds for k in range(single.dim(kind))]
    return type(single).__name__, str(single), str(names)


def _tuple_names(single: Single) -> list[str | None]:
    """Return the name of the tuple of a set, or of both of a relation; None where there is none."""
    if isinstance(single, isl.Set):
        return [single.get_tuple_name() if single.has_tuple_name() else None]
    return [single.get_tuple_name(k) if single.has_tuple_name(k) else None for k in (IN, OUT)]


def _with_names(single: Single, names: Sequence[str | None]) -> Any:
    """Return a set or relation whose tuples have these names, and its own where there is None."""
    if isinstance(single, isl.Set):
        (name,) = names
        return single if name is None else single.set_tuple_name(name)
    for kind, name in zip((IN, OUT), names, strict=True):
        single = single if name is None else single.set_tuple_name(kind, name)
    return single


def _is_nested(single: Single) -> bool:
    """Return whether a tuple has tuples within, or there is none at all."""
    if isinstance(single, isl.Map):
        return bool(single.domain_is_wrapping() or single.range_is_wrapping())
    return bool(single.is_params() or single.is_wrapping())

# --- Statements of iscc ---------------------------------------------------------------------------
#
# A text has statements `name := { ... };`, the syntax of iscc, with isl objects in them.

Union: TypeAlias = isl.UnionSet | isl.UnionMap

STATEMENT = re.compile(
    r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:=([^;{]*\{[^}]*\})\s*(?:\*\s*([A-Za-z_][A-Za-z0-9_]*)\s*)?;"
)
NAMED_SET = re.compile(r"[{;]\s*([A-Za-z_][A-Za-z0-9_]*)\[")
COMMENT = re.compile(r"#[^\n]*")


class TextError(ValueError):
    """A text is malformed at one of its characters, `position`, counted from 0."""

    def __init__(self, text: str, position: int, message: str) -> None:
        super().__init__(f"line {find_line(text, position)}: {message}")
        self.message = message
        self.position = position


@dataclass(frozen=True, slots=True, kw_only=True)
class IsccStatement:
    """`name := expression * factor;`; None if there is no factor, the name of a domain.

    Where name and expression begin in the text is counted in characters from 0.
    """

    name: str
    start: int
    expression: str
    expression_start: int
    factor: str | None = None


def statements(text: str) -> list[IsccStatement]:
    """Return the statements of a text; TextError if it is malformed, or has a name twice."""
    if (much := too_much(text, by_hand=False)) is not None:
        raise TextError(text, much[0], much[1])
    code = COMMENT.sub(lambda comment: " " * len(comment[0]), text).rstrip()
    found: dict[str, IsccStatement] = {}
    position = 0
    while position < len(code):
        match = STATEMENT.match(code, position)
        if match is None:
            start = position + len(code[position:]) - len(code[position:].lstrip())
        else:
            start = match.start(1)
        if match is None:
            raise TextError(text, start, "expected `name := { ... };`")
        if match[3] is not None and match[3] not in found:
            raise TextError(text, match.start(3), f"{match[3]} is not defined before")
        if match[1] in found:
            raise TextError(text, start, f"{match[1]} is defined twice")
        found[match[1]] = IsccStatement(
            name=match[1], start=start, expression=match[2], expression_start=match.start(2),
            factor=match[3],
        )
        position = match.end()
    return list(found.values())


def parse(expression: str, line: int) -> Union:
    """Return the isl object; raise ValueError with the line if isl refuses the expression.

    What has an arrow is tried as a relation first; it may be a set of pairs.
    """
    if (apart := _parse_sets(expression)) is not None:
        return apart
    kinds: list[type[Union]] = [isl.UnionSet, isl.UnionMap]
    for kind in reversed(kinds) if "->" in expression.partition("{")[2] else kinds:
        with contextlib.suppress(isl.Error):
            return kind(expression)
    raise ValueError(f"line {line}: isl cannot read {expression.strip()!r}")


def _parse_sets(expression: str) -> isl.UnionSet | None:
    """Return the union of sets of tuples with names that are all different, as of volumes.

    Each is read by itself: those that are alike, once. None for all other expressions.
    """
    heads = NAMED_SET.findall(expression)
    entries = expression.strip().removeprefix("{").removesuffix("}").split(";")
    if not 1 < len(entries) == len(heads) == len(set(heads)) or "->" in expression:
        return None
    with contextlib.suppress(isl.Error):
        return unite_sets(read_set(f"{{{each}}}") for each in entries)
    return None


def find_line(text: str, position: int) -> int:
    """Return the number of the line, from 1, of a character of a text."""
    return text.count("\n", 0, position) + 1
