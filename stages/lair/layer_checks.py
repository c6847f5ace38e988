"""Check the rules of LAIR that depend on sizes: bounds, single assignment, types.

Source   V Sec. 4.1.1
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stages.diagnose import UserError
from stages.lair.affine import reach
from stages.lair.expressions import EXACT_FUNCTIONS
from stages.lair.layer import Layer, Statement, Tensor
from stages.lair.tree import Access, Affine, Binary, Call, Expr, Number, Unary, walk
from stages.machine.types import find_largest_integer, is_integer

if TYPE_CHECKING:
    import islpy as isl

MAX_OPERATIONS = 10_000_000
"""What isl may spend on one statement before it is asked to be simpler; about a second."""

DERIVED = (
    *("north", "west", "south", "east", "source", "even", "odd"),
    *("taken", "adapters", "ports", "chain", "first", "last", "known", "access", "compression"),
    *("offset", "hull", "extra", "reads", "writes", "outside", "conflict", "vector"),
    *("minimum", "maximum", "sizes", "identifiers", "packed", "count", "collected"),
)
"""What stages append to the name of a tensor, as `x_taken` in routes.isl."""

STREAM = (
    r"(?:(?:north|west|south|east)(?:_|$))?"
    r"(?:part\d+$|stream\d+(?:_|$)|along\d*(?:_out|_reach)?(?:_|$))?"
)
"""What comes before that, if a tensor has several streams: `x_north_stream0_taken`."""


def check_layer(layer: Layer) -> Iterator[UserError]:
    """Yield everything that is wrong in a layer whose sizes are known."""
    yield from _check_derived(layer)
    yield from _check_distinct(layer)
    for statement in layer.statements:
        yield from _check_name(statement, layer)
        yield from check_types(statement, layer)
        outside = [e for a in (statement.target, *statement.reads) for e in
                   check_bounds(a, statement, layer.tensors[a.tensor])]
        yield from outside
        if not outside:
            yield from check_definition(statement, layer.tensors[statement.target.tensor])


def _check_derived(layer: Layer) -> Iterator[UserError]:
    """Yield an error for every tensor named as the compiler names what it makes of another."""
    made = "|".join([*DERIVED, *(re.escape(statement.name) for statement in layer.statements)])
    derived = re.compile(rf"{STREAM}(?:{made})?")
    for name in layer.tensors:
        for clash in layer.tensors.values():
            rest = clash.name.removeprefix(f"{name}_")
            if rest and rest != clash.name and derived.fullmatch(rest):
                message = f"{clash.name} is also what the compiler calls a part of {name}"
                yield UserError(message, clash.span, "rename one of them")


def _check_distinct(layer: Layer) -> Iterator[UserError]:
    """Yield an error for every statement that is called like one before it."""
    names = [statement.name for statement in layer.statements]
    for k, statement in enumerate(layer.statements):
        if statement.name in names[:k]:
            message, hint = f"two statements are called {statement.name}", "rename a node"
            yield UserError(message, statement.span, hint)


def _check_name(statement: Statement, layer: Layer) -> Iterator[UserError]:
    if statement.name in layer.tensors:
        tensor = layer.tensors[statement.name]
        message = f"{statement.name} is the name of a tensor and of a statement"
        yield UserError(message, tensor.span, "rename the tensor or the node")


def check_bounds(access: Access, statement: Statement, tensor: Tensor) -> Iterator[UserError]:
    """Yield an error for every index that leaves its tensor."""
    sizes = dict(zip(statement.iterators, statement.sizes, strict=True))
    for k, (row, size) in enumerate(zip(access.rows, tensor.shape, strict=True)):
        low, high = reach(row, sizes)
        if low < 0 or high >= size:
            reached = low if low < 0 else high
            text = f"{row_text(row)} reaches {reached}"
            message = f"access to {access.tensor} is out of bounds: {text}"
            hint = f"index {k} of {access.tensor} goes from 0 to {size - 1}"
            yield UserError(message, access.span, hint)


def row_text(row: Affine) -> str:
    """Return the text of an affine row, `2*w + rw - 1`."""
    terms = [(c, "" if abs(c) == 1 else f"{abs(c)}*", name) for name, c in row.coefficients]
    if row.constant or not terms:
        terms.append((row.constant, str(abs(row.constant)), ""))
    text = "".join(f" {'-' if c < 0 else '+'} {factor}{name}" for c, factor, name in terms)
    return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


def check_types(statement: Statement, layer: Layer) -> Iterator[UserError]:
    """Yield an error where integers and floats mix, or where an operation has no integer value."""
    target = layer.tensors[statement.target.tensor].type
    for read in statement.reads:
        type_ = layer.tensors[read.tensor].type
        if is_integer(type_) != is_integer(target):
            message = f"{read.tensor} is {type_}, but {statement.target.tensor} is {target}"
            hint = "the tensors of a statement are all floats or all integers"
            yield UserError(message, read.span, hint)
    if is_integer(target):
        yield from _check_selected(statement, layer)
        parts = list(walk(statement.expr))
        negated = {id(part.operand) for part in parts if isinstance(part, Unary)}
        for part in parts:
            most = find_largest_integer(target) + (id(part) in negated)
            yield from _check_integer(part, target, most)


def _check_selected(statement: Statement, layer: Layer) -> Iterator[UserError]:
    """Yield an error where max= or min= would compare with what wrapped to a narrower type."""
    target = layer.tensors[statement.target.tensor]
    wider = [read for read in statement.reads if layer.tensors[read.tensor].type == "int32"]
    if statement.op in ("max=", "min=") and target.type == "int16" and wider:
        message = f"{wider[0].tensor} is int32, but {statement.op} keeps {target.name} in int16"
        hint = f"let {target.name} be int32, and another statement make it int16"
        yield UserError(message, wider[0].span, hint)


def _check_integer(part: Expr, target: str, most: int) -> Iterator[UserError]:
    """Yield an error for each number that is no integer of a type; `most` is the largest literal.

    That is one more behind a minus: -32768 is an int16.
    """
    hint = f"the statement defines a tensor of {target}"
    match part:
        case Binary(op="/"):
            yield UserError("a quotient is no integer", part.span, hint)
        case Call() if part.function not in EXACT_FUNCTIONS:
            yield UserError(f"{part.function} is no integer", part.span, hint)
        case Number() if not isinstance(part.value, int) or part.value > most:
            yield UserError(f"{part.value} is no {target}", part.span, hint)


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
        access, elements = _target_relation(statement, tensor, isl.Context())
        missing = elements.subtract(access.range()).lexmin()
        several = statement.op == "=" and not access.is_injective()
    except isl.Error:
        hint = "use simpler indices on the left"
        yield UserError(f"cannot tell whether all of {name} is defined", span, hint)
        return
    if not missing.is_empty():
        hint = f"the statement defines every element of {name} that it reaches, and no other"
        yield UserError(f"{name}{_element(missing)} is not defined", span, hint)
    if several:
        message = f"several instances define one element of {name}"
        yield UserError(message, span, "say how to reduce them: `+=` sums")


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


def _target_relation(
    statement: Statement, tensor: Tensor, context: Any
) -> tuple[isl.Map, isl.Set]:
    """Return { [iterators] -> [element] } of the target, and { [element] } of the tensor."""
    import islpy as isl

    context.set_max_operations(MAX_OPERATIONS)
    rows = ", ".join(map(row_text, statement.target.rows))
    bounds = [f"0 <= {n} < {s}" for n, s in zip(statement.iterators, statement.sizes, strict=True)]
    relation = f"{{ [{', '.join(statement.iterators)}] -> [{rows}] : {' and '.join(bounds)} }}"
    names = [f"i{k}" for k in range(len(tensor.shape))]
    inside = [f"0 <= {n} < {s}" for n, s in zip(names, tensor.shape, strict=True)]
    elements = f"{{ [{', '.join(names)}] : {' and '.join(inside) or 'true'} }}"
    return isl.Map(relation, context=context), isl.Set(elements, context=context)


def _element(point: isl.Set) -> str:
    """Return `[0][3]` for a set of one element."""
    import islpy as isl

    rank = point.dim(isl.dim_type.set)
    return "".join(f"[{point.dim_min_val(k).to_python()}]" for k in range(rank))
