from fractions import Fraction

import pytest

from lairmake.stages.poly.cardinality import (
    add,
    affine,
    antidifference,
    constant,
    multiply,
    substitute,
    subtract,
)

X, Y = affine((1, 0, 0)), affine((0, 1, 0))


def value(polynomial, x, y):
    return sum((c * x**a * y**b for (a, b), c in polynomial.items()), Fraction(0))


def test_sums_and_products_have_no_terms_that_are_zero():
    assert subtract(multiply(add(X, Y), subtract(X, Y)), multiply(X, X)) == {(0, 2): -1}
    assert subtract(X, X) == {}
    assert constant(0, 2) == {}


def test_affine_forms_take_the_place_of_variables():
    square = multiply(X, X)
    assert substitute(square, ((1, -1, 3), (0, 0, 0)), 2) == multiply(
        affine((1, -1, 3)), affine((1, -1, 3))
    )


@pytest.mark.parametrize("power", range(7))
def test_the_antidifference_sums_powers_by_faulhaber(power):
    term = {(power, 1): Fraction(3)}
    sums = antidifference(term, 0)
    for low, high in ((0, 5), (-4, 7), (2, 2), (-3, -1), (5, 4)):
        total = value(sums, high + 1, 2) - value(sums, low, 2)
        assert total == sum(6 * x**power for x in range(low, high + 1))
