"""Which loops and branches of a source stay loops and branches of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lairmake.stages.program.source.kinds import find_meaning
from lairmake.stages.program.source.meanings import Program, Scope
from lairmake.stages.program.source.reading import is_loop, read_conditions
from lairmake.stages.program.source.walking import SCOPES, read_children

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def find_graphs(program: Program, tree: ast.Module) -> None:
    """Note the loops and branches of the graph, and their names, in the order of the text."""
    counts = {"fl": 0, "wl": 0, "if": 0}
    for node, scope in _walk_scopes(program, tree):
        begin = _begin_name(program, scope, node)
        while begin and (name := f"{begin}_{counts[begin]}") and name in program.read:
            counts[begin] += 1
        if begin:
            program.loops[node] = name
            counts[begin] += 1
            if isinstance(node, ast.If | ast.While):
                program.conditions.update(read_conditions(node.test))


def _begin_name(program: Program, scope: Scope, node: ast.AST) -> str:
    if isinstance(node, ast.For):
        return "fl" if is_loop(program, scope, node) else ""
    if isinstance(node, ast.While):
        return "wl" if _stays_while(program, scope, node) else ""
    if isinstance(node, ast.If):
        return "if" if find_meaning(program, scope, node.test).is_object else ""
    return ""


def _stays_while(program: Program, scope: Scope, node: ast.While) -> bool:
    """Whether a `while` looks at objects, or a `break` under a condition on objects leaves it."""
    if find_meaning(program, scope, node.test).is_object:
        return True
    is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    return is_endless and any(is_on_objects for _, is_on_objects in find_leaves(
        program, scope, node.body))


def find_leaves(
    program: Program, scope: Scope, body: list[ast.stmt]
) -> Iterator[tuple[ast.Break | ast.Continue, bool]]:
    """Yield each `break` and `continue` of a loop, and whether a condition on objects is around."""
    todo: list[tuple[ast.AST, bool]] = [(node, False) for node in reversed(body)]
    while todo:
        node, inside = todo.pop()
        if isinstance(node, ast.Break | ast.Continue):
            yield node, inside
        if isinstance(node, ast.If):
            inside = inside or find_meaning(program, scope, node.test).is_object
        if isinstance(node, LOOPS):
            todo += [(each, inside) for each in reversed(node.orelse)]
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(
                node, SCOPES):
            todo += [(each, inside) for each in reversed(read_children(node))]


def _walk_scopes(program: Program, tree: ast.Module) -> Iterator[tuple[ast.AST, Scope]]:
    """Yield all statements in the order of the text, and the scope in which each stands."""
    todo: list[tuple[ast.AST, Scope]] = [(tree, program.module)]
    while todo:
        node, scope = todo.pop()
        yield node, scope
        inner = program.scopes.get(node, scope)
        todo += [(child, inner) for child in reversed(read_children(node))
                 if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)]
