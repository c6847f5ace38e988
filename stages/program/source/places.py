"""Where the nodes of a tree stand in the text that a user wrote, and what is wrong there."""

from __future__ import annotations

import ast
import re

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors

MOST = 100
"""How many errors are shown."""
_LINE_END = re.compile(r"\r\n|\r|\n")


class Places:
    """The text of a source, and all that is found wrong in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.starts = [0, *(found.end() for found in _LINE_END.finditer(source.text))]
        self.errors: dict[tuple[int, int], UserError] = {}

    def report(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        """Note what is wrong with a node; of one node only the first thing."""
        span = find_span(self, node)
        self.errors.setdefault((span.start, span.end), UserError(message, span, hint))

    def raise_errors(self) -> None:
        """Raise UserErrors with all that was noted, in the order of the text."""
        found = [self.errors[key] for key in sorted(self.errors)]
        if len(found) > MOST:
            found[MOST:] = [UserError(f"{len(found) - MOST} more errors in {self.source.path}")]
        if found:
            raise UserErrors(found)


def find_offset(places: Places, line: int, column: int) -> int:
    """Return which character stands in a line, counted from 1, behind `column` bytes of it."""
    starts, text = places.starts, places.source.text
    start = starts[min(line, len(starts)) - 1]
    end = starts[line] if line < len(starts) else len(text)
    before = text[start:end].encode("utf-8", "replace")[:column]
    return start + len(before.decode("utf-8", "ignore"))


def find_span(places: Places, node: ast.AST) -> Span:
    """Return the characters of a node; of compound statements only the first line."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line = getattr(node, "end_lineno", None) or line
    start = find_offset(places, line, column)
    if end_line == line:
        end = find_offset(places, line, getattr(node, "end_col_offset", None) or column + 1)
    else:
        found = _LINE_END.search(places.source.text, start)
        end = found.start() if found else len(places.source.text)
    return Span(source=places.source, start=start, end=max(start + 1, end))
