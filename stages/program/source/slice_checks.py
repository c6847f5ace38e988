"""Subscripts of objects, where the text tells which elements they mean."""

from __future__ import annotations

import ast

from lairmake.stages.program.source.calls import Calls
from lairmake.stages.program.source.contexts import Context, Spot
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.values.forms import LOCAL_SCALAR, ON_PES


def check_subscript(places: Places, calls: Calls, spot: Spot) -> None:
    """Report subscripts that are no slices, and those of PEs that are none of one after another."""
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


def _check_key(places: Places, context: Context, key: ast.expr) -> None:
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


def _check_pe(places: Places, axis: int, key: ast.expr) -> None:
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
