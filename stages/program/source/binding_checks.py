"""Names of objects are bound once, by a constructor, a hint or a loop."""

from __future__ import annotations

import ast

from lairmake.stages.program.source.calls import Calls
from lairmake.stages.program.source.contexts import COMPREHENSIONS, Context, Spot
from lairmake.stages.program.source.kinds import read_hint
from lairmake.stages.program.source.meanings import (
    FUNCTION,
    HOST,
    MEMBER,
    OBJECT,
    UNROLLED,
    Binding,
    Meaning,
    Program,
    find_name,
    read_targets,
)
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.walking import SCOPES, read_children, walk_all
from lairmake.stages.program.source.words import NUMPY, OBJECTS, OF_IL, SCALAR
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

RESERVED = (*OF_IL, "slice", "bool")
ANEW = {
    "augmented": ("this would bind it anew", "`{0}[...] += ...` changes its values"),
    "deleted": ("objects are not deleted",
                "its memory is given to others where nothing reads it any more"),
    "elsewhere": ("`global` and `nonlocal` are for names that are bound anew",
                  "leave the line out: functions see the objects of the module"),
}


def check_bindings(places: Places, program: Program) -> None:
    """Report names that are objects and would be something else, or another object, as well."""
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


def _check_name(places: Places, name: str, bindings: list[Binding], scope: ast.AST) -> None:
    """Report all that binds a name but the first place that makes it an object.

    Of two branches only one runs: both may bind it alike.
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
    sides: dict[ast.AST, dict[ast.AST, bool]], one: Binding, other: Binding
) -> bool:
    """Whether only one of two places runs, and both bind objects of one kind."""
    others = sides.get(other.node, {})
    is_apart = any(others.get(each, side) != side for each, side in sides.get(one.node, {}).items())
    return is_apart and one.meaning == other.meaning and one.meaning.is_object


def _repeats(first: Binding, other: Binding) -> bool:
    """Whether two loops bind a name alike, or two that are unrolled to no value of the host."""
    if first.how == other.how == UNROLLED:
        return other.meaning.what != HOST
    return first.how == other.how == "loop" and first.meaning == other.meaning


def _say_kind(meaning: Meaning) -> str:
    if meaning.loop:
        return "the value of a loop"
    return f"a {meaning.detail}" if meaning.detail else "an object"


def check_assignment(places: Places, calls: Calls, spot: Spot) -> None:
    """Report what is computed and gets a name without a hint, or a second name."""
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


def _check_pair(places: Places, context: Context, target: ast.expr, value: ast.expr) -> None:
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
    """Return the hint that a value needs; all that it may be where only its shape tells."""
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
    """Whether a part of an expression is an element of a GlobalArray, or a row of one."""
    return isinstance(node, ast.Subscript) and (
        context.find(node.value).detail == GLOBAL_ARRAY and not context.find(node).detail)


def _has_fewer_axes(context: Context, node: ast.AST) -> bool:
    """Whether a part of an expression has fewer axes in memory than the array that it is of."""
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
    """Whether a value is an object with a name, or one that is made here."""
    if isinstance(value, ast.Name | ast.Attribute):
        return True
    if isinstance(value, ast.IfExp) and not context.find(value.test).is_object:
        return _is_bound(context, value.body) and _is_bound(context, value.orelse)
    return _is_made(context, value) or (
        isinstance(value, ast.Call) and context.find(value.func).what == FUNCTION)


def _is_made(context: Context, value: ast.expr) -> bool:
    """Whether a value is what a constructor of ours makes."""
    called = context.find(value.func) if isinstance(value, ast.Call) else None
    return called is not None and called.what == MEMBER and called.detail.startswith(OBJECTS)


def check_named(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a hint of a kind for what is of another one, or no object, or has a name."""
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


def check_imports(places: Places, calls: Calls, spot: Spot) -> None:
    """Report spellings of imports of ours that leave open which name is what."""
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


def check_comprehension(places: Places, calls: Calls, spot: Spot) -> None:
    """Report names in comprehensions and lambdas that are objects outside of them."""
    node, context = spot.node, spot.context
    assert isinstance(node, COMPREHENSIONS)
    for part in node.generators:
        for name in read_targets(part.target):
            if find_name(context.scope, name.id).is_object:
                places.report(name, f"{name.id} is an object outside of this comprehension",
                              "choose another name")
