"""Statements that no loop or branch of the graph has, and contexts where they may stand."""

from __future__ import annotations

import ast
from dataclasses import replace

from lairmake.stages.program.source.calls import Calls, name_function
from lairmake.stages.program.source.contexts import COMPREHENSIONS, Context, Spot
from lairmake.stages.program.source.meanings import MEMBER
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.reading import is_context
from lairmake.stages.program.source.walking import walk_all
from lairmake.stages.program.source.words import DECORATORS, IGNORED, ON_HOST
from lairmake.stages.program.values.forms import GLOBAL_ARRAY

FLAT = "what the graph has is the same in every run: no part of it may fail or wait"
HINTS: dict[type[ast.AST], str] = {
    ast.Lambda: "`def` with hints", **dict.fromkeys(COMPREHENSIONS, "a loop over Python objects")}
PLAIN = ("staticmethod", "classmethod", "property", "dataclass", "dataclasses.dataclass")


def is_touching(calls: Calls, context: Context, node: ast.AST) -> bool:
    """Whether a part of a source deals with objects, itself or in functions that it calls."""
    if isinstance(node, ast.Lambda):
        context = replace(context, scope=context.program.scopes[node])
    names = (each for each in walk_all(node) if isinstance(each, ast.Name | ast.Attribute))
    return any(calls.deals_with_objects(context.find(each)) for each in names)


def check_statement(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a statement that would run once, or that the graph cannot have."""
    node, context = spot.node, spot.context
    if isinstance(node, ast.Return) and context.graphs:
        places.report(node, f"`return` in a {_name_graph(context)} of the graph",
                      "set a GlobalScalar there, and return behind it")
    elif isinstance(node, ast.Raise | ast.Assert) and context.graphs and not context.host:
        word = "raise" if isinstance(node, ast.Raise) else "assert"
        places.report(node, f"`{word}` in a {_name_graph(context)} of the graph: "
                      "this would run once", f"put it under {IGNORED}")
    elif not isinstance(node, ast.Return | ast.Raise | ast.Assert) and context.graphs and (
            not context.host):
        what = "`del`" if isinstance(node, ast.Delete) else "a definition"
        places.report(node, f"{what} in a {_name_graph(context)} of the graph: "
                      "this would run once", "put it before")


def _name_graph(context: Context) -> str:
    return "branch" if isinstance(context.graphs[-1], ast.If) else "loop"


def check_loop(places: Places, calls: Calls, spot: Spot) -> None:
    """Report what loops of the graph cannot have."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.For | ast.While)
    if node in context.program.loops:
        if node.orelse:
            places.report(node.orelse[0], "`else` of a loop of the graph",
                          "set a GlobalScalar before `break`, and look at it behind the loop")
        if isinstance(node, ast.For) and not isinstance(node.target, ast.Name):
            places.report(node.target, "the value of a loop has one name", "`for g in a:`")
        if isinstance(context.scope.node, ast.ClassDef):
            places.report(node, "a loop of the graph in the body of a class", "put it in a method")
    elif isinstance(node, ast.For):
        check_iteration(places, context, node.iter)


def check_iteration(places: Places, context: Context, node: ast.expr) -> None:
    """Report an object that a loop or comprehension would go through, and is none of numbers."""
    found = context.find(node)
    if found.is_object and found.detail == GLOBAL_ARRAY:
        return
    if found.is_object:
        said = f"a loop over a {found.detail}" if found.detail else "a loop over an object"
        places.report(node, f"{said}: only a GlobalArray has elements that a loop goes through",
                      "operators and slices reach all elements of the others at once")
    elif isinstance(node, ast.Call) and any(context.find(each).is_object for each in node.args):
        called = ast.unparse(node.func)
        places.report(node, f"{called} of objects: a loop of the graph goes over one GlobalArray",
                      "`for g in a:`, or `for t in global_range(n):`")


def check_leave(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a `break` or `continue` of an unrolled loop, or of one outside of a context."""
    node, context = spot.node, spot.context
    word = "break" if isinstance(node, ast.Break) else "continue"
    if not context.loops:
        return
    loop, depth = context.loops[-1]
    if context.host and len(context.loops) == context.outside:
        places.report(node, f"`{word}` in {context.host} leaves a loop outside of it",
                      "put the condition around the context")
    elif loop not in context.program.loops and len(context.graphs) > depth:
        places.report(node, f"`{word}` of a loop that Python unrolls, under a condition on objects",
                      "a loop over a GlobalArray or `global_range(n)` stays a loop")


def check_with(places: Places, calls: Calls, spot: Spot) -> None:
    """Report contexts of the host that are not alone, or where they would run once."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.With)
    for name in (ON_HOST, IGNORED):
        if not is_context(context.program, context.scope, node, name):
            continue
        item = node.items[0]
        is_call = isinstance(item.context_expr, ast.Call) and not (
            item.context_expr.args or item.context_expr.keywords)
        if len(node.items) > 1 or item.optional_vars is not None or not is_call:
            places.report(node.items[0].context_expr, f"{name} stands alone, without arguments",
                          f"`with {name}():`")
        if name == ON_HOST and context.graphs:
            places.report(item.context_expr, f"{ON_HOST} in a {_name_graph(context)} of the graph: "
                          "this would run once", f"put it before, or what prints under {IGNORED}")
        return
    if context.graphs and not context.host:
        places.report(node.items[0].context_expr, f"`with` in a {_name_graph(context)} of the "
                      "graph: this would run once", "put it around the loop")


def check_flatness(places: Places, calls: Calls, spot: Spot) -> None:
    """Report `try`, `match`, `async` and what is run later, where objects are in it."""
    node, context = spot.node, spot.context
    if context.host:
        return
    if isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await):
        places.report(node, "`async`: a program runs from its first line to its last", FLAT)
        return
    word = _name_late(node)
    if isinstance(node, ast.Yield | ast.YieldFrom):
        if name_function(context) in calls.touching:
            places.report(node, "a generator that deals with objects", "return a list, or a tuple")
    elif word and is_touching(calls, context, node):
        places.report(node, f"{word} over objects", HINTS.get(type(node), FLAT))
    elif isinstance(node, ast.Try | ast.Match) and context.graphs:
        said = f"{word} in a {_name_graph(context)} of the graph: this would run once"
        places.report(node, said, "put it before")


def _name_late(node: ast.AST) -> str:
    if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        return "`try`"
    if isinstance(node, ast.Match):
        return "`match`"
    if isinstance(node, ast.Lambda):
        return "`lambda`"
    return "comprehension" if isinstance(node, COMPREHENSIONS) else ""


def check_function(places: Places, calls: Calls, spot: Spot) -> None:
    """Report functions over objects whose decorators or defaults hide what they do."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.FunctionDef)
    for each in (*node.args.defaults, *node.args.kw_defaults):
        if each is not None and context.find(each).is_object:
            places.report(each, "an object as a default", "pass it where the function is called")
    if node.name not in calls.touching:
        return
    for each in node.decorator_list:
        found = context.find(each.func if isinstance(each, ast.Call) else each)
        name = ast.unparse(each.func if isinstance(each, ast.Call) else each)
        is_ours = found.what == MEMBER and found.detail.rpartition(".")[2] in DECORATORS
        if not is_ours and name not in PLAIN and not name.endswith(".setter"):
            places.report(each, f"decorator {name} of a function that deals with objects",
                          f"those of lairmake.objects are {', '.join(DECORATORS)}")
