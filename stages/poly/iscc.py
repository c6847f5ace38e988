"""The statements `name := { ... };` of a text, the syntax of iscc, and the isl objects in them."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl

from lairmake.stages.limits import too_much
from lairmake.stages.poly.pieces import unite_sets
from lairmake.stages.poly.unnamed import read_set

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
class Statement:
    """`name := expression * factor;`; None if there is no factor, the name of a domain.

    Where name and expression begin in the text is counted in characters from 0.
    """

    name: str
    start: int
    expression: str
    expression_start: int
    factor: str | None = None


def statements(text: str) -> list[Statement]:
    """Return the statements of a text; TextError if it is malformed, or has a name twice."""
    if (much := too_much(text, by_hand=False)) is not None:
        raise TextError(text, much[0], much[1])
    code = COMMENT.sub(lambda comment: " " * len(comment[0]), text).rstrip()
    found: dict[str, Statement] = {}
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
        found[match[1]] = Statement(
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
