"""Conditions of a graph: `{0} > 100.0 and not {1}`, of comparisons, numbers, and, or, not."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from stages.program.values.errors import ProgramError

Number: TypeAlias = int | float
Predicate: TypeAlias = Callable[[Sequence[Any]], Any]
"""Returns what a condition, or a part of it, is for the values of its arguments."""

PLACEHOLDER = re.compile(r"\{(\d{1,4})\}")
LONGEST = 2000
HINT = "conditions have comparisons, `and`, `or`, `not`, numbers, and `{0}` for the first argument"
COMPARES = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}


@lru_cache(maxsize=1024)
def parse_logic(text: str, types: tuple[str, ...]) -> Predicate:
    """Return the condition that a text means, for arguments of these types ("" for a number).

    Numbers are rounded to the type of the argument beside them. Raises ProgramError.
    """
    if len(text) > LONGEST or "_argument" in text:
        raise ProgramError("a condition that nobody writes", HINT)
    for match in PLACEHOLDER.finditer(text):
        if int(match[1]) >= len(types):
            raise ProgramError(f"{match[0]} of {len(types)} arguments", HINT)
    try:
        tree = ast.parse(PLACEHOLDER.sub(r" _argument\1 ", text).strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProgramError(f"`{text}` is no condition", HINT) from None
    return _truth(tree.body, types)


def _truth(node: ast.expr, types: tuple[str, ...]) -> Predicate:
    """Return a condition; a number that stands alone holds where it is not zero."""
    match node:
        case ast.BoolOp():
            parts = [_truth(each, types) for each in node.values]
            found = all if isinstance(node.op, ast.And) else any
            return lambda values: found(part(values) for part in parts)
        case ast.UnaryOp(op=ast.Not()):
            inner = _truth(node.operand, types)
            return lambda values: not inner(values)
        case ast.Constant(value=bool() as value):
            return lambda values: value
        case ast.Compare():
            return _comparison(node, types)
    at, number = _term(node, types)
    if at is None:
        return lambda values: number != 0
    return lambda values: values[at] != 0


def _comparison(node: ast.Compare, types: tuple[str, ...]) -> Predicate:
    terms = [_term(each, types) for each in (node.left, *node.comparators)]
    if any(type(op) not in COMPARES for op in node.ops):
        raise ProgramError(f"`{ast.unparse(node)}` is no comparison of numbers", HINT)
    pairs = [
        (COMPARES[type(op)], *_alike(left, right, types))  
        for op, left, right in zip(node.ops, terms, terms[1:], strict=False)
    ]
    return lambda values: all(op(left(values), right(values)) for op, left, right in pairs)


Term: TypeAlias = tuple[int | None, Number]
"""The number of an argument, or None and a number."""


def _term(node: ast.expr, types: tuple[str, ...]) -> Term:
    match node:
        case ast.Name(id=name) if name.startswith("_argument"):
            return int(name.removeprefix("_argument")), 0
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return None, value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return None, -value
    raise ProgramError(f"`{ast.unparse(node)}` in a condition", HINT)


def _alike(left: Term, right: Term, types: tuple[str, ...]) -> tuple[Predicate, Predicate]:
    """Return both sides of a comparison in one type. Raises ProgramError where they have two."""
    found = {types[at] for at, _ in (left, right) if at is not None and types[at]}
    if len(found) > 1:
        raise ProgramError(f"{' and '.join(sorted(found))} compared: types are not mixed",
                           f'`x.astype("{min(found)}")`')
    type_ = next(iter(found), "")
    return _side(left, type_, types), _side(right, type_, types)


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

    from stages.program.values.forms import check_number

    check_number(number, type_)
    with np.errstate(all="ignore"):
        return np.dtype(type_).type(number)
