"""The nodes of a tree, quickly: without those that only say how a name or an operator is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
"""The nodes whose names are names of their own."""

_TELLING = ("ctx", "op", "ops", "kind", "type_comment", "id", "attr", "conversion", "is_async")
_HOLDING: dict[type[ast.AST], tuple[str, ...]] = {}
"""The fields of each type of nodes that may hold others."""


def read_children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below one, in the order of the text."""
    fields = _HOLDING.get(type(node))
    if fields is None:
        found = () if isinstance(node, ast.Constant) else node._fields
        fields = _HOLDING[type(node)] = tuple(each for each in found if each not in _TELLING)
    children: list[ast.AST] = []
    for field in fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            children += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            children.append(value)
    return children


def walk_all(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, in the order of the text."""
    todo = [node]
    while todo:
        found = todo.pop()
        yield found
        todo += read_children(found)[::-1]


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, in the order of the text, but not those of scopes in it.

    A function in it is yielded, its decorators, defaults and body are not.
    """
    todo = read_children(node)[::-1]
    while todo:
        found = todo.pop()
        yield found
        if not isinstance(found, SCOPES):
            todo += read_children(found)[::-1]


def read_names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that a node reads, but those that comprehensions bind.

    What functions and classes in it read is left out: they may read it at any time.
    """
    todo: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while todo:
        found, hidden = todo.pop()
        if isinstance(found, ast.Name):
            if isinstance(found.ctx, ast.Load) and found.id not in hidden:
                yield found
            continue
        hidden |= find_hidden(found)
        body = getattr(found, "body", []) if isinstance(found, SCOPES) else []
        within = set(body) if isinstance(body, list) else {body}
        todo += [(each, hidden) for each in read_children(found) if each not in within]


def find_hidden(node: ast.AST) -> frozenset[str]:
    """Return the names that are those of a comprehension alone."""
    targets = (each for part in getattr(node, "generators", ()) for each in walk_all(part.target))
    return frozenset(each.id for each in targets if isinstance(each, ast.Name))


def fill_places(tree: ast.Module) -> None:
    """Give each node without a place that of the one above it."""
    todo: list[tuple[ast.AST, ast.AST]] = [(each, each) for each in tree.body]
    while todo:
        node, place = todo.pop()
        if hasattr(node, "lineno"):
            place = node
        elif "lineno" in node._attributes:
            ast.copy_location(node, place)
        todo += [(each, place) for each in read_children(node)]
