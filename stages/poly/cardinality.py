"""How many elements a set has, exactly, whatever their number.

Source   Clauss, Counting solutions to linear and nonlinear constraints through Ehrhart polynomials,
         ICS 1996; Verdoolaege et al., Counting integer points in parametric polytopes, 2007

Disjoint polytopes are counted one by one. Floors are variables of their own, equalities are solved,
and the remainder of a floor becomes a variable where that is a change of variables: the floors of
tiles are gone then. What no inequality ties together is counted apart and multiplied. Then one
variable after the other is summed over, a polynomial in the others, by cases for which of its
bounds is the largest and which the smallest. Where a bound is a fraction, another variable is split
by its remainder first.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm, prod

import islpy as isl

from lairmake.stages.poly.bind import PARAM
from lairmake.stages.poly.inequalities import (
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
from lairmake.stages.poly.polynomial import (
    Polynomial,
    antidifference,
    constant,
    substitute,
    subtract,
)

MOST_REMAINDERS = 4096
"""A variable is split by its remainder into at most so many."""

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
