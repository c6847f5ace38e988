"""Affine expressions of MLIR as texts of isl, and as coefficients."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

Kind = AffineBinaryOpKind
Constant = AffineConstantExpr


def write_affine(expr: AffineExpr, dims: Sequence[str], symbols: Sequence[str] = ()) -> str:
    """Return an expression as isl reads it, with these texts for dimensions and symbols."""
    match expr:
        case AffineConstantExpr():
            return str(expr.value)
        case AffineDimExpr():
            return dims[expr.position]
        case AffineSymExpr():
            return symbols[expr.position]
    assert isinstance(expr, AffineBinaryOpExpr)
    left, right = (write_affine(each, dims, symbols) for each in (expr.lhs, expr.rhs))
    match expr.kind:
        case Kind.Add:
            return f"({left} + {right})"
        case Kind.Mul:
            factor, term = (left, right) if isinstance(expr.lhs, Constant) else (right, left)
            return f"{factor}*{term}"
        case Kind.Mod:
            return f"(({left}) mod {right})"
        case Kind.FloorDiv:
            return f"floor(({left})/{right})"
        case Kind.CeilDiv:
            return f"floor((({left}) + {right} - 1)/{right})"


def find_fault(expr: AffineExpr) -> str | None:
    """Return what keeps an expression from being affine: a product, or a division by what is no
    positive number; None where nothing does."""
    if not isinstance(expr, AffineBinaryOpExpr):
        return None
    if expr.kind is Kind.Mul and not any(isinstance(e, Constant) for e in (expr.lhs, expr.rhs)):
        return f"{expr} multiplies what are no numbers"
    is_division = expr.kind in (Kind.Mod, Kind.FloorDiv, Kind.CeilDiv)
    if is_division and not (isinstance(expr.rhs, Constant) and expr.rhs.value > 0):
        return f"{expr} divides by no positive number"
    return find_fault(expr.lhs) or find_fault(expr.rhs)


def linear(expr: AffineExpr, dims: int) -> tuple[list[int], int] | None:
    """Return the coefficient of each dimension, and the constant; None if there are divisions."""
    match expr:
        case AffineConstantExpr():
            return [0] * dims, expr.value
        case AffineDimExpr():
            return [int(k == expr.position) for k in range(dims)], 0
        case AffineBinaryOpExpr(kind=Kind.Add | Kind.Mul):
            left, right = linear(expr.lhs, dims), linear(expr.rhs, dims)
            if left is None or right is None:
                return None
            if expr.kind is Kind.Add:
                sums = [a + b for a, b in zip(left[0], right[0], strict=True)]
                return sums, left[1] + right[1]
            if any(left[0]) and any(right[0]):
                return None
            (factors, constant), scale = (left, right[1]) if any(left[0]) else (right, left[1])
            return [scale * factor for factor in factors], scale * constant
    return None
