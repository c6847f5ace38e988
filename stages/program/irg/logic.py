"""Conditions of a graph: `{0} > 100.0 and not {1}`, of comparisons, numbers, and, or, not."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from lairmake.stages.program.values.forms import ProgramError

Number: TypeAlias = int | float
Predicate: TypeAlias = Callable[[Sequence[Any]], Any]
"""Returns what a condition, or a part of it, is for the values of its arguments."""

PLACEHOLDER = re.compile(r"\{(\d{1,4})\}")
LONGEST = 2000
HINT = "conditions have comparisons, `and`, `or`, `not`, numbers, and `{0}` for the first argument"
SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
COMPARES = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}

Term: TypeAlias = tuple[int | None, Number]
"""The number of an argument, or None and a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What holds always, or never."""

    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NonZero:
    """Whether an argument is not zero."""

    argument: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison, `sign`, of two terms in a type; "" where both are numbers."""

    sign: str
    left: Term
    right: Term
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """What holds where another condition does not."""

    part: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Whether all conditions hold, or any."""

    parts: tuple[Condition, ...]
    all: bool


Condition: TypeAlias = Known | NonZero | Comparison | Not | Joined


@lru_cache(maxsize=1024)
def parse_logic(text: str, types: tuple[str, ...]) -> Predicate:
    """Return the condition that a text means, for arguments of these types ("" for a number).

    Numbers are rounded to the type of the argument beside them. Raises ProgramError.
    """
    return _predicate(parse_condition(text, types), types)


def parse_condition(text: str, types: tuple[str, ...]) -> Condition:
    """Return a condition as a tree. Raises ProgramError."""
    if len(text) > LONGEST or "_argument" in text:
        raise ProgramError("a condition that nobody writes", HINT)
    for match in PLACEHOLDER.finditer(text):
        if int(match[1]) >= len(types):
            raise ProgramError(f"{match[0]} of {len(types)} arguments", HINT)
    try:
        tree = ast.parse(PLACEHOLDER.sub(r" _argument\1 ", text).strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProgramError(f"`{text}` is no condition", HINT) from None
    return _read(tree.body, types)


def _read(node: ast.expr, types: tuple[str, ...]) -> Condition:
    """Return a condition; a number that stands alone holds where it is not zero."""
    match node:
        case ast.BoolOp():
            parts = tuple(_read(each, types) for each in node.values)
            return Joined(parts=parts, all=isinstance(node.op, ast.And))
        case ast.UnaryOp(op=ast.Not()):
            return Not(part=_read(node.operand, types))
        case ast.Constant(value=bool() as value):
            return Known(holds=value)
        case ast.Compare():
            return _read_comparison(node, types)
    at, number = _term(node)
    return Known(holds=number != 0) if at is None else NonZero(argument=at)


def _read_comparison(node: ast.Compare, types: tuple[str, ...]) -> Condition:
    terms = [_term(each) for each in (node.left, *node.comparators)]
    if any(type(op) not in SIGNS for op in node.ops):
        raise ProgramError(f"`{ast.unparse(node)}` is no comparison of numbers", HINT)
    found = tuple(
        Comparison(sign=SIGNS[type(op)], left=left, right=right, type=_type(left, right, types))
        for op, left, right in zip(node.ops, terms, terms[1:], strict=False)
    )
    return found[0] if len(found) == 1 else Joined(parts=found, all=True)


def _term(node: ast.expr) -> Term:
    match node:
        case ast.Name(id=name) if name.startswith("_argument"):
            return int(name.removeprefix("_argument")), 0
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return None, value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return None, -value
    raise ProgramError(f"`{ast.unparse(node)}` in a condition", HINT)


def _type(left: Term, right: Term, types: tuple[str, ...]) -> str:
    """Return the type in which terms are compared. Raises ProgramError where they have two."""
    found = {types[at] for at, _ in (left, right) if at is not None and types[at]}
    if len(found) > 1:
        raise ProgramError(f"{' and '.join(sorted(found))} compared: types are not mixed",
                           f'`x.astype("{min(found)}")`')
    return next(iter(found), "")


def _predicate(condition: Condition, types: tuple[str, ...]) -> Predicate:
    match condition:
        case Known(holds=known):
            return lambda values: known
        case NonZero(argument=at):
            return lambda values: values[at] != 0
        case Not():
            inner = _predicate(condition.part, types)
            return lambda values: not inner(values)
        case Joined():
            parts = [_predicate(part, types) for part in condition.parts]
            found = all if condition.all else any
            return lambda values: found(part(values) for part in parts)
    compare = COMPARES[condition.sign]
    left = _side(condition.left, condition.type, types)
    right = _side(condition.right, condition.type, types)
    return lambda values: compare(left(values), right(values))


def _side(term: Term, type_: str, types: tuple[str, ...]) -> Predicate:
    import numpy as np

    at, number = term
    if at is not None and types[at]:
        return lambda values: values[at]
    round_ = np.dtype(type_).type if type_ else lambda value: value
    if at is not None:
        return lambda values: round_(values[at])
    rounded = round_to(number, type_) if type_ else number
    return lambda values: rounded


def round_to(number: Number, type_: str) -> Any:
    """Return a number as one of a type, rounded once. Raises ProgramError where it has none."""
    import numpy as np

    from lairmake.stages.program.values.forms import check_number

    check_number(number, type_)
    with np.errstate(all="ignore"):
        return np.dtype(type_).type(number)
