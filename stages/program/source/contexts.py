"""What is around each node of a source: scopes, loops, branches, the contexts of the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lairmake.stages.program.source.control import LOOPS
from lairmake.stages.program.source.kinds import find_meaning
from lairmake.stages.program.source.meanings import Meaning, Program, Scope
from lairmake.stages.program.source.reading import is_context
from lairmake.stages.program.source.walking import read_children
from lairmake.stages.program.source.words import IGNORED, ON_HOST

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is around a node, in its own function.

    `graphs` are the loops and branches of the graph, `loops` all loops with how many of `graphs`
    are around or are each, `host` is ON_HOST or IGNORED, with how many loops are outside of it.
    `function` is the innermost one, None for the module.
    """

    program: Program
    scope: Scope
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    graphs: tuple[ast.AST, ...] = ()
    loops: tuple[tuple[ast.AST, int], ...] = ()
    host: str = ""
    outside: int = 0

    def find(self, node: ast.expr | None) -> Meaning:
        """Return what an expression is."""
        return find_meaning(self.program, self.scope, node)


@dataclass(frozen=True, slots=True)
class Spot:
    """A node and what is around it."""

    node: ast.AST
    context: Context


def walk_spots(program: Program, tree: ast.Module) -> Iterator[Spot]:
    """Yield every node of a source in the order of the text."""
    todo = [Spot(tree, Context(program=program, scope=program.module))]
    while todo:
        spot = todo.pop()
        yield spot
        todo += [*_enter(spot)][::-1]


def _enter(spot: Spot) -> Iterator[Spot]:
    """Yield the children of a node."""
    node, context = spot.node, spot.context
    inner = context
    if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
        yield from _enter_scope(node, context)
        return
    if node in context.program.loops or isinstance(node, LOOPS):
        yield from _enter_graph(node, context)
        return
    if isinstance(node, ast.With):
        inner = _enter_with(node, context)
    for child in read_children(node):
        yield Spot(child, inner if isinstance(child, ast.stmt) else context)


def _enter_scope(node: ast.AST, context: Context) -> Iterator[Spot]:
    """Yield what is computed where a function or class is defined, then what is in it."""
    inner = Context(
        program=context.program, scope=context.program.scopes[node], host=context.host,
        function=node if isinstance(node, FUNCTIONS) else context.function,
    )
    body = node.body  # type: ignore[attr-defined]
    within = set(body) if isinstance(body, list) else {body}
    for child in read_children(node):
        yield Spot(child, inner if child in within else context)


def _enter_graph(node: ast.AST, context: Context) -> Iterator[Spot]:
    """Yield the head of a loop or branch, and its bodies."""
    is_graph, is_loop = node in context.program.loops, isinstance(node, LOOPS)
    graphs = (*context.graphs, node) if is_graph else context.graphs
    around = (*context.loops, (node, len(graphs))) if is_loop else context.loops
    body = replace(context, graphs=graphs, loops=around)
    otherwise = replace(context, graphs=graphs)
    within = set(node.body)  # type: ignore[attr-defined]
    for child in read_children(node):
        if child in within:
            yield Spot(child, body)
        elif isinstance(child, ast.stmt):
            yield Spot(child, otherwise)
        else:
            yield Spot(child, body if isinstance(node, ast.While) else context)


def _enter_with(node: ast.With, context: Context) -> Context:
    for name in (ON_HOST, IGNORED):
        if is_context(context.program, context.scope, node, name):
            return replace(context, host=context.host or name, outside=len(context.loops))
    return context
