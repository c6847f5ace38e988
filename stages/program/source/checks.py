"""Checks of control flow and of names in a source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.source.contexts import (
    COMPREHENSIONS,
    Calls,
    Context,
    ContextNames,
    LiveNames,
    Spot,
    check_ignored,
    find_bound,
    find_calls,
    find_live,
    name_function,
    walk_spots,
)
from lairmake.stages.program.source.expression_checks import (
    check_arguments,
    check_call,
    check_condition,
    check_flatness,
    check_function,
    check_imported,
    check_leave,
    check_length,
    check_loop,
    check_name,
    check_nesting,
    check_operator,
    check_statement,
    check_subscript,
    check_text,
    check_truth,
    check_with,
)
from lairmake.stages.program.source.names import (
    CLASS,
    FUNCTION,
    HOST,
    IGNORED,
    ITERATOR,
    MEMBER,
    MODULE,
    NUMPY,
    OBJECT,
    OBJECTS,
    OF_IL,
    ON_HOST,
    PURE,
    PURE_METHODS,
    PURE_MODULES,
    SCALAR,
    UNKNOWN,
    UNROLLED,
    Meaning,
    NameBinding,
    SourceProgram,
    SourceScope,
    find_name,
    find_scope,
    read_hint,
    read_targets,
)
from lairmake.stages.program.source.plain_numpy import has_others
from lairmake.stages.program.source.scopes import is_context
from lairmake.stages.program.source.tree import (
    SCOPES,
    SourcePlaces,
    find_hidden,
    read_children,
    walk_all,
    walk_own,
)
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    KINDS,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    ON_PES,
    REDUCTIONS,
    UNIFORM,
)

# --- Bindings of the names of objects -------------------------------------------------------------

RESERVED = (*OF_IL, "slice", "bool")
ANEW = {
    "augmented": ("this would bind it anew", "`{0}[...] += ...` changes its values"),
    "deleted": ("objects are not deleted",
                "its memory is given to others where nothing reads it any more"),
    "elsewhere": ("`global` and `nonlocal` are for names that are bound anew",
                  "leave the line out: functions see the objects of the module"),
}


def check_bindings(places: SourcePlaces, program: SourceProgram) -> None:
    """Report names of objects that are bound again, to another object or another thing."""
    for scope in program.scopes.values():
        for name, bindings in scope.bindings.items():
            if name in RESERVED:
                places.report(bindings[0].node, f"{name} is a word of the intermediate language",
                              "choose another name")
            found = [each for each in bindings if each.how != "declared"]
            is_value = name in program.loaded or any(
                each.how not in ("loop", UNROLLED) for each in found)
            if is_value and any(each.meaning.is_object for each in found):
                _check_name(places, name, found, scope.node)


def _check_name(
    places: SourcePlaces, name: str, bindings: list[NameBinding], scope: ast.AST
) -> None:
    """Report all bindings of a name except the first one that makes it an object.

    Two branches of one `if` may bind the name alike, as only one of them runs.
    """
    first = next(each for each in bindings if each.meaning.is_object)
    sides = _find_sides(scope, {each.node for each in bindings}) if len(bindings) > 1 else {}
    kind, line = _say_kind(first.meaning), getattr(first.node, "lineno", 1)
    comes_first = bindings[0] is first or _repeats(first, bindings[0])
    if not comes_first and first.how not in ANEW:
        other = getattr(bindings[0].node, "lineno", 1)
        places.report(first.node, f"{name} has two kinds: {kind} here, no object in line {other}",
                      "choose another name")
    for number, each in enumerate(bindings):
        if each.how in ANEW:
            said, hint = ANEW[each.how]
            places.report(each.node, f"{name} is {kind}: {said}", hint.format(name))
        elif each is not first and comes_first and not _repeats(first, each) and not all(
                _exclude(sides, each, other) for other in bindings[:number]):
            other = "another object" if each.meaning.is_object else "no object any more"
            places.report(each.node, f"{name} is {kind} (line {line}), and would be {other}",
                          f"`{name}[...] = ` gives it other values"
                          if each.how in ("assigned", "named") and not first.meaning.loop
                          else "choose another name")


def _find_sides(
    scope: ast.AST, wanted: set[ast.AST]
) -> dict[ast.AST, dict[ast.AST, bool]]:
    """Return the branches around nodes: each `if`, and whether they are in its first part."""
    found: dict[ast.AST, dict[ast.AST, bool]] = {}
    todo: list[tuple[ast.AST, dict[ast.AST, bool]]] = [(scope, {})]
    while todo:
        node, around = todo.pop()
        if node in wanted:
            found[node] = around
        body = set(node.body) if isinstance(node, ast.If) else set()
        for each in read_children(node) if node is scope or not isinstance(node, SCOPES) else ():
            inner = around
            if isinstance(node, ast.If) and isinstance(each, ast.stmt):
                inner = {**around, node: each in body}
            todo.append((each, inner))
    return found


def _exclude(
    sides: dict[ast.AST, dict[ast.AST, bool]], one: NameBinding, other: NameBinding
) -> bool:
    """Return whether only one of two places runs, and both bind objects of one kind."""
    others = sides.get(other.node, {})
    is_apart = any(others.get(each, side) != side for each, side in sides.get(one.node, {}).items())
    return is_apart and one.meaning == other.meaning and one.meaning.is_object


def _repeats(first: NameBinding, other: NameBinding) -> bool:
    """Return whether two loops bind a name alike, or unrolled loops bind it to no host value."""
    if first.how == other.how == UNROLLED:
        return other.meaning.what != HOST
    return first.how == other.how == "loop" and first.meaning == other.meaning


def _say_kind(meaning: Meaning) -> str:
    if meaning.loop:
        return "the value of a loop"
    return f"a {meaning.detail}" if meaning.detail else "an object"


def check_assignment(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report computed objects that get a name without a hint, and objects with a second name."""
    node, context = spot.node, spot.context
    if context.host:
        return
    if isinstance(node, ast.NamedExpr):
        if context.find(node.value).is_object:
            places.report(node, "`:=` of an object", "a statement of its own, with a hint")
        return
    assert isinstance(node, ast.Assign)
    for target in node.targets:
        _check_pair(places, context, target, node.value)


