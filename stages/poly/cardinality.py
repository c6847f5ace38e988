"""Cardinality: the number of elements of a set, by sums of polynomials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import comb, gcd, lcm, prod
from typing import TypeAlias

import islpy as isl

from lairmake.stages.poly.box import bounding_box, find_shape
from lairmake.stages.poly.functions import greatest_value, least
from lairmake.stages.poly.integers import (
    Row,
    Rows,
    along,
    change_variables,
    identity,
    list_rows,
    parts,
    shorten,
    simplify,
)
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

PARAM = isl.dim_type.param

# --- Polynomials with exact coefficients, and their sums ------------------------------------------
#
# Source   Faulhaber's formula, as in Clauss, Counting solutions to linear and nonlinear constraints
#          through Ehrhart polynomials, ICS 1996
#
# The sum of n^k over n = 0, ..., x - 1 is a polynomial in x of degree k + 1, with the numbers of
# Bernoulli as coefficients. It holds for negative x too, so that the sum over low <= n <= high is
# the difference of its values at high + 1 and low wherever low <= high + 1.

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

# --- Exact number of elements ---------------------------------------------------------------------
#
# Source   Clauss, Counting solutions to linear and nonlinear constraints through Ehrhart
#          polynomials, ICS 1996; Verdoolaege et al., Counting integer points in parametric
#          polytopes, 2007
#
# Disjoint polytopes are counted one by one. Floors are variables of their own, equalities are
# solved, and the remainder of a floor becomes a variable where that is a change of variables: the
# floors of tiles are gone then. What no inequality ties together is counted apart and multiplied.
# Then one variable after the other is summed over, a polynomial in the others, by cases for which
# of its bounds is the largest and which the smallest. Where a bound is a fraction, another variable
# is split by its remainder first.

MOST_REMAINDERS = 4096
"""The most remainders by which a variable is split."""

UNBOUNDED = "an unbounded set has no number of elements"


def cardinality(elements: isl.Set) -> int:
    """Return the number of elements `[p] -> { [x] }`, as pairs (p, x).

    Raises ValueError if there is none, or if it cannot be found in reasonable time.
    """
    disjoint = bind_constants(elements).make_disjoint().compute_divs()
    return sum(map(_of_polytope, disjoint.get_basic_sets()))


def bind_constants(elements: isl.Set) -> isl.Set:
    """Return { [p, x] } of `[p] -> { [x] }`."""
    anonymous = isl.Set.from_params(elements) if elements.is_params() else elements.flatten()
    return anonymous.move_dims(isl.dim_type.set, 0, PARAM, 0, anonymous.dim(PARAM))


def _of_polytope(elements: isl.BasicSet) -> int:
    """Return the number of elements of a set without disjunction."""
    equalities, inequalities, width = list_rows(elements)
    found = _sum(equalities, inequalities, constant(1, width), width)
    assert found.denominator == 1
    return int(found)


def _sum(equalities: Rows, inequalities: Rows, weight: Polynomial, width: int) -> Fraction:
    """Return the sum of a polynomial over the integer solutions."""
    simple = simplify(equalities, inequalities, width)
    if simple is None:
        return Fraction(0)
    equalities, rows = simple
    forms = along(equalities, width) if equalities else shorten(rows, width)
    if forms is not None:
        return _sum_changed(rows, forms, weight)
    if equalities:
        return Fraction(0)
    if set(weight) <= {(0,) * width}:
        factor = sum(weight.values(), Fraction(0))
        return factor * prod(map(_number_of_solutions, parts(rows, width)))
    return _sum_along(rows, weight, width)


def _sum_changed(rows: Rows, forms: Rows, weight: Polynomial) -> Fraction:
    """Return the sum after a change of variables."""
    width = len(forms[0]) - 1
    return _sum((), change_variables(rows, forms, width), substitute(weight, forms, width), width)


@lru_cache(maxsize=4096)
def _number_of_solutions(rows: Rows) -> Fraction:
    """Return the number of integer solutions of rows that are simple and tied to each other."""
    if not rows:
        raise ValueError(UNBOUNDED)
    width = len(rows[0]) - 1
    return _sum_along(rows, constant(1, width), width)


def _sum_along(rows: Rows, weight: Polynomial, width: int) -> Fraction:
    """Return the sum over the variable that needs the fewest cases, or split one for it."""
    if width == 0:
        return sum(weight.values(), Fraction(0))
    position = min(range(width), key=lambda k: _cases(rows, k))
    remainders = _remainders(rows, position)
    if remainders:
        return _sum_split(rows, weight, width, remainders)
    low = [row for row in rows if row[position] > 0]
    high = [row for row in rows if row[position] < 0]
    rest = [row for row in rows if row[position] == 0]
    if not (low and high):
        raise ValueError(UNBOUNDED)
    sums = antidifference(weight, position)
    return sum(
        (
            _sum_between(sums, low, high, (a, b), rest, position)
            for a in range(len(low))
            for b in range(len(high))
        ),
        Fraction(0),
    )


def _cases(rows: Rows, position: int) -> tuple[int, int]:
    """Return in how many cases the sum over a variable falls, and how many rows bound it."""
    low = sum(row[position] > 0 for row in rows)
    high = sum(row[position] < 0 for row in rows)
    return low * high * prod(_remainders(rows, position).values()), low + high


def _remainders(rows: Rows, position: int) -> dict[int, int]:
    """Return the variables to split, and by which divisor, until all bounds of one are integers."""
    found: dict[int, int] = {}
    for row in rows:
        factor = abs(row[position])
        for k, a in enumerate(row[:-1]):
            if k != position and factor > 1 and a % factor:
                found[k] = lcm(found.get(k, 1), factor // gcd(factor, a))
    return found


def _sum_split(
    rows: Rows, weight: Polynomial, width: int, remainders: dict[int, int]
) -> Fraction:
    """Return the sum, one variable split by its remainder."""
    position = min(remainders, key=lambda k: (remainders[k], k))
    divisor = remainders[position]
    if divisor > MOST_REMAINDERS:
        raise ValueError(f"counting needs {divisor} cases, more than {MOST_REMAINDERS}")
    forms = identity(width)
    total = Fraction(0)
    for remainder in range(divisor):
        forms[position] = [divisor * int(k == position) for k in range(width)] + [remainder]
        total += _sum_changed(rows, tuple(map(tuple, forms)), weight)
    return total


def _sum_between(
    sums: Polynomial, low: list[Row], high: list[Row], chosen: tuple[int, int], rest: list[Row],
    position: int,
) -> Fraction:
    """Return the sum where the chosen lower bound is the largest, the upper one the smallest.

    `sums` is the antidifference of the polynomial. Of equal bounds the first one is chosen.
    """
    least, most = ([_bound(row, position) for row in rows] for rows in (low, high))
    a, b = chosen
    rows = [_without(row, position) for row in rest]
    rows += [_minus(least[a], other, k < a) for k, other in enumerate(least) if k != a]
    rows += [_minus(other, most[b], k < b) for k, other in enumerate(most) if k != b]
    rows.append(_minus(most[b], least[a], False))
    weight = subtract(_at(sums, most[b], 1, position), _at(sums, least[a], 0, position))
    return _sum((), tuple(rows), weight, len(least[a]) - 1)


def _bound(row: Row, position: int) -> Row:
    """Return the bound that a row sets to a variable whose coefficient is 1 or -1."""
    return tuple(-row[position] * a for a in _without(row, position))


def _without(row: Row, position: int) -> Row:
    return row[:position] + row[position + 1 :]


def _minus(left: Row, right: Row, is_strict: bool) -> Row:
    """Return the row `left >= right`, or `left > right`."""
    *found, last = (a - b for a, b in zip(left, right, strict=True))
    return (*found, last - int(is_strict))


def _at(sums: Polynomial, bound: Row, more: int, position: int) -> Polynomial:
    """Return a polynomial where the variable at a position is a bound, or one more."""
    width = len(bound) - 1
    forms = identity(width)
    forms.insert(position, [*bound[:-1], bound[-1] + more])
    return substitute(sums, forms, width)

# --- Number of elements, or a bound ---------------------------------------------------------------

MOST_OPERATIONS = 2_000_000
"""Operations that isl may spend on an exact count: half a second."""


def count(elements: isl.Set) -> int:
    """Return the number of `[p] -> { [x] }`'s pairs (p, x), or a bound where counting takes long.

    The bound is the number of elements of the box around them. Raises ValueError if there is none.
    """
    try:
        with limit_operations(MOST_OPERATIONS):
            return cardinality(elements)
    except (TooManyOperations, ValueError):
        return prod(high - low + 1 for low, high in bounding_box(bind_constants(elements)))


def bound_points(elements: isl.Set) -> int:
    """Return a bound on the size of [p] -> { [x] } for any p: the product of its extents."""
    extents = []
    for k in range(elements.dim(isl.dim_type.set)):
        spread = greatest_value(elements.dim_max(k).sub(elements.dim_min(k)).floor())
        extents.append(spread.to_python() + 1)
    return prod(extents)

# --- Most elements of a point in a relation -------------------------------------------------------

MOST_FOR_COUNT = 2_000_000
"""Operations that isl may spend on counting the elements."""


def count_most(relation: isl.Map) -> int:
    """Return a bound on the elements that one point p has in { [p] -> T[e] }.

    It is the number of { e - first(p) }, of all points together: the exact one where all points are
    alike. Where isl needs long, or that is no less, it is the size of the largest box around the
    elements of one point.
    """
    box = prod(find_shape(relation.reverse().apply_range(relation).deltas()))
    try:
        with limit_operations(MOST_FOR_COUNT):
            every = least(relation).range_product(relation).range().unwrap().deltas()
            return min(box, cardinality(every))
    except (TooManyOperations, ArithmeticError, ValueError):
        return box
