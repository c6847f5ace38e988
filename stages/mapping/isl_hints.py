"""What to do about a text that isl cannot read."""

from __future__ import annotations

import re

_OPERATOR = re.compile(r"mod|[-+*/%]+")
_LAST_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
_BRACKETS = (("[", "]"), ("(", ")"), ("{", "}"))
_NESTED = re.compile(r"\?[^,\]]*\?")
_EXAMPLE = "isl writes `{ a[i, j] -> b[i//2, j mod 4] : i < 8; c[k] -> d[-k] }`"
_HINTS = {
    "expecting constant value": "multiply and divide by numbers only, also in `mod` and `//`",
    "expecting denominator": "multiply and divide by numbers only, also in `mod` and `//`",
    "expecting '{'": "an isl text stands in braces: `{ a[i, j] -> b[j, i] }`",
    "unknown identifier": "names come on the left of `->`; sizes of the .lair are numbers here",
}


def new_name(text: str, start: int, token: str) -> tuple[int, str] | None:
    """Return place and text of a name before an operator on which isl stops, if it is new there.

    isl takes a new name at the start of a coordinate for that of a new dimension.
    """
    found = _LAST_NAME.search(text[:start])
    if found is None or not _OPERATOR.fullmatch(token):
        return None
    known = re.search(rf"\b{found[1]}\b", text[: found.start()])
    return None if known else (found.start(), found[1])


def hint_for(message: str, text: str, end: int) -> str:
    """Return what to do about a message of isl; what it is about ends at the character `end`."""
    if "?" in text and "unexpected" in message:
        if _NESTED.search(text):
            return "a choice within a choice stands in no brackets: `i < 4 ? 0 : i < 8 ? 1 : 2`"
        return "`condition ? a : b` is a whole coordinate, and no part of a sum"
    if "unknown identifier" in message and text[end:].lstrip().startswith("("):
        return "what is in a tuple stands in square brackets: `a[i, j]`"
    said = (hint for words, hint in _HINTS.items() if words in message)
    return next(said, None) or _unbalanced(text) or _EXAMPLE


def _unbalanced(text: str) -> str | None:
    """Return what is wrong with the brackets of a text, if they do not come in pairs."""
    for opening, closing in _BRACKETS:
        counts = text.count(opening), text.count(closing)
        if counts[0] != counts[1]:
            return f"the text has {counts[0]} `{opening}` and {counts[1]} `{closing}`"
    return None
