"""Conditions of loops and branches of the graph: on values that the controller has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lairmake.stages.program.source.calls import Calls
from lairmake.stages.program.source.contexts import Context, Spot
from lairmake.stages.program.source.meanings import CLASS, FUNCTION, UNKNOWN
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.reading import read_conditions
from lairmake.stages.program.source.walking import walk_own
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, LOCAL_ARRAY, LOCAL_SCALAR, UNIFORM

REMEDIES = {
    UNIFORM: "a sum with `controller=True` is global: `np.sum(x, controller=True)`",
    LOCAL_SCALAR: "`np.where(mask, a, b)` chooses on each PE; `np.max(x, controller=True)` is one "
    "number for all",
    LOCAL_ARRAY: "`np.where(mask, a, b)` chooses elements; `np.max(x, controller=True)` is one "
    "number for all",
    GLOBAL_ARRAY: "take one of its elements, `a[0]`, or `np.max(a)`",
}


def check_condition(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a condition on what PEs have, and calls that may or may not be made."""
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
    """Return what to write for a condition; a sum that stands in it becomes a global one."""
    if kind != UNIFORM or not isinstance(value, ast.Call) or value.keywords:
        return REMEDIES[kind]
    keywords = [ast.keyword("controller", ast.Constant(True))]
    spelled = ast.unparse(ast.Call(value.func, value.args, keywords))
    return f"a sum with `controller=True` is global: `{spelled}`"


def _is_of_object(context: Context, call: ast.Call) -> bool:
    """Whether a method of an object is called: `x.astype("int32")` does the same at any time."""
    return isinstance(call.func, ast.Attribute) and context.find(call.func.value).is_object


def _check_end(places: Places, node: ast.While) -> None:
    """Report a loop without an end."""
    if not isinstance(node.test, ast.Constant) or not node.test.value:
        return
    inner = (each for statement in node.body for each in (statement, *walk_own(statement)))
    if not any(isinstance(each, ast.Break | ast.Return | ast.Raise) for each in inner):
        places.report(node.test, "a loop without an end", "`if g > 100.0: break`")


def _read_values(test: ast.expr) -> Iterator[ast.expr]:
    """Yield what a condition compares, and what it asks for its truth."""
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
    """Yield the calls that Python makes only if what stands before them does not decide."""
    late: list[ast.expr] = []
    for node in read_conditions(test):
        if isinstance(node, ast.BoolOp):
            late += node.values[1:]
        elif isinstance(node, ast.Compare):
            late += node.comparators[1:]
    for node in late:
        yield from (each for each in (node, *walk_own(node)) if isinstance(each, ast.Call))