def _check_pair(places: SourcePlaces, context: Context, target: ast.expr, value: ast.expr) -> None:
    if isinstance(target, ast.Tuple | ast.List):
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                _check_pair(places, context, one, other)
        elif context.find(value).is_object:
            places.report(value, "the parts of an object do not become names",
                          "slices reach them: `x[..., 0]`")
        return
    found = context.find(value)
    if not found.is_object or isinstance(target, ast.Subscript | ast.Starred):
        return
    name = ast.unparse(target)
    if isinstance(value, ast.Subscript):
        places.report(value, f"{name} would be a second name for a part of an object",
                      "write the slice where it is used, or copy it: "
                      f"`{name}: {found.detail or LOCAL_ARRAY} = np.copy(...)`")
    elif not _is_bound(context, value):
        places.report(target, f"{name} is computed from objects: a new one needs a hint",
                      _suggest_hint(context, name, value))


def _suggest_hint(context: Context, name: str, value: ast.expr) -> str:
    """Return the hint that a value needs, with all possible kinds if only its shape would tell."""
    kind = context.find(value).detail
    if kind in (GLOBAL_SCALAR, UNIFORM, SCALAR):
        return f"`{name}: {SCALAR} = ...`"
    parts = list(walk_all(value))
    if not kind and any(_is_element(context, each) for each in parts):
        return f"`{name}: {SCALAR} = ...`, or `{name}: {GLOBAL_ARRAY} = ...` where it has an axis"
    if any(_has_fewer_axes(context, each) for each in parts):
        return f"`{name}: {LOCAL_SCALAR} = ...` for one number on each PE, " \
               f"`{name}: {LOCAL_ARRAY} = ...` where axes in memory are left"
    return f"`{name}: {kind or LOCAL_ARRAY} = ...`"


def _is_element(context: Context, node: ast.AST) -> bool:
    """Return whether part of an expression is an element of a GlobalArray, or a row of one."""
    return isinstance(node, ast.Subscript) and (
        context.find(node.value).detail == GLOBAL_ARRAY and not context.find(node).detail)


