"""C as a page shows it: lines of words, each with what it is, and where its functions are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pygments.lexers.c_cpp import CLexer
from pygments.token import Token, _TokenType

Word = tuple[str, str]
"""What a word is, a letter or nothing, and its text."""
Line = tuple[Word, ...]

LETTERS = (
    (Token.Comment.Preproc, "p"), (Token.Comment.PreprocFile, "s"), (Token.Comment, "c"),
    (Token.Keyword.Type, "t"), (Token.Keyword, "k"), (Token.Name.Function, "f"),
    (Token.Literal.String, "s"), (Token.Literal.Number, "n"),
)
"""The first that a word is of says its letter."""
BEGIN = re.compile(r"^static void (\w+)\(struct pe \*pe")
OPEN, END = "{", "}"


def highlight(text: str) -> tuple[Line, ...]:
    """Return the lines of a program in C."""
    lines: list[list[Word]] = [[]]
    for letter, value in _words(text):
        for at, part in enumerate(value.split("\n")):
            if at:
                lines.append([])
            if part:
                lines[-1].append((letter, part))
    return tuple(tuple(line) for line in lines[: -1 if not lines[-1] else None])


def _words(text: str) -> Iterator[Word]:
    """Yield what the lexer finds, neighbours that are the same as one."""
    before, said = "", ""
    for kind, value in CLexer(stripnl=False).get_tokens(text):
        letter = _letter(kind)
        if letter != before and said and value.strip(" "):
            yield before, said
            said = ""
        before, said = (letter if not said else before), said + value
    yield before, said


def _letter(kind: _TokenType) -> str:
    return next((letter for each, letter in LETTERS if kind in each), "")


def find_functions(text: str) -> dict[str, tuple[int, int]]:
    """Return, by the names of the functions in a program, their first line and the one after them.

    The comment above one belongs to it.
    """
    lines = text.split("\n")
    found: dict[str, tuple[int, int]] = {}
    for at, line in enumerate(lines):
        named = BEGIN.match(line)
        if named and not line.endswith(";"):
            found[named[1]] = (_comment_above(lines, at), lines.index(END, at) + 1)
    return found


def _comment_above(lines: Sequence[str], at: int) -> int:
    first = at
    if first and lines[first - 1].endswith("*/"):
        first -= 1
        while not lines[first].lstrip().startswith("/*"):
            first -= 1
    return first
