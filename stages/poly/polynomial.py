"""Polynomials in several variables with exact coefficients, and their sums along one variable.

Source   Faulhaber's formula, as in Clauss, Counting solutions to linear and nonlinear constraints
         through Ehrhart polynomials, ICS 1996

The sum of n^k over n = 0, ..., x - 1 is a polynomial in x of degree k + 1, with the numbers of
Bernoulli as coefficients. It holds for negative x too, so that the sum over low <= n <= high is the
difference of its values at high + 1 and low wherever low <= high + 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb
from typing import TypeAlias

Polynomial: TypeAlias = Mapping[tuple[int, ...], Fraction]
"""The coefficient of each product of powers, by the exponents of the variables."""


def constant(value: int | Fraction, width: int) -> Polynomial:
    """Return a constant in `width` variables."""
    return {(0,) * width: Fraction(value)} if value else {}


def affine(row: Sequence[int]) -> Polynomial:
    """Return `row[0] x0 + row[1] x1 + ... + row[-1]`; the last entry is the constant."""
    width = len(row) - 1
    terms = {_power(width, k, 1): Fraction(a) for k, a in enumerate(row[:-1]) if a}
    return {**constant(row[-1], width), **terms}


def add(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the sum of two polynomials."""
    found = dict(left)
    for exponents, value in right.items():
        found[exponents] = found.get(exponents, Fraction(0)) + value
    return {exponents: value for exponents, value in found.items() if value}


def subtract(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the difference of two polynomials."""
    return add(left, {exponents: -value for exponents, value in right.items()})


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    found: dict[tuple[int, ...], Fraction] = {}
    for one, a in left.items():
        for other, b in right.items():
            both = tuple(map(sum, zip(one, other, strict=True)))
            found[both] = found.get(both, Fraction(0)) + a * b
    return {exponents: value for exponents, value in found.items() if value}


def substitute(polynomial: Polynomial, forms: Sequence[Sequence[int]], width: int) -> Polynomial:
    """Return a polynomial with an affine form in `width` variables for each of its variables."""
    powers = [[constant(1, width)] for _ in forms]
    found: Polynomial = {}
    for exponents, value in polynomial.items():
        term = constant(value, width)
        for known, form, exponent in zip(powers, forms, exponents, strict=True):
            while len(known) <= exponent:
                known.append(multiply(known[-1], affine(form)))
            term = multiply(term, known[exponent])
        found = add(found, term)
    return found


def antidifference(polynomial: Polynomial, position: int) -> Polynomial:
    """Return F such that F(x + 1) - F(x) is the polynomial, for the variable x at `position`."""
    found: Polynomial = {}
    for exponents, value in polynomial.items():
        outer, inner = exponents[:position], exponents[position + 1 :]
        sums = _sum_of_powers(exponents[position])
        found = add(
            found, {(*outer, k, *inner): value * a for k, a in enumerate(sums) if a}
        )
    return found


@cache
def _sum_of_powers(power: int) -> tuple[Fraction, ...]:
    """Return the coefficients of the sum of n^power over n = 0, ..., x - 1, that of x^0 first."""
    bernoulli = [_bernoulli(k) for k in range(power + 1)]
    by_power = [Fraction(comb(power + 1, k)) * bernoulli[k] / (power + 1) for k in range(power + 1)]
    return (Fraction(0), *reversed(by_power))


@cache
def _bernoulli(number: int) -> Fraction:
    earlier = sum((comb(number + 1, k) * _bernoulli(k) for k in range(number)), Fraction(0))
    return Fraction(1) if number == 0 else -earlier / (number + 1)


def _power(width: int, position: int, exponent: int) -> tuple[int, ...]:
    return (0,) * position + (exponent,) + (0,) * (width - position - 1)
