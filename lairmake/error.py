"""Errors in a folder of the user's, with their places, as the build says them."""

from __future__ import annotations

import re
from pathlib import Path

SAID = re.compile(
    r"^(?:(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): )?error: (?P<message>.*)$", re.MULTILINE
)
HINT = re.compile(r"^hint: (.*)$", re.MULTILINE)


class Error(Exception):
    """Something of the user's is wrong.

    `line` and `column` count from 1, and are None like `path` where no place in a file is meant;
    `hint` is the remedy. `text` is all that the build says of it; of several errors this is the
    first one, and `others` are the rest.
    """

    def __init__(
        self, message: str, path: Path | None = None, line: int | None = None,
        column: int | None = None, hint: str | None = None, text: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.hint = hint
        self.text = text or message
        self.others: tuple[Error, ...] = ()

    def __str__(self) -> str:
        return "\n".join(each.text.rstrip() for each in (self, *self.others))


def error_of(text: str, folder: Path) -> Error:
    """Return the errors of a build in a folder, from the text that it wrote to stderr."""
    places = list(SAID.finditer(text))
    if not places:
        return Error(text.strip())
    ends = [*(place.start() for place in places[1:]), len(text)]
    first, *others = (
        _one(place, text[place.start() : end], folder)
        for place, end in zip(places, ends, strict=True)
    )
    first.others = tuple(others)
    return first


def _one(said: re.Match[str], text: str, folder: Path) -> Error:
    path, line, column, message = said.group("path", "line", "column", "message")
    hint = HINT.search(text)
    return Error(
        message, folder / path if path else None, int(line) if line else None,
        int(column) if column else None, hint[1] if hint else None, text,
    )
