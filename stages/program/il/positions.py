"""Places of the source in the intermediate language: errors show what was translated.

Paper    ours
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.program.source.translation import convert_source
from lairmake.stages.program.source.tree import give_room

Place = tuple[int | None, ...]
"""The first and the last line, and the first and the last byte, as code objects have them."""


def find_places(il: str, source: str, path: str) -> Mapping[Place, Place]:
    """Return the places of the source that places of `il` come from; that of a line is (line,).

    Each part of `il` that the source becomes has the place that it comes from, each other part that
    of what stands there in the source. Without a source, or with a wrong one, there are none.
    """
    with give_room():
        places: dict[Place, Place] = {}
        found = _convert(source, path)
        if found is not None:
            _align(ast.parse(il, path), found, found, places)
        return places


def _convert(source: str, path: str) -> ast.Module | None:
    try:
        tree = convert_source(Source(path=path, text=source), is_right=True)
    except (UserError, UserErrors):
        return None
    return tree if tree.body else None


def _align(node: Any, like: Any, at: Any, places: dict[Place, Place]) -> None:
    """Find the places of a node, and of what is below it, in a tree that is like it.

    Where that is not, the last place that was found is taken.
    """
    if like is not None and like._attributes:
        at = like
    if node._attributes and at._attributes:
        places[_read_place(node)] = _read_place(at)
        if isinstance(node, ast.stmt):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            places.update(((n,), _read_place(at)) for n in lines)
    same = node.__class__ is like.__class__
    for name in node._fields:
        one = getattr(node, name, None)
        if isinstance(one, list):
            for each, other in _pair(one, getattr(like, name) if same else []):
                if isinstance(each, ast.AST):
                    _align(each, other, at, places)
        elif isinstance(one, ast.AST) and one._fields:
            _align(one, getattr(like, name) if same else None, at, places)


def _read_place(node: Any) -> Place:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _pair(nodes: Sequence[Any], others: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield what is in a list with what it is like: where some are missing, from both ends."""
    more, at = len(nodes) - len(others), 0
    if not more:
        yield from zip(nodes, others, strict=True)
        return
    if others:
        same = zip(nodes, others, strict=False)
        at = sum(1 for _ in takewhile(lambda pair: _spell(pair[0]) == _spell(pair[1]), same))
    yield from zip(nodes[:at], others[:at], strict=True)
    for n, each in enumerate(nodes[at:], start=at - more):
        yield each, others[n] if at <= n < len(others) else None


def _spell(each: Any) -> str:
    return ast.dump(each) if isinstance(each, ast.AST) else repr(each)
