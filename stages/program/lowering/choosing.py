"""Conditions of loops, branches and leaves as nodes, and how many operations they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lairmake.stages.pe.nodes import Not
from lairmake.stages.poly.expression import Number, Operation, Value
from lairmake.stages.program.irg import graph
from lairmake.stages.program.irg.graph import (
    COMPARES,
    Comparison,
    Condition,
    Joined,
    Known,
    NonZero,
)
from lairmake.stages.program.lowering.operations import compare, load, make_literal

Argument: TypeAlias = tuple[Value, str] | graph.Number
"""An element and its type, or a number."""


def make_condition(text: str, arguments: Sequence[Argument]) -> tuple[Value, int]:
    """Return a condition of a graph for these arguments, and how many comparisons it takes at most.

    Raises ProgramError.
    """
    types = tuple(each[1] if isinstance(each, tuple) else "" for each in arguments)
    condition = graph.parse_condition(text, types)
    return _make(condition, arguments), _count(condition)


def _count(condition: Condition) -> int:
    match condition:
        case graph.Not(part=part):
            return _count(part)
        case Joined(parts=parts):
            return sum(map(_count, parts))
    return 1


def _make(condition: Condition, arguments: Sequence[Argument]) -> Value:
    match condition:
        case Known(holds=holds):
            return Number(int(holds))
        case NonZero(argument=at):
            given = arguments[at]
            if not isinstance(given, tuple):
                return Number(int(given != 0))
            return Operation("!=", (load(*given), Number(0)))
        case graph.Not(part=part):
            return Not(_make(part, arguments))
        case Joined(parts=parts):
            made = tuple(_make(part, arguments) for part in parts)
            return Operation("and" if condition.all else "or", made)
    return _make_comparison(condition, arguments)


def _make_comparison(comparison: Comparison, arguments: Sequence[Argument]) -> Value:
    terms = [number if at is None else arguments[at]
             for at, number in (comparison.left, comparison.right)]
    numbers = [each for each in terms if not isinstance(each, tuple)]
    if not comparison.type:
        return Number(int(COMPARES[comparison.sign](*numbers)))
    left, right = (_load(each, comparison.type) for each in terms)
    return compare(comparison.sign, left, right, comparison.type)


def _load(term: Argument, type_: str) -> Value:
    return load(term[0] if isinstance(term, tuple) else make_literal(term, type_), type_)
