"""What the host does in a loop or branch of the graph is done once, when the graph is made.

So there it may only compute what is the same every time. This holds in functions as well that are
called there.
"""

from __future__ import annotations

import ast

from lairmake.stages.program.source.calls import Calls, name_function
from lairmake.stages.program.source.contexts import Context, Spot
from lairmake.stages.program.source.kinds import ITERATOR
from lairmake.stages.program.source.meanings import (
    CLASS,
    FUNCTION,
    HOST,
    MEMBER,
    MODULE,
    UNKNOWN,
    find_scope,
)
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.words import IGNORED, ON_HOST, PURE, PURE_METHODS, PURE_MODULES
from lairmake.stages.program.values.forms import KINDS

ONCE = "this would run once"


def is_looped(calls: Calls, context: Context) -> bool:
    """Whether what stands here is in a loop or branch of the graph, or called in one."""
    return not context.host and (
        bool(context.graphs) or name_function(context) in calls.looped)


def check_change(places: Places, calls: Calls, spot: Spot) -> None:
    """Report what changes a value of the host."""
    node, context = spot.node, spot.context
    if not is_looped(calls, context):
        return
    if isinstance(node, ast.Global | ast.Nonlocal):
        places.report(node, f"`{type(node).__name__.lower()}` in a function that runs in a loop of "
                      f"the graph: {ONCE}", "make it a GlobalScalar: `n[...] += 1`")
        return
    targets = node.targets if isinstance(node, ast.Assign) else [
        node.target]  # type: ignore[attr-defined]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        _check_grown(places, context, node.target)
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for part in parts:
            _check_target(places, context, part)


def _check_grown(places: Places, context: Context, name: ast.Name) -> None:
    """Report a name that may be a list of the caller, which `+=` would make longer."""
    if context.find(name).what == UNKNOWN and not context.graphs:
        places.report(name, f"{name.id} may be a list, which changes in a loop or branch of the "
                      f"graph: {ONCE}", f"say what it is: `{name.id}: int`")


def _check_target(places: Places, context: Context, target: ast.expr) -> None:
    if isinstance(target, ast.Attribute):
        if name_own(context) != "__init__":
            places.report(target, f"{ast.unparse(target)} gets another value in a loop or branch "
                          f"of the graph: {ONCE}", "make it an object: `x[...] = ` changes values")
    elif isinstance(target, ast.Subscript):
        _check_part(places, context, target.value)


def _check_part(places: Places, context: Context, whole: ast.expr) -> None:
    """Report what is no object, or may be none, and a part of which is assigned."""
    found, name, among = context.find(whole), ast.unparse(whole), ""
    if isinstance(whole, ast.Subscript):
        among = f"a loop `for one in {ast.unparse(whole.value)}:`, in which `one: LocalArray` " \
                "says that it is an object"
    if found.what == UNKNOWN:
        places.report(whole, f"{name} may be a value of the host, which changes in a loop or "
                      f"branch of the graph: {ONCE}",
                      among or f"say what it is: `{name}: LocalArray`")
    elif not found.is_object:
        hints = filter(None, ("make it a GlobalArray", among))
        places.report(whole, f"{name}, a value of the host, changes in a loop or branch of the "
                      f"graph: {ONCE}", ", or ".join(hints))


def name_own(context: Context) -> str:
    """Return the name of the function around, "" for none."""
    return context.function.name if context.function is not None else ""


def check_expression(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a statement that only calls something of the host."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.Expr)
    if not isinstance(node.value, ast.Call) or not is_looped(calls, context):
        return
    call = node.value
    called = context.find(call.func)
    if called.what in (FUNCTION, CLASS, MEMBER) or (called.what == UNKNOWN and (
            _may_be_ours(context, call))):
        return
    name = ast.unparse(call.func)
    if len(name) > 40:
        name = "this"
    places.report(call, f"{name} is called in a loop or branch of the graph: {ONCE}",
                  f"put it under {IGNORED}, where only x86 sees it")


def _may_be_ours(context: Context, call: ast.Call) -> bool:
    """Whether what is called may be a function over objects."""
    given = [*call.args, *(each.value for each in call.keywords)]
    if isinstance(call.func, ast.Attribute):
        if call.func.attr in context.program.functions:
            return True
        if context.find(call.func.value).what != MODULE:
            return False
    return any(context.find(each).what != HOST for each in given)


def check_value(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a call of the host whose value may be another one every time."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.Call)
    if not is_looped(calls, context):
        return
    called = context.find(node.func)
    if called.what == MEMBER:
        _check_made(places, context, node, called.detail.rpartition(".")[2])
        return
    if called.what != HOST or _is_pure(context, node.func):
        return
    name = ast.unparse(node.func)
    places.report(node, f"{name if len(name) <= 40 else 'this'} may give another value every time; "
                  f"in a loop or branch of the graph {ONCE}", "call it before the loop")


def _check_made(places: Places, context: Context, node: ast.Call, name: str) -> None:
    if name in KINDS and context.graphs:
        places.report(node, f"a {name} is made in a loop or branch of the graph: {ONCE}",
                      "make it before")
    elif name == ON_HOST and not context.graphs:
        places.report(node, f"{ON_HOST} in a function that is called in a loop or branch of the "
                      f"graph: {ONCE}", "put it before")


def _is_pure(context: Context, called: ast.expr) -> bool:
    """Whether a function of the host gives the same every time."""
    name = ast.unparse(called)
    if isinstance(called, ast.Name):
        detail = context.find(called).detail
        return name in PURE or detail.partition(".")[0] in PURE_MODULES
    if not isinstance(called, ast.Attribute):
        return False
    if context.find(called.value).what == MODULE or "." in name:
        top = context.find(_first(called))
        if top.what == MODULE:
            return top.detail.partition(".")[0] in PURE_MODULES and "random" not in (
                f"{top.detail}.{name}")
    return called.attr in PURE_METHODS


def _first(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def check_iterator(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a loop over what can be gone through once, and was made before."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.For)
    if not isinstance(node.iter, ast.Name) or not is_looped(calls, context) or (
            context.find(node.iter).detail != ITERATOR):
        return
    home = find_scope(context.scope, node.iter.id)
    made = [] if home is None else [each.node for each in home.bindings[node.iter.id]]
    if home is not context.scope or any(
            not _is_within(one, each)
            for one in made for each in context.graphs[:1]):
        name = node.iter.id
        places.report(node.iter, f"{name} can be gone through once, and not in each iteration of "
                      f"the graph: {ONCE}", f"make it a list: `{name} = list(...)`")


def _is_within(node: ast.AST, graph: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return bool(graph.lineno <= line <= graph.end_lineno)  # type: ignore[attr-defined]