def _has_fewer_axes(context: Context, node: ast.AST) -> bool:
    """Return whether part of an expression has fewer axes in memory than its array."""
    if isinstance(node, ast.Subscript):
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return context.find(node.value).detail == LOCAL_ARRAY and any(
            not isinstance(key, ast.Slice) and getattr(key, "value", 0) is not ... for key in keys)
    if not isinstance(node, ast.Call):
        return False
    called = context.find(node.func)
    return called.what == MEMBER and called.detail.rpartition(".")[2] in REDUCTIONS and (
        len(node.args) > 1 or any(each.arg in ("axis", None) for each in node.keywords))


def _is_bound(context: Context, value: ast.expr) -> bool:
    """Return whether a value is an object with a name, or one that is made here."""
    if isinstance(value, ast.Name | ast.Attribute):
        return True
    if isinstance(value, ast.IfExp) and not context.find(value.test).is_object:
        return _is_bound(context, value.body) and _is_bound(context, value.orelse)
    return _is_made(context, value) or (
        isinstance(value, ast.Call) and context.find(value.func).what == FUNCTION)


def _is_made(context: Context, value: ast.expr) -> bool:
    """Return whether a value is a call of one of our constructors."""
    called = context.find(value.func) if isinstance(value, ast.Call) else None
    return called is not None and called.what == MEMBER and called.detail.startswith(OBJECTS)


