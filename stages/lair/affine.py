"""Affine expressions: which expressions are, and what they are once sizes are known."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lairmake.stages.lair.tree import Affine, Binary, Expr, Number, Reference, Unary, walk


def find_non_affine(expr: Expr, variables: Collection[str]) -> Expr | None:
    """Return the innermost, leftmost part that keeps an expression from being affine.

    Affine in `variables`; every other name stands for an integer.
    """
    match expr:
        case Number():
            return None if isinstance(expr.value, int) else expr
        case Reference():
            return expr if expr.indices else None
        case Unary():
            return find_non_affine(expr.operand, variables)
        case Binary():
            inner = find_non_affine(expr.left, variables) or find_non_affine(expr.right, variables)
            return inner or (expr if _is_product_of_variables(expr, variables) else None)
    return expr


def _is_product_of_variables(expr: Binary, variables: Collection[str]) -> bool:
    """Whether both factors, or a divisor, hold variables; `/` never gives an affine integer."""
    if expr.op in ("//", "mod"):
        return _mentions(expr.right, variables)
    if expr.op == "*":
        return _mentions(expr.left, variables) and _mentions(expr.right, variables)
    return expr.op == "/"


def _mentions(expr: Expr, variables: Collection[str]) -> bool:
    return any(isinstance(part, Reference) and part.name in variables for part in walk(expr))


def find_affine(expr: Expr, constants: Mapping[str, int]) -> Affine:
    """Return the affine form of an expression that `find_non_affine` found nothing wrong with.

    Names without a constant are iterators, in the order of their first appearance.
    """
    match expr:
        case Number():
            return Affine(coefficients=(), constant=int(expr.value))
        case Reference() if expr.name in constants:
            return Affine(coefficients=(), constant=constants[expr.name])
        case Reference():
            return Affine(coefficients=((expr.name, 1),), constant=0)
        case Unary():
            return _scale(find_affine(expr.operand, constants), -1)
        case Binary():
            left, right = find_affine(expr.left, constants), find_affine(expr.right, constants)
            return _combine(expr.op, left, right)
    raise AssertionError(f"not affine: {expr}")


def _combine(op: str, left: Affine, right: Affine) -> Affine:
    if op == "*":
        factor, other = (right, left) if left.coefficients else (left, right)
        return _scale(other, factor.constant)
    right = _scale(right, -1) if op == "-" else right
    coefficients = dict(left.coefficients)
    for name, coefficient in right.coefficients:
        coefficients[name] = coefficients.get(name, 0) + coefficient
    return _affine(coefficients, left.constant + right.constant)


def _scale(row: Affine, factor: int) -> Affine:
    return _affine({n: c * factor for n, c in row.coefficients}, row.constant * factor)


def _affine(coefficients: Mapping[str, int], constant: int) -> Affine:
    nonzero = tuple((name, c) for name, c in coefficients.items() if c)
    return Affine(coefficients=nonzero, constant=constant)


def reach(row: Affine, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return the smallest and largest value of a row, 0 <= iterator < size."""
    ends = [(c * (sizes[name] - 1)) for name, c in row.coefficients]
    low = row.constant + sum(min(end, 0) for end in ends)
    return low, row.constant + sum(max(end, 0) for end in ends)
