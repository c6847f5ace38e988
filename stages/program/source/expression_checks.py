"""Checks of expressions and statements in a source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.source.conditions import read_condition
from lairmake.stages.program.source.contexts import (
    COMPREHENSIONS,
    LOOPS,
    Calls,
    Context,
    Spot,
    name_function,
)
from lairmake.stages.program.source.names import (
    CLASS,
    DECORATORS,
    FILES,
    FUNCTION,
    HOST,
    IGNORED,
    LATER,
    MEMBER,
    NUMPY,
    OBJECTS,
    OF_OBJECTS,
    ON_HOST,
    UNKNOWN,
    SourceProgram,
)
from lairmake.stages.program.source.scopes import is_context, read_conditions
from lairmake.stages.program.source.tree import (
    SCOPES,
    SourcePlaces,
    read_children,
    walk_all,
    walk_own,
)
from lairmake.stages.program.values.api import (
    INSTEAD,
    NAMES,
    POWER,
    PRODUCT,
    UNARY,
    suggest_instead,
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

# --- Expressions that the graph cannot have -------------------------------------------------------

POWERS = {
    ast.FloorDiv: "`//`", ast.Mod: "`%`", ast.MatMult: "`@`", ast.Pow: "a power",
}
VALUES = ("float", "int", "bool", "complex", "round", "str", "repr", "format", "print")
"""Functions that ask for the value of an object, which only a run has."""
CASTS = {
    "float": '`x.astype("float32")`, or ', "int": '`x.astype("int32")`, or ',
    "bool": "`x != 0`, or ", "round": f"{INSTEAD['round']}, or ",
}
"""Replacements for some of these functions."""

FOREIGN = ("sum", "min", "max", "all", "any", "sorted", "pow", "divmod", "list", "tuple", "iter",
           "next", "map", "filter", "set")
WIDE = ("float64", "int64", "int8", "uint8", "uint16", "uint32", "complex64", "bool", "double")
LATER_ON = "is not there yet"
BITS = {
    ast.FloorDiv: "of reals, what `np.floor` says is done to `x / y`; `x >> 1` of integers, for "
    "powers of two",
    ast.Mod: "`x & 1` of integers, for powers of two",
}


def check_operator(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report operators that objects do not have."""
    node, context = spot.node, spot.context
    if isinstance(node, ast.AugAssign):
        operands, op = [node.target, node.value], node.op
    else:
        assert isinstance(node, ast.BinOp)
        operands, op = [node.left, node.right], node.op
    if type(op) not in POWERS or not any(context.find(each).is_object for each in operands):
        return
    if isinstance(op, ast.Pow):
        exponent = operands[1]
        is_host = context.find(exponent).what == HOST
        if is_host and (not isinstance(exponent, ast.Constant) or exponent.value == 2):
            return
        hint = POWER
    elif isinstance(op, ast.MatMult):
        hint = PRODUCT
    else:
        hint = BITS[type(op)]
    places.report(node, f"{POWERS[type(op)]} of objects {LATER_ON}", hint)


