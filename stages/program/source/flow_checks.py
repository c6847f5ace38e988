"""What loops and branches of the graph bind stays in them: they are built once, not run.

A name that the host gives another value in each iteration, or in one of two branches, would keep
that of the first iteration, or of the branch that was built last.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from lairmake.stages.program.source.contexts import COMPREHENSIONS, Spot
from lairmake.stages.program.source.liveness import Live, Names, find_bound, find_live
from lairmake.stages.program.source.meanings import (
    Program,
    Scope,
    find_name,
    find_scope,
    read_targets,
)
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.reading import is_context
from lairmake.stages.program.source.walking import find_hidden, read_children, walk_all, walk_own
from lairmake.stages.program.source.words import IGNORED


def check_flow(places: Places, program: Program, spots: Iterable[Spot]) -> None:
    """Report names that loops, branches or what is ignored bind, and that are read elsewhere."""
    bound: dict[ast.AST, set[str]] = {}
    always: dict[ast.AST, set[str]] = {}
    ignored: set[ast.AST] = set()
    hidden: set[ast.AST] = set()
    for spot in spots:
        node, context = spot.node, spot.context
        found = bound.setdefault(context.scope.node, set())
        if context.graphs or context.host == IGNORED:
            found.update(find_bound(node))
        if isinstance(node, ast.For) and node in program.loops:
            found.update(name.id for name in read_targets(node.target))
        if is_context(program, context.scope, node, IGNORED):
            ignored.add(node)
        if isinstance(node, COMPREHENSIONS):
            own = find_hidden(node)
            hidden.update(each for each in walk_all(node)
                          if isinstance(each, ast.Name) and each.id in own)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and (
                context.host != IGNORED and node not in hidden):
            home = find_scope(context.scope, node.id)
            if home is not None and home is not context.scope:
                always.setdefault(home.node, set()).add(node.id)
    for scope in program.scopes.values():
        names = sorted(bound.get(scope.node, ()))
        if names and isinstance(body := scope.node.body, list):  # type: ignore[attr-defined]
            table = Names(names, ignored)
            live = sum(table.bits.get(name, 0) for name in always.get(scope.node, ()))
            for each in find_live(table, body, live):
                _check_live(places, program, scope, table, each, live)


def _check_live(
    places: Places, program: Program, scope: Scope, names: Names, live: Live, always: int
) -> None:
    """Report what a loop, a branch or ignored statements bind that is live behind them."""
    node = live.node
    is_ignored = node in names.ignored
    if node not in program.loops and not is_ignored:
        return
    is_loop = not isinstance(node, ast.If | ast.With)
    parts = [each for each in read_children(node)
             if isinstance(each, ast.stmt) or isinstance(node, ast.While) or (
                 isinstance(node, ast.For) and each is node.target)]
    stored = 0
    for part in parts:
        stored |= names.bind(part)
    after = stored & (live.after | always)
    again = stored & live.at_start if is_loop else 0
    for name, bit in names.bits.items() if after | again else ():
        if bit & (after | again):
            place = _find_place(parts, name)
            _report(places, scope, place, name, node, is_ignored, bool(bit & after))


def _find_place(parts: Iterable[ast.AST], name: str) -> ast.AST:
    nodes = (each for part in parts for each in (part, *walk_own(part)))
    return next(each for each in nodes if name in find_bound(each))


def _report(
    places: Places, scope: Scope, place: ast.AST, name: str, node: ast.AST, ignored: bool,
    after: bool,
) -> None:
    meaning = find_name(scope, name)
    where = "branch" if isinstance(node, ast.If) else "loop"
    if ignored:
        places.report(place, f"{name} is bound where only x86 sees it, and read elsewhere",
                      f"bind it in Run_On_Host, or outside of {IGNORED}")
    elif meaning.loop:
        places.report(place, f"{name}, the value of a loop, is read after it",
                      "assign it to a GlobalScalar in the loop")
    elif meaning.is_object:
        kind = meaning.detail or "LocalArray"
        places.report(place, f"{name} is made in a {where} that may not run, and read after it",
                      f"make it before, `{name} = {kind}(\"{name}\", ...)`, "
                      f"and assign `{name}[...] = ` here")
    elif after:
        places.report(place, f"{name} changes in a {where} of the graph, and is read after it: "
                      "this would run once", "make it a GlobalScalar: `n[...] += 1`")
    else:
        places.report(place, f"{name} goes from one iteration to the next, in a loop of the graph: "
                      "this would run once",
                      "make it a GlobalScalar, or unroll the loop: `for i in range(n)`")
