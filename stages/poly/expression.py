"""Expressions as plain trees: numbers, names, and operations on them.

How they are spelled, with which signs and parentheses, the templates of programs say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

INFIX = ("and", "or", "+", "-", "*", "/", "%", "==", "!=", "<=", "<", ">=", ">")
"""Operations of two or more arguments; the others are named by `Operation`."""
AFFINE = ("+", "-", "*", "negative")


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a program."""


@dataclass(frozen=True, slots=True)
class Value(Node):
    """A part of a program that has a value."""


@dataclass(frozen=True, slots=True)
class Number(Value):
    """An integer."""

    value: int


@dataclass(frozen=True, slots=True)
class Name(Value):
    """An iterator, a symbolic constant, or another variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation(Value):
    """An operation of INFIX, `max`, `min`, `floord`, `negative` of one, or `?`: if, then, else."""

    sign: str
    arguments: tuple[Value, ...]


def count_operations(value: Value) -> int:
    """Return how many operations an expression takes; of what is no operation, none."""
    if not isinstance(value, Operation):
        return 0
    between = 1 if value.sign in ("negative", "?") else len(value.arguments) - 1
    return between + sum(map(count_operations, value.arguments))


def is_affine(value: Value) -> bool:
    """Say whether an expression only adds, subtracts and multiplies by numbers."""
    if not isinstance(value, Operation):
        return True
    return value.sign in AFFINE and all(map(is_affine, value.arguments))


def compare(left: Value, sign: str, right: Value | int) -> Value:
    """Return a comparison, with a number or another value."""
    return Operation(sign, (left, Number(right) if isinstance(right, int) else right))


def require_all(tests: Sequence[Value]) -> Value:
    """Return that all tests hold; there is one at least."""
    return tests[0] if len(tests) == 1 else Operation("and", tuple(tests))
