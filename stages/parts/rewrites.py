"""Rewrites of expressions and loops: folded constants, and split loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import islpy as isl
import numpy as np

from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import (
    AccessSyntax,
    Binary,
    CallSyntax,
    Expr,
    NumberSyntax,
    ReferenceSyntax,
    Unary,
    walk,
)
from lairmake.stages.machine.types import is_integer
from lairmake.stages.poly.functions import find_function_in, find_greatest
from lairmake.stages.reference.evaluate import value as evaluate
from lairmake.stages.reference.strided import Array
from lairmake.stages.volumes.operation import VolumeOperation

IN, OUT, SET, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div

# --- Folded constants -----------------------------------------------------------------------------
#
# Differs  zero times anything is zero, and so are sums without terms: a constant is a fact, and
#          what it makes superfluous is left out, infinities and all that is no number included. So
#          is what is added to an infinity.

def fold(expr: Expr, known: Mapping[str, float], whole: str) -> Expr:
    """Return an expression with the values of known operands put in, and folded.

    Operations on integers wrap to the type `whole`.
    """
    match expr:
        case AccessSyntax():
            found = known.get(expr.tensor)
            return expr if found is None else NumberSyntax(value=found, span=expr.span)
        case ReferenceSyntax() | NumberSyntax():
            return expr
        case Unary():
            return _known(replace(expr, operand=fold(expr.operand, known, whole)), whole)
        case CallSyntax():
            arguments = tuple(fold(each, known, whole) for each in expr.arguments)
            return _extreme(_known(replace(expr, arguments=arguments), whole))
        case Binary():
            left, right = (fold(each, known, whole) for each in (expr.left, expr.right))
            return _simple(_known(replace(expr, left=left, right=right), whole))


def _known(expr: Unary | CallSyntax | Binary, whole: str) -> Expr:
    """Return the number of an expression of numbers; other expressions as they are."""
    match expr:
        case Unary():
            parts: tuple[Expr, ...] = (expr.operand,)
        case CallSyntax():
            parts = expr.arguments
        case Binary():
            parts = (expr.left, expr.right)
    if not all(isinstance(part, NumberSyntax) for part in parts):
        return expr
    return NumberSyntax(value=evaluate(expr, _no_read, whole).item(), span=expr.span)


def _no_read(access: AccessSyntax) -> Array:
    raise AssertionError(f"{access.tensor} is no number")


def _simple(expr: Expr) -> Expr:
    """Return x for x + 0, x - 0, x * 1 and x / 1, 0 for x * 0, and an infinity for x + or - it."""
    if not isinstance(expr, Binary):
        return expr
    if expr.op in "+-" and (value := _infinity(expr)):
        return NumberSyntax(value=value, span=expr.span)
    neutral = 0 if expr.op in "+-" else 1
    if is_number(expr.right, neutral):
        return expr.left
    if is_number(expr.left, neutral) and expr.op in "+*":
        return expr.right
    zero = next((each for each in (expr.left, expr.right) if is_number(each, 0)), None)
    return zero if expr.op == "*" and zero is not None else expr


def _infinity(expr: Binary) -> float:
    """Return the infinity of a sum or difference with an infinite operand, else 0."""
    sign = 1 if expr.op == "+" else -1
    for each, factor in ((expr.left, 1), (expr.right, sign)):
        if isinstance(each, NumberSyntax) and math.isinf(each.value):
            return factor * each.value
    return 0


def _extreme(expr: Expr) -> Expr:
    """Return x for max(x, -inf) and min(x, inf)."""
    if not isinstance(expr, CallSyntax) or expr.function not in ("max", "min"):
        return expr
    neutral = NEUTRAL[f"{expr.function}="]
    kept = [each for each in expr.arguments if not is_number(each, neutral)]
    return kept[0] if len(kept) == 1 else expr


def list_numbers(expr: Expr) -> Iterator[float]:
    """Yield the numbers in an expression."""
    return (each.value for each in walk(expr) if isinstance(each, NumberSyntax))


def is_number(expr: Expr, value: float) -> bool:
    """Return whether an expression is a number."""
    return isinstance(expr, NumberSyntax) and expr.value == value


def repeat(operator: str, value: float, times: int) -> float:
    """Return the reduction of `times` equal values."""
    return {"+=": value * times, "*=": value**times}.get(operator, value)


def in_type(value: float, type_: str) -> float:
    """Return a value rounded to a type; integers wrap."""
    if not is_integer(type_):
        with np.errstate(over="ignore"):
            return float(np.asarray(value).astype(type_))
    half = 2 ** (np.iinfo(type_).bits - 1)
    return int((int(value) + half) % (2 * half) - half)


def combine(operator: str, values: list[float]) -> float:
    """Return the reduction of numbers."""
    found = NEUTRAL.get(operator, 0)
    for value in values:
        found = {
            "+=": found + value, "*=": found * value,
            "max=": max(found, value), "min=": min(found, value),
        }.get(operator, value)
    return found

# --- Split loops with affine accesses -------------------------------------------------------------
#
# Where instances d read x[floor(d/4), d mod 4], as of an operand with collapsed dimensions,
# instances of two loops, d = 4a + b with 0 <= b < 4, read x[a, b].

def split_loops(
    operation: VolumeOperation, ends: Callable[[isl.Map], Iterable[isl.Map]]
) -> VolumeOperation:
    """Return a computation with more loops and fewer quotients in its reads, if there is one.

    `ends` returns the reads behind a read, through copies. Ensures the same values in the same
    elements: instances are renamed one to one, and their set is still a box from zero.
    """
    found, count = operation, _count(operation, ends)
    while count:
        better = next(
            ((other, left) for by, dim in sorted(set(_quotients(found, ends)))
             if (other := _split(found, dim, by)) and (left := _count(other, ends)) < count),
            None,
        )
        if better is None:
            break
        found, count = better
    return found


def _split(operation: VolumeOperation, dim: int, by: int) -> VolumeOperation | None:
    """Return an operation with two loops, a and b, for d = by a + b with 0 <= b < by.

    Returns None if the size of d is no multiple of `by`.
    """
    assert operation.loops is not None
    if (find_greatest(operation.loops, dim).to_python() + 1) % by:
        return None
    count = operation.loops.dim(SET)
    names = [f"d{k}" for k in range(count)]
    new = [*names[:dim], "a", "b", *names[dim + 1:]]
    old = [*names[:dim], f"{by}*a + b", *names[dim + 1:]]
    own = operation.loops.get_tuple_name() or ""
    rename = isl.Map(
        f"{{ {own}[{', '.join(new)}] -> {own}[{', '.join(old)}] : 0 <= b < {by} }}"
    ).intersect_range(operation.loops)
    return replace(
        operation, loops=_plain(rename.domain()),
        reads={label: rename.apply_range(each) for label, each in operation.reads.items()},
        results=tuple(
            replace(each, writes=rename.apply_range(each.writes)) for each in operation.results
        ),
    )


def _plain(loops: isl.Set) -> isl.Set:
    """Return a set without redundant constraints, as a = floor(d/4) in a box."""
    return loops.coalesce().detect_equalities().remove_redundancies().coalesce()


def _quotients(
    operation: VolumeOperation, ends: Callable[[isl.Map], Iterable[isl.Map]]
) -> Iterator[tuple[int, int]]:
    """Yield divisor and loop of every quotient of a single loop in the reads."""
    for div in _divs(operation, ends):
        loops, nested = (_used(div, kind) for kind in (IN, DIV))
        if len(loops) == 1 and not nested:
            yield div.get_denominator_val().to_python(), loops[0]


def _used(div: isl.Aff, kind: isl.dim_type) -> list[int]:
    """Return the dimensions of a kind that a function depends on."""
    return [k for k in range(div.dim(kind)) if not div.get_coefficient_val(kind, k).is_zero()]


def _count(operation: VolumeOperation, ends: Callable[[isl.Map], Iterable[isl.Map]]) -> int:
    return sum(1 for _ in _divs(operation, ends))


def _divs(
    operation: VolumeOperation, ends: Callable[[isl.Map], Iterable[isl.Map]]
) -> Iterator[isl.Aff]:
    """Yield the quotients in the reads, each as often as it occurs."""
    assert operation.loops is not None
    for read in operation.reads.values():
        for end in ends(read.intersect_domain(operation.loops)):
            function = find_function_in(end)
            for k in range(function.dim(OUT)):
                for _, aff in function.get_at(k).get_pieces():
                    yield from (aff.get_div(n) for n in range(aff.dim(DIV)))
