"""How deep the intermediate language is nested, whose contexts Python lets stand in each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from lairmake.stages.program.source.calls import Calls
from lairmake.stages.program.source.conditions import read_condition
from lairmake.stages.program.source.contexts import Spot
from lairmake.stages.program.source.control import LOOPS
from lairmake.stages.program.source.meanings import Program
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.walking import SCOPES, read_children

MOST = 20
"""How many blocks Python has room for in one function."""
LONGEST = 1900
"""How many characters a logic text may have."""


def check_nesting(places: Places, program: Program, tree: ast.Module) -> None:
    """Report what stands in more than MOST loops, branches and contexts of the text or graph."""
    todo: list[tuple[Sequence[ast.AST], int]] = [(tree.body, 0)]
    while todo:
        body, depth = todo.pop()
        for node in body:
            if isinstance(node, SCOPES):
                inner = node.body if isinstance(node.body, list) else []
                todo.append((inner, 0))
            elif depth > MOST:
                places.report(node, f"more than {MOST} loops, branches and contexts in each other, "
                              "with what `elif` becomes", "put a part into a function")
                break
            else:
                todo += [(each, depth + more) for each, more in _read_blocks(program, node)]


def _read_blocks(program: Program, node: ast.AST) -> Iterator[tuple[Sequence[ast.AST], int]]:
    """Yield the bodies of a statement, and how many blocks each is in."""
    if not isinstance(node, ast.stmt):
        return
    is_graph = node in program.loops
    if isinstance(node, ast.If):
        yield from ((node.body, int(is_graph)), (node.orelse, int(is_graph)))
    elif isinstance(node, LOOPS):
        yield from ((node.body, 1), (node.orelse, 0))
    elif isinstance(node, ast.With):
        yield node.body, len(node.items)
    else:
        inner = [each for each in read_children(node) if not isinstance(each, ast.expr)]
        yield [each for each in inner if isinstance(each, ast.stmt)], 2
        yield from ((each.body, 2) for each in inner
                    if isinstance(each, ast.ExceptHandler | ast.match_case))


def check_length(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a condition that is too long a text."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.If | ast.While)
    if node not in context.program.loops:
        return
    found = read_condition(context.program, context.scope, node.test, lambda each: each)
    if len(found.text) > LONGEST:
        places.report(node.test, f"a condition of {len(found.text)} characters: "
                      f"{LONGEST} is the most", "compute parts of it before")
