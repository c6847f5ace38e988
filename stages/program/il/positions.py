"""Places of the source in the intermediate language: errors show what was translated.

Paper    ours
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from stages.diagnose import Source, UserError, UserErrors
from stages.program.source.parsing import give_room
from stages.program.source.translation import convert_source

Place = tuple[int | None, ...]
"""The first and the last line, and the first and the last byte, as code objects have them."""


def place_il(il: str, source: str, path: str) -> tuple[ast.Module, Mapping[Place, int]]:
    """Return the tree, at places of the source, and lines of `il` by these places.

    Each part of `il` that the source becomes has the place that it comes from, each other part that
    of what stands there in the source. Without a source, or with a wrong one, places are of `il`.
    """
    with give_room():
        tree = ast.parse(il, path)
        lines: dict[Place, int] = {}
        found = _convert(source, path)
        if found is not None:
            _align(tree, found, found, lines)
        return tree, lines


def _convert(source: str, path: str) -> ast.Module | None:
    try:
        tree = convert_source(Source(path=path, text=source), is_right=True)
    except (UserError, UserErrors):
        return None
    return tree if tree.body else None


def _align(node: ast.AST, like: ast.AST | None, place: ast.AST, lines: dict[Place, int]) -> None:
    """Give a node, and what is below it, the places of a tree that is like it, as far as it is.

    Where it is not, the last place that was found is taken.
    """
    if like is not None and hasattr(like, "lineno"):
        place = like
    if hasattr(node, "lineno") and hasattr(place, "lineno"):
        line = node.lineno
        ast.copy_location(node, place)
        at = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)  # type: ignore
        lines.setdefault(at, line)
        if isinstance(node, ast.stmt):
            lines.update(((n,), line) for n in range(node.lineno, (node.end_lineno or 0) + 1))
    same = type(node) is type(like)
    for name in node._fields:
        one = getattr(node, name, None)
        two = getattr(like, name, None) if same else None
        if isinstance(one, ast.AST):
            if name != "ctx":
                _align(one, two if isinstance(two, ast.AST) else None, place, lines)
        elif isinstance(one, list) and one and isinstance(one[0], ast.AST):
            for each, other in _pair(one, two if isinstance(two, list) else []):
                _align(each, other, place, lines)


def _pair(
    nodes: Sequence[ast.AST], others: Sequence[ast.AST]
) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Yield nodes with those they are like: where some are missing, from both ends."""
    more, at = len(nodes) - len(others), 0
    if more:
        same = zip(nodes, others, strict=False)
        at = sum(1 for _ in takewhile(lambda pair: ast.dump(pair[0]) == ast.dump(pair[1]), same))
    yield from zip(nodes[:at], others[:at], strict=True)
    for n, each in enumerate(nodes[at:], start=at - more):
        yield each, others[n] if at <= n < len(others) else None
