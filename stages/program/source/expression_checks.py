"""Expressions over objects that the graph cannot have, where the text tells."""

from __future__ import annotations

import ast

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.source.calls import Calls
from lairmake.stages.program.source.contexts import Context, Spot
from lairmake.stages.program.source.meanings import HOST, MEMBER
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.words import (
    FILES,
    IGNORED,
    LATER,
    NUMPY,
    OBJECTS,
    OF_OBJECTS,
    ON_HOST,
)
from lairmake.stages.program.values.api import INSTEAD, NAMES, POWER, PRODUCT, suggest_instead
from lairmake.stages.program.values.forms import ON_PES, REDUCTIONS

POWERS = {
    ast.FloorDiv: "`//`", ast.Mod: "`%`", ast.MatMult: "`@`", ast.Pow: "a power",
}
VALUES = ("float", "int", "bool", "complex", "round", "str", "repr", "format", "print")
"""What asks for the value of an object, which only a run has."""
CASTS = {
    "float": '`x.astype("float32")`, or ', "int": '`x.astype("int32")`, or ',
    "bool": "`x != 0`, or ", "round": f"{INSTEAD['round']}, or ",
}
"""What a program has in place of some of these."""

FOREIGN = ("sum", "min", "max", "all", "any", "sorted", "pow", "divmod", "list", "tuple", "iter",
           "next", "map", "filter", "set")
WIDE = ("float64", "int64", "int8", "uint8", "uint16", "uint32", "complex64", "bool", "double")
LATER_ON = "is not there yet"
BITS = {
    ast.FloorDiv: "of reals, what `np.floor` says is done to `x / y`; `x >> 1` of integers, for "
    "powers of two",
    ast.Mod: "`x & 1` of integers, for powers of two",
}


def check_operator(places: Places, calls: Calls, spot: Spot) -> None:
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


def check_truth(places: Places, calls: Calls, spot: Spot) -> None:
    """Report what asks for the truth of an object where no loop or branch begins."""
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


def _check_compare(places: Places, context: Context, node: ast.Compare) -> None:
    if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops) and any(
            context.find(each).is_object for each in (node.left, *node.comparators)):
        places.report(node, "`in` of objects", "`np.max(x == value, controller=True) > 0`")
    elif len(node.ops) > 1 and context.find(node).is_object and (
            node not in context.program.conditions):
        places.report(node, "a chain of comparisons outside of a condition",
                      "`(a < x) & (x < b)`")


def check_call(places: Places, calls: Calls, spot: Spot) -> None:
    """Report calls that would need the values of objects, or elements that PEs do not have."""
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
        _check_foreign(places, node, name, objects[0])
    if called.what == MEMBER and called.detail.rpartition(".")[2] in REDUCTIONS:
        _check_axis(places, context, node)


def _check_foreign(places: Places, node: ast.Call, name: str, first: ast.expr) -> None:
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


def _check_axis(places: Places, context: Context, node: ast.Call) -> None:
    for given in node.keywords:
        value = given.value
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if given.arg == "axis" and node.args and context.find(node.args[0]).detail in ON_PES and (
                any(isinstance(each, ast.Constant) and each.value in (0, 1) for each in parts)):
            places.report(given.value, f"a sum over PEs to an array {LATER_ON}",
                          "without `axis` all is added up; `axis=2` adds up what a PE holds")


def _check_types(places: Places, context: Context, node: ast.Call) -> None:
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


def check_name(places: Places, calls: Calls, spot: Spot) -> None:
    """Report names that our modules do not have, and objects where only the host is."""
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


def check_imported(places: Places, calls: Calls, spot: Spot) -> None:
    """Report names that our modules do not have where they are imported."""
    node = spot.node
    assert isinstance(node, ast.ImportFrom)
    for alias in node.names if node.module in (NUMPY, OBJECTS) else ():
        if alias.name != "*":
            check_member(places, alias, f"{node.module}.{alias.name}")


def check_member(places: Places, node: ast.AST, full: str) -> None:
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


def check_text(places: Places, calls: Calls, spot: Spot) -> None:
    """Report a text that would hold the value of an object."""
    node, context = spot.node, spot.context
    assert isinstance(node, ast.FormattedValue)
    if context.find(node.value).is_object and context.host != IGNORED:
        places.report(node.value, "an object in a text: its value is not known yet",
                      f"put it under {IGNORED}")
