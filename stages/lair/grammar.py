"""Parse LAIR: text to tree.

Source   V Sec. 4.1.1; the grammar is lair.lark
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lark import Lark, UnexpectedCharacters, UnexpectedToken

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair import tree
from lairmake.stages.lair.builder import Builder
from lairmake.stages.lair.comments import check_comments, explain_comment
from lairmake.stages.lair.instead import elsewhere
from lairmake.stages.lair.slips import (
    describe_split,
    find_open,
    name_character,
    suggest,
    suggest_for_character,
)
from lairmake.stages.shipped import compiled

DATA = ("lair.lark",)
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "INT": "an integer",
    "$END": "the end of the file",
    "_WHERE": "`where`",
}

@lru_cache
def parse_lair(source: Source) -> tree.File:
    """Return the tree of a LAIR file, for which several stages ask.

    Raises UserErrors with one syntax error if it is not LAIR.
    """
    file: tree.File = _parse(source, "file")
    check_comments(file)
    return file


def parse_expression(text: str) -> tree.Expr:
    """Return an expression as `expression_text` writes it: names are accesses without rows.

    Raises UserErrors if the text is no expression.
    """
    expr: tree.Expr = _parse(Source(path="expression", text=text), "expr")
    return tree.rewrite(expr, _as_access)


def _as_access(leaf: tree.Expr) -> tree.Expr:
    if isinstance(leaf, tree.Reference):
        return tree.Access(tensor=leaf.name, rows=(), span=leaf.span)
    return leaf


@cache
def _parser() -> Lark:
    """Return the parser; its tables are kept beside the byte code of this module."""
    file = Path(__file__).with_name("lair.lark")
    tables = not sys.dont_write_bytecode and str(compiled(file.parent) / f"{file.name}.tables")
    return Lark(
        file.read_text(encoding="utf-8"), parser="lalr", start=["file", "expr"],
        propagate_positions=True, cache=tables,
    )


def _parse(source: Source, start: str) -> Any:
    try:
        return Builder(source).transform(_parser().parse(source.text, start=start))
    except UnexpectedToken as error:
        raise UserErrors([_unexpected_token(source, error)]) from None
    except UnexpectedCharacters as error:
        raise UserErrors([_unexpected_character(source, error)]) from None
    except RecursionError:
        raise UserErrors([_too_deep(source)]) from None


def _unexpected_token(source: Source, error: UnexpectedToken) -> UserError:
    token = error.token
    expected = _alternatives(error.accepts or error.expected)
    if token.type == "$END":
        end = len(source.text.rstrip())
        span, found, said = _at(source, end, end), "", "the end of the file"
    else:
        span = _at(source, token.start_pos or 0, token.end_pos or 0)
        found, said = str(token), f"`{token}`"
    before = explain_comment(source, span.start)
    if before is not None:
        return before
    hint = suggest(source.text, span.start, found, expected) or elsewhere(found)
    return UserError(f"found {said}, expected {expected}", span, hint)


def _unexpected_character(source: Source, error: UnexpectedCharacters) -> UserError:
    start = error.pos_in_stream or 0
    found = source.text[start]
    message = f"found {name_character(found)}, which is no part of LAIR"
    hint = suggest_for_character(found)
    bracket = find_open(source.text[:start])
    if found == "%" and bracket is not None and source.text[bracket] == "[":
        hint = describe_split(source.text[bracket + 1 : start], "mod")
    return UserError(message, _at(source, start, start + 1), hint)


def _too_deep(source: Source) -> UserError:
    return UserError("an expression is nested too deeply", _at(source, 0, 0), "write it flatter")


def _at(source: Source, start: int, end: int) -> Span:
    return Span(source=source, start=start, end=end)


def _alternatives(terminals: Iterable[str]) -> str:
    words = sorted(_word(terminal) for terminal in set(terminals))
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _word(terminal: str) -> str:
    """Return how a person calls a terminal."""
    if terminal in _WORDS:
        return _WORDS[terminal]
    pattern = _parser().get_terminal(terminal).pattern.value
    return f"`{pattern.removesuffix(chr(92) + 'b')}`"
