"""Colours for text on a terminal; elsewhere text stays plain."""

from __future__ import annotations

import os
import re
import shutil
import sys

STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
PIECES = re.compile(
    r"(?P<dim>#[^\n]*)|(?P<bold>^\w+(?= :=))|(?P<green>\b[A-Za-z_]\w*(?=\[))"
    r"|(?P<cyan>\b(?:and|or|exists|mod|floor)\b)",
    re.MULTILINE,
)
WIDTH = 100
BREAK = re.compile(r" (?=and |or )")


def is_terminal() -> bool:
    """Return whether a person reads what is printed, and wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(style: str, text: str) -> str:
    """Return a text in a style, on a terminal; the text itself elsewhere."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if is_terminal() else text


def paint_isl(text: str) -> str:
    """Return isl text with names and words in colours, on a terminal."""
    return PIECES.sub(lambda found: paint(found.lastgroup or "bold", found[0]), text)


def wrap_isl(text: str, indent: int = 0) -> str:
    """Return isl text with long lines broken between conjuncts, never within one.

    `indent` is the number of columns by which the text will be indented.
    """
    width = max(40, shutil.get_terminal_size((WIDTH, 24)).columns) if is_terminal() else WIDTH
    width -= indent
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, width))


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line as lines; those that follow are indented by four more."""
    if len(line) <= width or line.startswith("#"):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    first, *parts = BREAK.split(line)
    lines = [first]
    for part in parts:
        if len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(indent + part)
    return lines
