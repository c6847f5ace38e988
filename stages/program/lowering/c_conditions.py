"""Conditions of loops, branches and leaves in C, and how many operations they take."""

from __future__ import annotations

from collections.abc import Sequence

from stages.program.irg.logic import (
    COMPARES,
    Comparison,
    Condition,
    Joined,
    Known,
    NonZero,
    Not,
    Number,
    Term,
    parse_condition,
)
from stages.program.lowering.c_operations import write_number

Argument = tuple[str, str] | Number
"""An expression in C and its type, or a number."""


def write_condition(text: str, arguments: Sequence[Argument]) -> str:
    """Return a condition of a graph for these arguments. Raises ProgramError."""
    types = tuple(each[1] if isinstance(each, tuple) else "" for each in arguments)
    return _spell(parse_condition(text, types), arguments)


def count_comparisons(text: str, arguments: Sequence[Argument]) -> int:
    """Return how many comparisons a condition takes at most."""
    types = tuple(each[1] if isinstance(each, tuple) else "" for each in arguments)
    return _count(parse_condition(text, types))


def _count(condition: Condition) -> int:
    match condition:
        case Not(part=part):
            return _count(part)
        case Joined(parts=parts):
            return sum(map(_count, parts))
    return 1


def _spell(condition: Condition, arguments: Sequence[Argument]) -> str:
    match condition:
        case Known(holds=holds):
            return "1" if holds else "0"
        case NonZero(argument=at):
            given = arguments[at]
            if not isinstance(given, tuple):
                return str(int(given != 0))
            return f"{_load(*given)} != 0"
        case Not(part=part):
            return f"!({_spell(part, arguments)})"
        case Joined(parts=parts):
            sign = " && " if condition.all else " || "
            return sign.join(f"({_spell(part, arguments)})" for part in parts)
    return _spell_comparison(condition, arguments)


def _spell_comparison(comparison: Comparison, arguments: Sequence[Argument]) -> str:
    if not comparison.type:
        numbers = [_number(each, arguments) for each in (comparison.left, comparison.right)]
        return str(int(COMPARES[comparison.sign](*numbers)))
    left, right = (_side(each, comparison.type, arguments)
                   for each in (comparison.left, comparison.right))
    return f"{left} {comparison.sign} {right}"


def _number(term: Term, arguments: Sequence[Argument]) -> Number:
    at, number = term
    given = number if at is None else arguments[at]
    assert not isinstance(given, tuple), "what has no type is a number"
    return given


def _side(term: Term, type_: str, arguments: Sequence[Argument]) -> str:
    at, number = term
    given = number if at is None else arguments[at]
    return _load(given[0] if isinstance(given, tuple) else write_number(given, type_), type_)


def _load(text: str, type_: str) -> str:
    return f"f32({text})" if type_ == "float16" else text
