"""Functions and sets of isl, evaluated over NumPy arrays of the values of symbolic constants."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

PARAM, IN, OUT, SET, DIV = (
    isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div,
)



Values = Mapping[str, NDArray[np.int64] | int]
"""For each symbolic constant its values; the arrays broadcast against each other."""

LARGE = 2**31


def evaluate_pw_aff(
    function: isl.PwAff, values: Values
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the function's values, 0 outside its domain, and where its domain is.

    Both arrays have the broadcast shape of `values`. `function` has a domain without tuple.

    Raises ValueError if a symbolic constant has no values, or the function is not integral, or of
    more than 64 bits.
    """
    shape = _shape(values)
    result, defined = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    for domain, expression in function.get_pieces():
        inside = evaluate_set(domain, values)
        numerator, denominator = _affine(expression, values)
        if denominator != 1 and np.any((numerator % denominator != 0) & inside):
            raise ValueError(f"{expression} is not integral")
        try:
            result[inside] = np.broadcast_to(numerator // denominator, shape)[inside]
        except OverflowError:
            raise ValueError(f"{expression} has values of more than 64 bits") from None
        defined |= inside
    return result, defined


def evaluate_set(context: isl.Set, values: Values) -> NDArray[np.bool_]:
    """Return where the values lie in `[names] -> { : ... }`, in their broadcast shape.

    Raises ValueError if the set has a tuple, or a symbolic constant has no values.
    """
    if not context.is_params():
        raise ValueError(f"{context} is not a set of symbolic constants only")
    inside = np.zeros(_shape(values), dtype=np.bool_)
    for conjunction in context.compute_divs().get_basic_sets():
        inside |= _satisfies(conjunction, values)
    return inside


def _shape(values: Values) -> tuple[int, ...]:
    return np.broadcast_shapes(*(np.shape(value) for value in values.values()))


def _satisfies(conjunction: isl.BasicSet, values: Values) -> NDArray[np.bool_]:
    """Return where every constraint of the conjunction holds; it broadcasts as the values do."""
    inside: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    for constraint in conjunction.get_constraints():
        value, _ = _affine(constraint.get_aff(), values)
        here = value == 0 if constraint.is_equality() else value >= 0
        inside[here.shape] = inside.get(here.shape, True) & here
    return functools.reduce(np.logical_and, inside.values(), np.ones((), dtype=np.bool_))


def _affine(
    expression: isl.Aff, values: Values
) -> tuple[NDArray[np.int64], int]:
    """Return numerator (an array or a number) and denominator of the expression's value."""
    denominator = expression.get_denominator_val().to_python()
    result = _make_array(_scaled(expression.get_constant_val(), denominator))
    for kind, position in _terms(expression):
        factor = _scaled(expression.get_coefficient_val(kind, position), denominator)
        if kind == PARAM:
            value = _value(expression.get_dim_name(kind, position), values)
        else:
            top, bottom = _affine(expression.get_div(position), values)
            value = top // bottom
        result = result + _make_array(factor) * value
    return result, denominator


def _make_array(number: int) -> NDArray[Any]:
    return np.asarray(number, dtype=np.int64 if abs(number) < LARGE else object)


def _terms(expression: isl.Aff) -> list[tuple[isl.dim_type, int]]:
    """Return the symbolic constants and integer divisions that occur in the expression."""
    return [
        (kind, position)
        for kind in (PARAM, DIV)
        for position in range(expression.dim(kind))
        if not expression.get_coefficient_val(kind, position).is_zero()
    ]


def _scaled(rational: isl.Val, denominator: int) -> int:
    """Return `rational * denominator`, which is an integer."""
    return rational.mul(isl.Val(denominator)).to_python()


def _value(name: str | None, values: Values) -> NDArray[np.int64]:
    if name is None or name not in values:
        raise ValueError(f"{name} has no value")
    return np.asarray(values[name], dtype=np.int64)
