"""Check the rules of LAIR that depend on sizes: bounds, single assignment, types.

Source   V Sec. 4.1.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.defining import check_defined
from lairmake.stages.lair.expressions import EXACT_FUNCTIONS
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import Binary, Call, Expr, Number, Unary, walk
from lairmake.stages.machine.types import find_largest_integer, is_integer

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
    yield from check_defined(layer)


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
