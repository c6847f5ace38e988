"""Instance sets, access relations, single assignment."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.expressions import reach
from lairmake.stages.lair.layer import (
    CarriedTensor,
    Layer,
    Statement,
    Tensor,
    check_ranges,
    spell_conditions,
)
from lairmake.stages.lair.tree import AccessSyntax, Affine
from lairmake.stages.lair.views import find_views
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import find_greatest, find_least
from lairmake.stages.poly.integers import find_pivot_rows, hermite

# --- Instances of an element ----------------------------------------------------------------------

def is_written_once(statement: Statement) -> bool:
    """Say whether no two instances of a statement write the same element, of all in their box."""
    sizes = dict(zip(statement.iterators, statement.sizes, strict=True))
    names, rows = [n for n in statement.iterators if sizes[n] > 1], statement.target.rows
    columns = [[dict(row.coefficients).get(name, 0) for row in rows] for name in names]
    apart = find_pivot_rows(hermite(columns, len(rows))[0]) if rows and names else []
    return len(apart) == len(names)

# --- Elements that a statement does not reach -----------------------------------------------------
#
# A user is told how to write a reduction that reaches them.
#
# Source   ours: a reduction defines what it would reach without its conditions

NEUTRAL = {"=": "0", "+=": "0", "*=": "1", "max=": "the least there is",
           "min=": "the largest there is"}
"""The value of an element to which nothing is reduced; what `=` defines, `+=` does as well."""
FURTHER = "r", "s", "t", "u", "v", "w", "k", "m", "n"

Covers = Callable[[Statement], bool]
"""A test of a statement: would it reach all elements, its conditions left out?"""


def suggest_cover(statement: Statement, tensor: Tensor, covers: Covers) -> str | None:
    """Return the statement that also defines what this one does not reach; None for none known.

    An iterator of it goes further, or it has one more. A condition keeps the further values from
    doing anything.
    """
    for wider, condition in (*_enlarge(statement, tensor), *_insert(statement)):
        if covers(wider):
            neutral = NEUTRAL[statement.op]
            return f"`{spell_wider(statement, wider, [condition])} ...`: an element to which " \
                   f"nothing is reduced is {neutral}"
    return None


def _enlarge(statement: Statement, tensor: Tensor) -> Iterator[tuple[Statement, str]]:
    """Yield the statement with one iterator that goes on to where the next stride, or the tensor,
    ends; and what was its size as a condition."""
    for row, size in zip(statement.target.rows, tensor.shape, strict=True):
        strides = dict(row.coefficients)
        for name, stride in sorted(strides.items(), key=lambda each: abs(each[1])):
            at = statement.iterators.index(name)
            reach = sum(max(0, c * (statement.sizes[statement.iterators.index(n)] - 1))
                        for n, c in row.coefficients) + row.constant
            ends = {-(-abs(other) // abs(stride)) for other in strides.values()}
            ends.add(statement.sizes[at] + -(-(size - 1 - reach) // abs(stride)))
            for end in sorted(end for end in ends if end > statement.sizes[at]):
                sizes = (*statement.sizes[:at], end, *statement.sizes[at + 1 :])
                yield replace(statement, sizes=sizes), f"{name} < {statement.sizes[at]}"


def _insert(statement: Statement) -> Iterator[tuple[Statement, str]]:
    """Yield the statement with one more iterator, between the strides of an index."""
    used = {*statement.iterators, statement.target.tensor, *(a.tensor for a in statement.reads)}
    name = next((each for each in FURTHER if each not in used), None)
    for at, row in enumerate(statement.target.rows):
        gap = math.gcd(*(abs(c) for _, c in row.coefficients))
        if gap > 1 and name is not None:
            dense = Affine(coefficients=(*row.coefficients, (name, 1)), constant=row.constant)
            rows = (*statement.target.rows[:at], dense, *statement.target.rows[at + 1 :])
            target = AccessSyntax(
                tensor=statement.target.tensor, rows=rows, span=statement.target.span
            )
            yield replace(statement, iterators=(*statement.iterators, name),
                          sizes=(*statement.sizes, gap), target=target), f"{name} < 1"


def spell_wider(statement: Statement, wider: Statement, conditions: Sequence[str]) -> str:
    """Return the text of a statement up to its operator, as the user spells what stays.

    It has further iterators, or larger sizes, and further conditions.
    """
    text = statement.span.source.text
    head = text[statement.span.start : statement.target.span.start]
    sizes = _read_sizes(head, len(statement.sizes)) or [str(size) for size in statement.sizes]
    for at, size in enumerate(wider.sizes):
        if at >= len(statement.sizes):
            sizes.append(str(size))
        elif size != statement.sizes[at]:
            sizes[at] = str(size)
    found = [text[each.span.start : each.span.end] for each in statement.conditions]
    target = text[statement.target.span.start : statement.target.span.end]
    if len(wider.iterators) > len(statement.iterators) and wider.target != statement.target:
        target = _insert_name(target, statement, wider)
    op = "+=" if statement.op == "=" else wider.op
    where = " and ".join([*found, *conditions])
    return f"all ({', '.join(wider.iterators)}) in ({', '.join(sizes)}) " \
           f"{f'where {where} ' if where else ''}{target} {op}"


def _read_sizes(head: str, count: int) -> list[str] | None:
    """Return the sizes of a statement as they are spelled; None where that is not plain to see."""
    found = re.search(r"\)\s*in\s*\(([^()]*)\)", head)
    sizes = [each.strip() for each in found[1].split(",")] if found else []
    return sizes if len(sizes) == count else None


def _insert_name(target: str, statement: Statement, wider: Statement) -> str:
    at = next(k for k, (one, other) in enumerate(
        zip(statement.target.rows, wider.target.rows, strict=True)) if one != other)
    parts = target.split("]")
    parts[at] += f" + {wider.iterators[-1]}"
    return "]".join(parts)

# --- Definitions of elements ----------------------------------------------------------------------
#
# Every element that is wanted is defined, and by `=` no element twice.
#
# Source   V Sec. 4.1.1: single assignment; conditions go beyond it

MAX_OPERATIONS = 10_000_000
"""Operations that isl may spend on one statement before it is asked to be simpler: a second."""


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


def check_bounds(access: AccessSyntax, statement: Statement, tensor: Tensor) -> Iterator[UserError]:
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

    All must, except of a tensor that only statements read, in this invocation: of that one, the
    elements that they read.
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

# --- Instance sets and access relations -----------------------------------------------------------
#
# Paper    V Sec. 4.1.1, (25)

def polyhedral_description(layer: Layer) -> dict[str, isl.UnionSet | isl.UnionMap]:
    """Return instances, tensors, reads and writes of a layer; what else there is, if any.

    These are idle, internal, views and carried. Each further access to a tensor is to a view.
    """
    reads = [_access(s, a) for s in layer.statements for a in s.reads]
    writes = [_access(s, s.target) for s in layer.statements]
    found: dict[str, isl.UnionSet | isl.UnionMap] = {
        "instances": isl.UnionSet(_union(_instances(s) for s in layer.statements)),
        "tensors": isl.UnionSet(_union(map(_tensor, layer.tensors.values()))),
        "reads": isl.UnionMap(_union(reads)),
        "writes": isl.UnionMap(_union(writes)),
    }
    views = find_views(layer)
    if views:
        found["views"] = isl.UnionMap(_union(_view(n, t, layer) for n, t in views.items()))
    idle = _idle(layer)
    if not idle.is_empty():
        found["idle"] = idle
    if layer.internals:
        found["internal"] = isl.UnionSet(_union(map(_tensor, layer.internals)))
    if layer.carries:
        found["carried"] = isl.UnionMap(_union(_carried(c, layer) for c in layer.carries))
    return found


def _union(disjuncts: Iterable[str]) -> str:
    return f"{{ {'; '.join(disjuncts)} }}"


def _instances(statement: Statement) -> str:
    bounds = [_bounds(statement.iterators, statement.sizes)]
    bounds += spell_conditions(statement.conditions)
    return f"{statement.name}[{', '.join(statement.iterators)}] : {' and '.join(bounds)}"


def _idle(layer: Layer) -> isl.UnionSet:
    """Return { S[i] } that stand for elements to which nothing is reduced."""
    found = isl.UnionSet("{ }")
    for statement in layer.statements:
        if statement.conditions and statement.op != "=":
            idle = find_idle(statement, layer).set_tuple_name(statement.name)
            found = found.union(isl.UnionSet.from_set(idle))
    return found


def _access(statement: Statement, access: AccessSyntax) -> str:
    rows = ", ".join(map(_affine, access.rows))
    return f"{statement.name}[{', '.join(statement.iterators)}] -> {access.name}[{rows}]"


def _view(name: str, tensor: str, layer: Layer) -> str:
    indices = ", ".join(letters(len(layer.tensors[tensor].shape)))
    return f"{name}[{indices}] -> {tensor}[{indices}]"


def _affine(row: Affine) -> str:
    terms = [f"{coefficient}*{iterator}" for iterator, coefficient in row.coefficients]
    return " + ".join([*terms, str(row.constant)])


def _tensor(tensor: Tensor) -> str:
    names = letters(len(tensor.shape))
    return f"{tensor.name}[{', '.join(names)}] : {_bounds(names, tensor.shape)}"


def _carried(carry: CarriedTensor, layer: Layer) -> str:
    element, _, bounds = _tensor(layer.tensors[carry.tensor]).partition(" : ")
    source = element.replace(carry.tensor, carry.source, 1)
    return f"{element} -> {source} : {bounds}"


def _bounds(names: Sequence[str], sizes: Sequence[int]) -> str:
    return " and ".join(f"0 <= {n} < {s}" for n, s in zip(names, sizes, strict=True)) or "true"
