"""Check what statements define: every element that is wanted, and `=` no element twice.

Source   V Sec. 4.1.1: single assignment; conditions go beyond it
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.affine import reach
from lairmake.stages.lair.conditions import check_ranges, spell_conditions
from lairmake.stages.lair.layer import Layer, Statement, Tensor
from lairmake.stages.lair.tree import Access, Affine
from lairmake.stages.poly.functions import find_greatest, find_least

if TYPE_CHECKING:
    import islpy as isl

MAX_OPERATIONS = 10_000_000
"""What isl may spend on one statement before it is asked to be simpler; about a second."""


def check_defined(layer: Layer) -> Iterator[UserError]:
    """Yield an error for every access out of bounds, and for what is not defined, or twice."""
    for statement in layer.statements:
        sizes = dict(zip(statement.iterators, statement.sizes, strict=True))
        wrong = list(check_ranges(statement.conditions, sizes))
        if not wrong and statement.conditions:
            wrong = list(_check_empty(statement))
        if not wrong:
            wrong = [e for a in (statement.target, *statement.reads) for e in
                     check_bounds(a, statement, layer.tensors[a.tensor])]
        yield from wrong
        if not wrong and statement.conditions:
            yield from _check_conditioned(statement, layer)
        elif not wrong:
            yield from check_definition(statement, layer.tensors[statement.target.tensor])


def _check_empty(statement: Statement) -> Iterator[UserError]:
    """Yield an error if no instance fulfils the conditions, or if isl cannot tell."""
    import islpy as isl

    first, last = statement.conditions[0].span, statement.conditions[-1].span
    span = Span(source=first.source, start=first.start, end=last.end)
    try:
        empty = instance_set(statement, _context()).is_empty()
    except isl.Error:
        yield UserError("cannot tell where these conditions hold", span, "use simpler conditions")
        return
    if empty:
        message = "these conditions hold nowhere"
        yield UserError(message, span, f"of {' and '.join(_ranges(statement))}")


def _ranges(statement: Statement) -> list[str]:
    sizes = zip(statement.iterators, statement.sizes, strict=True)
    return [f"0 <= {name} < {size}" for name, size in sizes]


def check_bounds(access: Access, statement: Statement, tensor: Tensor) -> Iterator[UserError]:
    """Yield an error for every index that leaves its tensor where the conditions hold."""
    sizes = dict(zip(statement.iterators, statement.sizes, strict=True))
    for k, (row, size) in enumerate(zip(access.rows, tensor.shape, strict=True)):
        low, high = reach(row, sizes)
        if (low < 0 or high >= size) and statement.conditions:
            low, high = _reach_inside(row, statement)
        if low < 0 or high >= size:
            reached = low if low < 0 else high
            text = f"{row_text(row)} reaches {reached}"
            message = f"access to {access.tensor} is out of bounds: {text}"
            hint = f"index {k} of {access.tensor} goes from 0 to {size - 1}"
            yield UserError(message, access.span, hint)


def _reach_inside(row: Affine, statement: Statement) -> tuple[int, int]:
    """Return the smallest and largest value of a row where the conditions hold, not nowhere."""
    values = _relation([row], statement, _context(), conditions=True).range()
    return find_least(values, 0).to_python(), find_greatest(values, 0).to_python()


def row_text(row: Affine) -> str:
    """Return the text of an affine row, `2*w + rw - 1`."""
    terms = [(c, "" if abs(c) == 1 else f"{abs(c)}*", name) for name, c in row.coefficients]
    if row.constant or not terms:
        terms.append((row.constant, str(abs(row.constant)), ""))
    text = "".join(f" {'-' if c < 0 else '+'} {factor}{name}" for c, factor, name in terms)
    return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


def check_definition(statement: Statement, tensor: Tensor) -> Iterator[UserError]:
    """Yield an error if an element has no value, or if `=` gives it several.

    With A = { instance -> element } of the statement: { element } \\ ran A is empty, and A is
    injective unless the statement reduces. Exact, by isl.
    """
    if _defines_each_once(statement, tensor):
        return
    import islpy as isl

    name, span = tensor.name, statement.target.span
    try:
        context = _context()
        access = _relation(statement.target.rows, statement, context, conditions=False)
        missing = _elements(tensor, context).subtract(access.range()).lexmin()
        several = statement.op == "=" and not access.is_injective()
    except isl.Error:
        hint = "use simpler indices on the left"
        yield UserError(f"cannot tell whether all of {name} is defined", span, hint)
        return
    if not missing.is_empty():
        hint = _reaches_no_other(statement, tensor, _elements(tensor, context))
        yield UserError(f"{name}{_element(missing)} is not defined", span, hint)
    if several:
        yield _defined_twice(statement)


def _reaches_no_other(statement: Statement, tensor: Tensor, wanted: isl.Set) -> str:
    """Return that a statement reaches no other elements, and how it is written that does."""
    import islpy as isl

    from lairmake.stages.lair.gaps import suggest_cover

    def covers(wider: Statement) -> bool:
        rows = wider.target.rows
        reached = _relation(rows, wider, wanted.get_ctx(), conditions=False).range()
        return wanted.is_subset(reached)

    said = f"the statement defines every element of {tensor.name} that it reaches, and no other"
    try:
        instead = suggest_cover(statement, tensor, covers)
    except isl.Error:
        return said
    return said if instead is None else f"{said}; all are by {instead}"


def _check_conditioned(statement: Statement, layer: Layer) -> Iterator[UserError]:
    """Yield an error if an element that is wanted has no value, or if `=` gives it several.

    A reduction defines all elements that it reaches without its conditions: what nothing is
    reduced to is neutral. Others define what they reach where the conditions hold.
    """
    import islpy as isl

    name, span = statement.target.tensor, statement.target.span
    reduces = statement.op != "="
    try:
        context = _context()
        access = _relation(statement.target.rows, statement, context, conditions=not reduces)
        missing = find_wanted(layer, name, context).subtract(access.range()).lexmin()
        several = not reduces and not access.is_injective()
    except isl.Error:
        hint = "use simpler conditions, or simpler indices on the left"
        yield UserError(f"cannot tell whether all of {name} is defined", span, hint)
        return
    if not missing.is_empty():
        hint = _reaches_no_other(statement, layer.tensors[name], find_wanted(layer, name, context))
        if not reduces:
            hint = "`=` defines elements only where its conditions hold; `+=` gives others 0"
        yield UserError(f"{name}{_element(missing)} is not defined", span, hint)
    if several:
        yield _defined_twice(statement)


def _defined_twice(statement: Statement) -> UserError:
    message = f"several instances define one element of {statement.target.tensor}"
    return UserError(message, statement.target.span, "say how to reduce them: `+=` sums")


def find_wanted(layer: Layer, name: str, context: Any) -> isl.Set:
    """Return { [element] } of a tensor that must have a value.

    These are all, but of what only statements read in this invocation: what they read.
    """
    tensor = layer.tensors[name]
    elements = _elements(tensor, context)
    carried = {carry.source for carry in layer.carries}
    if tensor not in layer.internals or name in carried:
        return elements
    wanted = elements.intersect(elements.complement())
    for statement in layer.statements:
        for access in statement.reads:
            if access.tensor == name:
                read = _relation(access.rows, statement, context, conditions=True)
                wanted = wanted.union(read.range())
    return wanted


def find_idle(statement: Statement, layer: Layer, context: Any = None) -> isl.Set:
    """Return { [iterators] } that stand for wanted elements to which nothing is reduced.

    No condition holds for them. Each such element has one, the first in lexicographic order.
    """
    every = _relation(statement.target.rows, statement, context, conditions=False)
    reached = _relation(statement.target.rows, statement, context, conditions=True).range()
    left = find_wanted(layer, statement.target.tensor, context).subtract(reached)
    return every.intersect_range(left).reverse().lexmin().range().coalesce()


def instance_set(statement: Statement, context: Any = None) -> isl.Set:
    """Return { [iterators] : 0 <= iterator < size and all conditions hold }."""
    return _relation([], statement, context, conditions=True).domain()


def _defines_each_once(statement: Statement, tensor: Tensor) -> bool:
    """Whether the indices are distinct iterators over whole dimensions: nothing to ask of isl.

    An iterator that is no index makes several instances define an element.
    """
    sizes = dict(zip(statement.iterators, statement.sizes, strict=True))
    names = [row.coefficients[0][0] for row in statement.target.rows
             if len(row.coefficients) == 1 and row.coefficients[0][1] == 1 and not row.constant]
    whole = tuple(sizes[name] for name in names) == tensor.shape
    distinct = len(set(names)) == len(names) == len(statement.target.rows)
    reduces = statement.op != "=" or math.prod(statement.sizes) == math.prod(tensor.shape)
    return whole and distinct and reduces


def _context() -> isl.Context:
    import islpy as isl

    context = isl.Context()
    context.set_max_operations(MAX_OPERATIONS)
    return context


def _relation(
    rows: Any, statement: Statement, context: Any, *, conditions: bool
) -> isl.Map:
    """Return { [iterators] -> [rows] }, where the conditions hold if they count."""
    import islpy as isl

    bounds = _ranges(statement) + (spell_conditions(statement.conditions) if conditions else [])
    to = ", ".join(map(row_text, rows))
    names = ", ".join(statement.iterators)
    return isl.Map(f"{{ [{names}] -> [{to}] : {' and '.join(bounds) or 'true'} }}", context=context)


def _elements(tensor: Tensor, context: Any) -> isl.Set:
    import islpy as isl

    names = [f"i{k}" for k in range(len(tensor.shape))]
    inside = [f"0 <= {n} < {s}" for n, s in zip(names, tensor.shape, strict=True)]
    elements = f"{{ [{', '.join(names)}] : {' and '.join(inside) or 'true'} }}"
    return isl.Set(elements, context=context)


def _element(point: isl.Set) -> str:
    """Return `[0][3]` for a set of one element."""
    import islpy as isl

    rank = point.dim(isl.dim_type.set)
    return "".join(f"[{find_least(point, k).to_python()}]" for k in range(rank))
