"""Warnings about long files and functions, which a reader may want in parts; no errors.

    python -m tools.sizes FILE ...
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

MOST_OF_FILE, MOST_OF_FUNCTION = 800, 60
"""Numbers of lines up to which there is no warning."""


def name_long(path: Path) -> Iterator[str]:
    """Yield a line for a file of Python that is long, and for each long function in it."""
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > MOST_OF_FILE:
        yield f"{path}:1: {lines} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            count = body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]
            if count > MOST_OF_FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {count} lines"


def main(names: Sequence[str]) -> int:
    """Print warnings about some files; return the exit code, which is always 0."""
    for name in names:
        for line in name_long(Path(name)):
            print(f"warning: {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
