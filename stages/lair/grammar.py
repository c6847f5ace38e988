"""Parse LAIR: text to tree.

Source   V Sec. 4.1.1; the grammar is lair.lark
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lark import Lark, UnexpectedCharacters, UnexpectedToken

from stages.diagnose import Source, Span, UserError, UserErrors
from stages.lair import tree
from stages.lair.builder import Builder
from stages.lair.names import elsewhere
from stages.shipped import compiled

DATA = ("lair.lark",)
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "INT": "an integer",
    "$END": "the end of the file",
    "_WHERE": "`where`",
}

_LOOPS = "iterators stand in parentheses, and so do their sizes: `all (i, j) in (M, N)`"
_REMEDIES = {
    (",", "`]`"): "each index has brackets of its own: `W[i][j]`",
    (";", ""): "a statement ends where the next one begins, without a `;`",
    ("%", ""): "a remainder is `i mod 2`, and stands in conditions: `where i mod 2 = 0`",
    (",", "`and`"): "several conditions are joined by `and`",
    ("[", "`and`"): "conditions compare iterators and sizes; values are for `select`",
    ("[", "`<=`"): "conditions compare iterators and sizes; values are for `select`",
}
"""What to write instead of what other languages have, where LAIR expected something."""


@lru_cache
def parse_lair(source: Source) -> tree.File:
    """Return the tree of a LAIR file, for which several stages ask.

    Raises UserErrors with one syntax error if it is not LAIR.
    """
    file: tree.File = _parse(source, "file")
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
        message = f"found the end of the file, expected {expected}"
        return UserError(message, _at(source, end, end), _before(source.text))
    span = _at(source, token.start_pos or 0, token.end_pos or 0)
    message = f"found `{token}`, expected {expected}"
    before = source.text[: span.start]
    hint = _remedy(str(token), expected) or elsewhere(str(token)) or _before(before)
    return UserError(message, span, hint)


def _before(before: str) -> str | None:
    """Return what to write instead of what stands before a token that nothing goes on with."""
    if re.search(r"\bfor\s*\Z", before):
        return _LOOPS
    if re.search(r"\[[^\[\]\n]*//[^\n]*\s*\Z", before):
        return "`//` begins a comment: indices are sums of iterators times integers"
    if re.search(r"\ball\s*\([^()]*\)\s*in\s*\([^()]*\)\s*\w+\s*\Z", before):
        return "conditions begin with `where`"
    condition = before.rpartition("where")[2] if "where" in before else ""
    if re.search(r"\b(or|not)\s*\Z", condition):
        return "conditions are comparisons, joined by `and`"
    if "//" in condition and not re.search(r"[{}]|\ball\b", condition):
        return "in conditions `//` is a quotient, and comments begin with `#`"
    return None


def _unexpected_character(source: Source, error: UnexpectedCharacters) -> UserError:
    start = error.pos_in_stream or 0
    span = _at(source, start, start + 1)
    found = source.text[start]
    message = f"found `{found}`, which is no part of LAIR"
    return UserError(message, span, _remedy(found, ""))


def _remedy(found: str, expected: str) -> str | None:
    """Return what to write instead of what was found; None where that is not known."""
    if found.isidentifier() and expected == "`(`":
        return _LOOPS
    known = _REMEDIES.items()
    return next((h for (word, near), h in known if word == found and near in expected), None)


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
