"""Arguments of our functions: names that these have, and as many as they take."""

from __future__ import annotations

import ast

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.source.calls import Calls
from lairmake.stages.program.source.contexts import Spot
from lairmake.stages.program.source.meanings import MEMBER
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.words import IGNORED, NUMPY, OBJECTS
from lairmake.stages.program.values.api import UNARY
from lairmake.stages.program.values.forms import GLOBAL_SCALAR, KINDS, REDUCTIONS, UNIFORM

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
"""The arguments of each function, and how many of them it must have."""


def check_arguments(places: Places, calls: Calls, spot: Spot) -> None:
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
    """Return what a function of ours, or the one method of objects, takes; None for others."""
    if isinstance(called, ast.Attribute) and called.attr == "astype" and (
            spot.context.find(called.value).is_object):
        return ("dtype",), 1
    found = spot.context.find(called)
    return TAKEN.get(found.detail) if found.what == MEMBER else None
