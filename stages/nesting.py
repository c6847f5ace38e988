"""Limits of the nesting of texts: recursive parsers, as that of isl, run out of room."""

from __future__ import annotations

import re

MOST_NESTED = 200
"""The most brackets that may stand in each other."""
LONGEST = 100
"""The deepest that isl may be led without a bracket, and the most dimensions of a tuple."""
WIDE = "more than {} dimensions"
_BRACKET = re.compile(r"[][(){}]")
_STEPS = (
    (re.compile(r"[();]|\bor\b|\band\b"), "exists", "more than {} times exists in a row"),
    (re.compile(r"[^\d*\s]+"), "*", "a product of more than {} numbers"),
    (re.compile(r";"), "?", "more than {} choices in each other"),
    (re.compile(r"[][(){};]"), ",", WIDE),
)
"""For each kind of row its end, the sign of a step in it, and the error for too many steps."""
_LARGE = re.compile(r"\^\s*\d{4}|\d{1000}")


def too_deep(text: str) -> int | None:
    """Return where more than MOST_NESTED brackets stand in each other, None for nowhere.

    Kinds of brackets are not told apart.
    """
    if sum(map(text.count, "[({")) <= MOST_NESTED:
        return None
    depth = 0
    for found in _BRACKET.finditer(text):
        depth = depth + 1 if found[0] in "[({" else max(0, depth - 1)
        if depth > MOST_NESTED:
            return found.start()
    return None


def too_much(text: str, by_hand: bool = True) -> tuple[int, str] | None:
    """Return where a text exceeds the room of isl, and by what; None if it does not.

    A text that is not written `by_hand` may have any number of dimensions: isl only takes its time.
    """
    if "\0" in text:
        return text.index("\0"), "a NUL character"
    if (at := too_deep(text)) is not None:
        return at, f"more than {MOST_NESTED} brackets in each other"
    if large := _LARGE.search(text):
        return large.start(), "a number of more than 1000 digits"
    for end, step, said in _STEPS:
        if said == WIDE and not by_hand:
            continue
        if text.count(step) > LONGEST and (at := _long_row(text, end, step)) is not None:
            return at, said.format(LONGEST)
    return None


def _long_row(text: str, end: re.Pattern[str], step: str) -> int | None:
    """Return where the first row of too many steps begins, None if there is none."""
    start = 0
    for stop in (*(found.span() for found in end.finditer(text)), (len(text), len(text))):
        if text.count(step, start, stop[0]) > LONGEST:
            return start
        start = stop[1]
    return None