def check_named(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report hints that contradict their values: of another kind, of the host, or named already."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.AnnAssign)
    hinted = read_hint(context.program, context.scope, node.annotation)
    if context.host or node.value is None or hinted is None or hinted.what != OBJECT:
        if node.value is not None and hinted is None and context.find(node.value).is_object and (
                not context.host):
            _check_pair(places, context, node.target, node.value)
        return
    name, found = ast.unparse(node.target), context.find(node.value)
    if isinstance(node.target, ast.Subscript):
        places.report(node.target, "a hint for a part of an object", "leave it out")
    elif found.what == HOST:
        kind = GLOBAL_SCALAR if hinted.detail == SCALAR else hinted.detail
        places.report(node.value, f"a value of the host is no {hinted.detail}",
                      f"`{name} = {kind}(\"{name}\", ...)` makes one")
    elif isinstance(node.value, ast.Subscript | ast.Name | ast.Attribute) and found.is_object:
        places.report(node.value, f"{name} would be a second name for an object, or a part of it",
                      f"`{name}: {hinted.detail} = np.copy(...)`")
    elif _differ(hinted.detail, found) or (
            _is_made(context, node.value) and hinted.detail not in (SCALAR, found.detail)):
        places.report(node.value, f"a {found.detail}, whose hint says {hinted.detail}",
                      f"`{name}: {found.detail} = ...`")


def _differ(hint: str, found: Meaning) -> bool:
    if not found.is_object or found.detail not in KINDS:
        return False
    if hint == SCALAR:
        return found.detail not in (GLOBAL_SCALAR, UNIFORM, *ON_PES)
    return hint != found.detail and not (hint in ON_PES and found.detail in ON_PES)


def check_imports(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report imports of our modules that hide which name comes from which module."""
    node, context = spot.node, spot.context
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name == "lairmake" or (alias.name.startswith("lairmake.") and (
                    not alias.asname or alias.name not in (NUMPY, OBJECTS))):
                places.report(alias, f"`import {alias.name}`: programs import names of ours",
                              "`from lairmake import numpy as np`")
        return
    assert isinstance(node, ast.ImportFrom)
    module = node.module or ""
    for alias in node.names:
        full = f"{module}.{alias.name}"
        if module in (NUMPY, OBJECTS) and alias.name == "*":
            places.report(alias, f"`from {module} import *`: what a name means must be seen",
                          f"`from {module} import LocalArray, GlobalScalar`")
        elif module == "lairmake" and full not in (NUMPY, OBJECTS):
            places.report(alias, f"lairmake.{alias.name} is not for programs",
                          "lairmake.numpy and lairmake.objects are")
    is_ours = module == "lairmake" or module.startswith("lairmake.")
    if is_ours and (context.function is not None or context.graphs or context.host):
        places.report(node, "lairmake is imported at the top of a program", "move the line there")


def check_comprehension(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report names in comprehensions and lambdas that are objects outside of them."""
    node, context = spot.node, spot.context
    assert isinstance(node, COMPREHENSIONS)
    for part in node.generators:
        for name in read_targets(part.target):
            if find_name(context.scope, name.id).is_object:
                places.report(name, f"{name.id} is an object outside of this comprehension",
                              "choose another name")

# --- Names bound in loops and branches ------------------------------------------------------------
#
# The compiler builds loops and branches of the graph once, it does not run them. A name that the
# host sets to another value in each iteration, or in each of two branches, would keep the value of
# the first iteration, or of the branch that was built last.
# that of the first iteration, or of the branch that was built last.

def check_flow(places: SourcePlaces, program: SourceProgram, spots: Iterable[Spot]) -> None:
    """Report names that are bound in loops, branches or ignored statements, and read elsewhere."""
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
            table = ContextNames(names, ignored)
            live = sum(table.bits.get(name, 0) for name in always.get(scope.node, ()))
            for each in find_live(table, body, live):
                _check_live(places, program, scope, table, each, live)


def _check_live(
    places: SourcePlaces,
    program: SourceProgram,
    scope: SourceScope,
    names: ContextNames,
    live: LiveNames,
    always: int,
) -> None:
    """Report names bound in a loop, a branch or ignored statements that are live behind it."""
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
    places: SourcePlaces,
    scope: SourceScope,
    place: ast.AST,
    name: str,
    node: ast.AST,
    ignored: bool,
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

# --- Host code in loops and branches --------------------------------------------------------------
#
# The host runs this code once, when the graph is made. So it may only compute values that are the
# same every time. This holds in functions as well that are called there.

ONCE = "this would run once"


def is_looped(calls: Calls, context: Context) -> bool:
    """Return whether a node is in a loop or branch of the graph, or in a function called there."""
    return not context.host and (
        bool(context.graphs) or name_function(context) in calls.looped)


def check_change(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report statements that change a value of the host in a loop or branch of the graph."""
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


def _check_grown(places: SourcePlaces, context: Context, name: ast.Name) -> None:
    """Report a name that may be a list of the caller, which `+=` would make longer."""
    if context.find(name).what == UNKNOWN and not context.graphs:
        places.report(name, f"{name.id} may be a list, which changes in a loop or branch of the "
                      f"graph: {ONCE}", f"say what it is: `{name.id}: int`")


def _check_target(places: SourcePlaces, context: Context, target: ast.expr) -> None:
    if isinstance(target, ast.Attribute):
        if name_own(context) != "__init__":
            places.report(target, f"{ast.unparse(target)} gets another value in a loop or branch "
                          f"of the graph: {ONCE}", "make it an object: `x[...] = ` changes values")
    elif isinstance(target, ast.Subscript):
        _check_part(places, context, target.value)


def _check_part(places: SourcePlaces, context: Context, whole: ast.expr) -> None:
    """Report an assignment to a part of a value that is no object, or may be none."""
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


def check_expression(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report a call of the host that stands as a statement in a loop or branch of the graph."""
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
    """Return whether a call may be one of a function over objects."""
    given = [*call.args, *(each.value for each in call.keywords)]
    if isinstance(call.func, ast.Attribute):
        if call.func.attr in context.program.functions:
            return True
        if context.find(call.func.value).what != MODULE:
            return False
    return any(context.find(each).what != HOST for each in given)


def check_value(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report a call of the host whose value may differ from call to call."""
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


def _check_made(places: SourcePlaces, context: Context, node: ast.Call, name: str) -> None:
    if name in KINDS and context.graphs:
        places.report(node, f"a {name} is made in a loop or branch of the graph: {ONCE}",
                      "make it before")
    elif name == ON_HOST and not context.graphs:
        places.report(node, f"{ON_HOST} in a function that is called in a loop or branch of the "
                      f"graph: {ONCE}", "put it before")


def _is_pure(context: Context, called: ast.expr) -> bool:
    """Return whether a function of the host gives the same value every time."""
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


def check_iterator(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report a loop over an iterator that was made outside of the loop of the graph."""
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

# --- All checks of a source -----------------------------------------------------------------------

Check: TypeAlias = Callable[[SourcePlaces, Calls, Spot], None]

OF_NODES: dict[Check, tuple[type[ast.AST], ...]] = {
    check_assignment: (ast.Assign, ast.NamedExpr),
    check_named: (ast.AnnAssign,),
    check_imports: (ast.Import, ast.ImportFrom),
    check_imported: (ast.ImportFrom,),
    check_comprehension: COMPREHENSIONS,
    check_statement: (ast.Return, ast.Raise, ast.Assert, ast.FunctionDef, ast.ClassDef, ast.Import,
                      ast.ImportFrom, ast.Delete),
    check_loop: (ast.For, ast.While),
    check_leave: (ast.Break, ast.Continue),
    check_with: (ast.With,),
    check_flatness: (
        ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.Yield, ast.YieldFrom,
        ast.Try, ast.Match, ast.Lambda, *COMPREHENSIONS),
    check_function: (ast.FunctionDef,),
    check_condition: (ast.If, ast.While),
    check_length: (ast.If, ast.While),
    check_operator: (ast.BinOp, ast.AugAssign),
    check_truth: (ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Assert),
    check_call: (ast.Call,),
    check_arguments: (ast.Call,),
    check_name: (ast.Name, ast.Attribute),
    check_text: (ast.FormattedValue,),
    check_subscript: (ast.Subscript,),
    check_change: (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Global, ast.Nonlocal),
    check_expression: (ast.Expr,),
    check_value: (ast.Call,),
    check_iterator: (ast.For,),
    check_ignored: (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Return, ast.Call),
}
"""The types of nodes that each check looks at."""


def check_program(places: SourcePlaces, program: SourceProgram, tree: ast.Module) -> None:
    """Note in `places` all that is wrong with a source, as far as its text tells."""
    check_bindings(places, program)
    spots = list(walk_spots(program, tree))
    calls = find_calls(spots)
    by_type: dict[type[ast.AST], list[Check]] = {}
    for check, types in OF_NODES.items():
        for each in types:
            by_type.setdefault(each, []).append(check)
    if try_star := getattr(ast, "TryStar", None):
        by_type[try_star] = [check_flatness]
    for spot in spots:
        for check in by_type.get(type(spot.node), ()):
            check(places, calls, spot)
    _check_recursion(places, calls)
    check_nesting(places, program, tree)
    check_flow(places, program, spots)


def _check_recursion(places: SourcePlaces, calls: Calls) -> None:
    """Report functions over objects that call themselves: the graph has no stack."""
    for own in calls.again & calls.touching:
        for name, node in calls.called[own].items():
            if name == own:
                places.report(node, f"{own} calls itself", "write a loop")
            elif name in calls.again and own in calls.reach(name):
                places.report(node, f"{own} calls {name}, which calls {own}", "write a loop")

# --- Parameters that no line asks for -------------------------------------------------------------

PARAMETER = "parameter"


def find_unknown(tree: ast.Module, given: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield parameters that a source does not ask for, each as its name, a message and a hint.

    Yields nothing where the text does not tell: modules beside it may ask, and names may be
    computed.
    """
    asked = _find_asked(tree)
    for name in given if asked is not None else ():
        if asked is not None and name not in asked:
            near = nearest(name, asked)
            known = f"it asks for {', '.join(asked) or 'none'}"
            yield (name, f"the program has no parameter {name!r}",
                   f"did you mean {near}?" if near else known)


def _find_asked(tree: ast.Module) -> list[str] | None:
    """Return the names that a source asks for, in order; None where the text does not tell them."""
    if has_others(tree):
        return None
    names: list[str] = []
    called: set[ast.AST] = set()
    for node in walk_all(tree):
        if isinstance(node, ast.alias) and node.name == PARAMETER and node.asname:
            return None
        if isinstance(node, ast.Call) and _is_parameter(node.func):
            called.add(node.func)
            first = node.args[0] if node.args else None
            if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
                return None
            names.append(first.value)
        elif _is_parameter(node) and node not in called:
            return None
    return list(dict.fromkeys(names))


def _is_parameter(node: ast.AST) -> bool:
    return getattr(node, "id", "") == PARAMETER or getattr(node, "attr", "") == PARAMETER