def check_truth(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report tests of the truth of an object outside of the conditions of loops and branches."""
    node, context = spot.node, spot.context
    if context.host == IGNORED:
        return
    if isinstance(node, ast.Compare):
        _check_compare(places, context, node)
    elif node in context.program.conditions:
        return
    elif isinstance(node, ast.IfExp):
        if context.find(node.test).is_object:
            places.report(node, "`a if c else b` on objects", "`np.where(c, a, b)`, or an `if`")
    elif isinstance(node, ast.BoolOp) and any(context.find(each).is_object for each in node.values):
        word = "and" if isinstance(node.op, ast.And) else "or"
        mark = "&" if word == "and" else "|"
        places.report(node, f"`{word}` of objects outside of a condition",
                      f"`(a > 0) {mark} (b > 0)`")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and (
            context.find(node.operand).is_object):
        places.report(node, "`not` of an object outside of a condition", "`x == 0`")
    elif isinstance(node, ast.Assert) and context.find(node.test).is_object:
        places.report(node, "`assert` on objects: their values are not known yet",
                      f"put it under {IGNORED}")


def _check_compare(places: SourcePlaces, context: Context, node: ast.Compare) -> None:
    if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops) and any(
            context.find(each).is_object for each in (node.left, *node.comparators)):
        places.report(node, "`in` of objects", "`np.max(x == value, controller=True) > 0`")
    elif len(node.ops) > 1 and context.find(node).is_object and (
            node not in context.program.conditions):
        places.report(node, "a chain of comparisons outside of a condition",
                      "`(a < x) & (x < b)`")


def check_call(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report calls that need the values of objects, or types of elements that PEs do not have."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.Call)
    called = context.find(node.func)
    given = [*node.args, *(each.value for each in node.keywords)]
    objects = [each for each in given if context.find(each).is_object]
    _check_types(places, context, node)
    if context.host == IGNORED:
        return
    for each in node.args:
        if isinstance(each, ast.Starred) and context.find(each.value).is_object:
            places.report(each, "`*` of an object: its parts are no arguments", "pass the object")
    name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
    if called.what == HOST and objects:
        _check_foreign(places, node, name)
    if called.what == MEMBER and called.detail.rpartition(".")[2] in REDUCTIONS:
        _check_axis(places, context, node)


def _check_foreign(places: SourcePlaces, node: ast.Call, name: str) -> None:
    """Report a function of Python or NumPy that is given an object."""
    if name in VALUES:
        places.report(node, f"{name} of an object: its value is not known yet",
                      f"{CASTS.get(name, '')}put it under {IGNORED}")
    elif name in FOREIGN:
        hint = INSTEAD.get({"pow": "power"}.get(name, name), "a loop over a GlobalArray")
        if name in REDUCTIONS:
            hint = f"`np.{name}`"
        if name in ("max", "min") and len(node.args) > 1:
            hint = f"`np.{name}imum(a, b)`"
        places.report(node, f"{name} of an object is Python's, which asks for its elements", hint)
    elif "." in name and name.rpartition(".")[2] in NAMES:
        places.report(node, f"{name} of an object is not of programs",
                      "`from lairmake import numpy as np`, and NumPy's own under another name")


def _check_axis(places: SourcePlaces, context: Context, node: ast.Call) -> None:
    for given in node.keywords:
        value = given.value
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if given.arg == "axis" and node.args and context.find(node.args[0]).detail in ON_PES and (
                any(isinstance(each, ast.Constant) and each.value in (0, 1) for each in parts)):
            places.report(given.value, f"a sum over PEs to an array {LATER_ON}",
                          "without `axis` all is added up; `axis=2` adds up what a PE holds")


def _check_types(places: SourcePlaces, context: Context, node: ast.Call) -> None:
    """Report types of elements that PEs do not have."""
    called = context.find(node.func)
    makes = called.what == MEMBER and called.detail.startswith(OBJECTS)
    casts = isinstance(node.func, ast.Attribute) and node.func.attr == "astype" and (
        context.find(node.func.value).is_object)
    chosen = [each.value for each in node.keywords if each.arg == "dtype" and (makes or casts)]
    chosen += node.args[:1] if casts else []
    for each in chosen:
        name = _name_type(each)
        if name in WIDE or (isinstance(each, ast.Name) and name in ("float", "int")):
            places.report(each, f"elements of {name} are none that PEs have",
                          "float16, float32, int16, int32: `np.float32`")


def _name_type(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def check_name(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report names that our modules do not have, and objects in Run_On_Host."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.Name | ast.Attribute | ast.alias)
    if isinstance(node, ast.alias):
        return
    found = context.find(node)
    if context.host == ON_HOST and calls.deals_with_objects(found):
        said = f"{ast.unparse(node)} is an object" if found.is_object else (
            f"{ast.unparse(node)} deals with objects")
        places.report(node, f"{said}: {ON_HOST} runs before they have values",
                      "objects are made and computed outside of it")
    if isinstance(node, ast.Attribute) and found.what == MEMBER:
        check_member(places, node, found.detail)


def check_imported(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report imported names that our modules do not have."""
    node = spot.node
    assert isinstance(node, ast.ImportFrom)
    for alias in node.names if node.module in (NUMPY, OBJECTS) else ():
        if alias.name != "*":
            check_member(places, alias, f"{node.module}.{alias.name}")


def check_member(places: SourcePlaces, node: ast.AST, full: str) -> None:
    """Report a name that lairmake.numpy or lairmake.objects does not have."""
    module, _, name = full.rpartition(".")
    known = NAMES if module == NUMPY else OF_OBJECTS
    if name in known or name.startswith("__"):
        return
    if module == NUMPY and name in FILES:
        places.report(node, f"np.{name} {LATER_ON}: hosts neither load nor save during a run",
                      "what is read before is NumPy's own, `import numpy` in Run_On_Host")
    elif name in LATER:
        places.report(node, f"{'np.' if module == NUMPY else ''}{name} {LATER_ON}",
                      INSTEAD.get(name))
    elif module == NUMPY and name == "newaxis":
        places.report(node, "np.newaxis: objects get no further axes")
    elif module == NUMPY:
        places.report(node, f"np.{name} is none of the functions for objects",
                      suggest_instead(name, (*known, *LATER)))
    else:
        near = nearest(name, known)
        places.report(node, f"lairmake.objects has no {name}",
                      f"did you mean {near}?" if near else f"it has {', '.join(known)}")


def check_text(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report a text that would contain the value of an object."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.FormattedValue)
    if context.find(node.value).is_object and context.host != IGNORED:
        places.report(node.value, "an object in a text: its value is not known yet",
                      f"put it under {IGNORED}")

# --- Subscripts of objects ------------------------------------------------------------------------

def check_subscript(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report subscripts other than slices and integers, and indices or steps in axes of PEs."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.Subscript)
    base = context.find(node.value)
    if not base.is_object:
        return
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for key in keys:
        _check_key(places, context, key)
    is_bare = isinstance(node.value, ast.Name | ast.Attribute)
    if base.detail in ON_PES and is_bare:
        for axis, key in enumerate(keys[:2]):
            if _is_dots(key):
                break
            _check_pe(places, axis, key)
        if base.detail == LOCAL_SCALAR and len(keys) == 2 and _is_dots(keys[0]):
            _check_pe(places, 1, keys[1])


def _is_dots(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and key.value is ...


def _check_key(places: SourcePlaces, context: Context, key: ast.expr) -> None:
    if isinstance(key, ast.List | ast.Compare | ast.ListComp) or _is_mask(context, key):
        places.report(key, "a subscript that is neither a slice nor an integer",
                      "masks and lists of indices are not there: `np.where(mask, a, b)`")
    elif isinstance(key, ast.Constant) and key.value is None:
        places.report(key, "np.newaxis: objects get no further axes")
    elif isinstance(key, ast.Constant) and not isinstance(key.value, int) and not _is_dots(key):
        places.report(key, "a subscript that is neither a slice nor an integer", "`x[1:-1, :, 2]`")
    elif context.find(key).is_object:
        places.report(key, "an index that is an object is not there yet",
                      "in a loop that Python unrolls it is a number: `for i in range(n)`")
    elif isinstance(key, ast.Slice):
        for part in (key.lower, key.upper, key.step):
            if part is not None and context.find(part).is_object:
                places.report(part, "a slice up to an object is not there yet",
                              "`np.where(mask, a, b)` chooses elements")


def _is_mask(context: Context, key: ast.expr) -> bool:
    return isinstance(key, ast.BinOp | ast.UnaryOp) and context.find(key).is_object


def _check_pe(places: SourcePlaces, axis: int, key: ast.expr) -> None:
    """Report an index or a step in axis 0 or 1."""
    index = _read_integer(key)
    if index is not None:
        stop = "" if index == -1 else str(index + 1)
        places.report(key, f"index {index} of axis {axis}: axes 0 and 1 are PEs, which stay apart",
                      f"write {index}:{stop}")
    elif isinstance(key, ast.Slice) and key.step is not None and _read_integer(key.step) != 1:
        step = ast.unparse(key.step)
        places.report(key.step, f"a step of {step} in axis {axis}, which is one of PEs",
                      "slices of PEs have no steps yet; those in memory have")


def _read_integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _read_integer(node.operand)
        return None if found is None else -found
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None

# --- Statements that the graph cannot have --------------------------------------------------------

FLAT = "what the graph has is the same in every run: no part of it may fail or wait"
HINTS: dict[type[ast.AST], str] = {
    ast.Lambda: "`def` with hints", **dict.fromkeys(COMPREHENSIONS, "a loop over Python objects")}
PLAIN = ("staticmethod", "classmethod", "property", "dataclass", "dataclasses.dataclass")


def is_touching(calls: Calls, context: Context, node: ast.AST) -> bool:
    """Return whether part of a source deals with objects, also in functions that it calls."""
    if isinstance(node, ast.Lambda):
        context = replace(context, scope=context.program.scopes[node])
    names = (each for each in walk_all(node) if isinstance(each, ast.Name | ast.Attribute))
    return any(calls.deals_with_objects(context.find(each)) for each in names)


def check_statement(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
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


def check_loop(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report an `else`, a target or a place that loops of the graph cannot have."""
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


def check_iteration(places: SourcePlaces, context: Context, node: ast.expr) -> None:
    """Report a loop or comprehension over an object that is no GlobalArray."""
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


def check_leave(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report a `break` or `continue` that would leave an unrolled loop, or a host context."""
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


def check_with(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report contexts of the host that are not alone in their `with`, or would run only once."""
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


def check_flatness(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report `try`, `match`, `async` and code that runs later, where it deals with objects."""
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


def check_function(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report functions over objects with objects as defaults, or with decorators not of ours."""
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

# --- Conditions of loops and branches -------------------------------------------------------------

REMEDIES = {
    UNIFORM: "a sum with `controller=True` is global: `np.sum(x, controller=True)`",
    LOCAL_SCALAR: "`np.where(mask, a, b)` chooses on each PE; `np.max(x, controller=True)` is one "
    "number for all",
    LOCAL_ARRAY: "`np.where(mask, a, b)` chooses elements; `np.max(x, controller=True)` is one "
    "number for all",
    GLOBAL_ARRAY: "take one of its elements, `a[0]`, or `np.max(a)`",
}


def check_condition(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report a condition on values of PEs, and calls in it that Python may skip."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.If | ast.While)
    if node not in context.program.loops:
        if isinstance(node, ast.While):
            _check_end(places, node)
        return
    for value in _read_values(node.test):
        kind = context.find(value).detail if context.find(value).is_object else ""
        if kind in REMEDIES:
            places.report(value, f"a condition on a {kind}: loops and branches are decided by the "
                          "controller, from global scalars", _remedy(value, kind))
    for call in _read_late_calls(node.test):
        if _is_of_object(context, call):
            continue
        if context.find(call.func).what in (FUNCTION, CLASS, UNKNOWN):
            places.report(call, "a call in a condition that may not be asked for it",
                          "call it before, and give what it returns a name")


def _remedy(value: ast.expr, kind: str) -> str:
    """Return the remedy for a condition; a sum in it gets `controller=True`."""
    if kind != UNIFORM or not isinstance(value, ast.Call) or value.keywords:
        return REMEDIES[kind]
    keywords = [ast.keyword("controller", ast.Constant(True))]
    spelled = ast.unparse(ast.Call(value.func, value.args, keywords))
    return f"a sum with `controller=True` is global: `{spelled}`"


def _is_of_object(context: Context, call: ast.Call) -> bool:
    """Return whether a call is a method of an object: `x.astype("int32")` is the same at any time.
    """
    return isinstance(call.func, ast.Attribute) and context.find(call.func.value).is_object


def _check_end(places: SourcePlaces, node: ast.While) -> None:
    """Report a loop without an end."""
    if not isinstance(node.test, ast.Constant) or not node.test.value:
        return
    inner = (each for statement in node.body for each in (statement, *walk_own(statement)))
    if not any(isinstance(each, ast.Break | ast.Return | ast.Raise) for each in inner):
        places.report(node.test, "a loop without an end", "`if g > 100.0: break`")


def _read_values(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the operands of comparisons in a condition, and the values whose truth it tests."""
    for node in read_conditions(test):
        if isinstance(node, ast.Compare):
            if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
                continue
            yield node.left
            yield from node.comparators
        elif not isinstance(node, ast.BoolOp | ast.UnaryOp) or (
                isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not)):
            yield node


def _read_late_calls(test: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls in a condition that Python skips if an earlier operand decides."""
    late: list[ast.expr] = []
    for node in read_conditions(test):
        if isinstance(node, ast.BoolOp):
            late += node.values[1:]
        elif isinstance(node, ast.Compare):
            late += node.comparators[1:]
    for node in late:
        yield from (each for each in (node, *walk_own(node)) if isinstance(each, ast.Call))

# --- Depth and length limits of the intermediate language -----------------------------------------

MOST = 20
"""Largest number of blocks in one another that Python allows in a function."""
LONGEST = 1900
"""Largest number of characters of a logic text."""


def check_nesting(places: SourcePlaces, program: SourceProgram, tree: ast.Module) -> None:
    """Report more than MOST loops, branches and contexts in one another, in text or graph."""
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


def _read_blocks(program: SourceProgram, node: ast.AST) -> Iterator[tuple[Sequence[ast.AST], int]]:
    """Yield the bodies of a statement, each with the number of blocks that it adds."""
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


def check_length(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report a condition whose logic text has more than LONGEST characters."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.If | ast.While)
    if node not in context.program.loops:
        return
    found = read_condition(context.program, context.scope, node.test, lambda each: each)
    if len(found.text) > LONGEST:
        places.report(node.test, f"a condition of {len(found.text)} characters: "
                      f"{LONGEST} is the most", "compute parts of it before")

# --- Arguments of our functions -------------------------------------------------------------------

SCALAR = ("name", "init_data", "dtype", "output")
ARRAY = ("name", "init_data", "shape", "dtype", "output")
TAKEN: dict[str, tuple[tuple[str, ...], int]] = {
    **{f"{OBJECTS}.{kind}": (SCALAR if kind in (GLOBAL_SCALAR, UNIFORM) else ARRAY, 1)
       for kind in KINDS},
    f"{OBJECTS}.parameter": (("name", "default"), 2), f"{OBJECTS}.field": (("width", "height"), 2),
    **{f"{NUMPY}.{name}": (("x",), 1) for name in UNARY},
    **{f"{NUMPY}.{name}": (("x", "axis", "controller"), 1) for name in REDUCTIONS},
    f"{NUMPY}.maximum": (("x", "y"), 2), f"{NUMPY}.minimum": (("x", "y"), 2),
    f"{NUMPY}.where": (("mask", "x", "y"), 3),
    f"{NUMPY}.right_shift_logical": (("x", "count"), 2),
}
"""The arguments of each function, and the number of those that it must have."""


def check_arguments(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report arguments that a function of ours does not have, too many of them, or too few."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.Call)
    found = _find_taken(spot, node.func)
    if context.host == IGNORED or found is None:
        return
    known, least = found
    name = ast.unparse(node.func)
    for each in node.keywords:
        if each.arg is not None and each.arg not in known:
            near = nearest(each.arg, known)
            places.report(each, f"{name} has no argument {each.arg}",
                          f"did you mean {near}?" if near else f"it takes {', '.join(known)}")
    is_plain = not any(isinstance(each, ast.Starred) for each in node.args) and all(
        each.arg is not None for each in node.keywords)
    given = {*known[: len(node.args)], *(each.arg for each in node.keywords)}
    lacks = [each for each in known[:least] if each not in given]
    if is_plain and (lacks or len(node.args) > len(known)):
        what = f"too many arguments, {len(node.args)}" if not lacks else f"no {lacks[0]}"
        places.report(node, f"{name} is given {what}", f"it takes {', '.join(known)}")


def _find_taken(spot: Spot, called: ast.expr) -> tuple[tuple[str, ...], int] | None:
    """Return the arguments of a function or method of ours; None for other functions."""
    if isinstance(called, ast.Attribute) and called.attr == "astype" and (
            spot.context.find(called.value).is_object):
        return ("dtype",), 1
    found = spot.context.find(called)
    return TAKEN.get(found.detail) if found.what == MEMBER else None
