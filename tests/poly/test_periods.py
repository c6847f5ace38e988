import islpy as isl
import pytest

from lairmake.stages.poly.compression import find_periods, split
from lairmake.stages.poly.lattices import linear_form

WHOLE = isl.Set("[p] -> { : 0 <= p <= 3 }")


@pytest.mark.parametrize(
    ("access", "periods"),
    [
        ("{ [i] -> T[i//2, i mod 2] : 0 <= i < 8 }", [[2]]),
        ("{ [i, j] -> T[j//3, i, j mod 3] : 0 <= i, j < 6 }", [[], [3]]),
        ("{ [i, j] -> T[2i + j] : 0 <= i, j < 6 }", [[], []]),
    ],
)
def test_periods_are_those_of_divisions_that_a_dimension_is_in(access, periods):
    assert find_periods(isl.Map(access)) == periods


def test_a_dimension_is_taken_apart_into_rows_from_its_least_element():
    change = split([isl.PwAff("[p] -> { [0] }"), isl.PwAff("[p] -> { [(4p)] }")], [None, 3])
    assert change.is_equal(isl.Map("[p] -> { [i, a, c] -> [i, 4p + 3a + c] : 0 <= c <= 2 }"))


def test_condition_4_an_access_by_quotient_and_remainder_is_linear_in_rows():
    access = isl.Map("[p] -> { [i] -> T[(i - 4p)//2, (i - 4p) mod 2] : 4p <= i < 4p + 6 }")
    assert linear_form(access, WHOLE) is None
    rows = split([isl.PwAff("[p] -> { [(4p)] }")], [2])
    form = linear_form(rows.apply_range(access), WHOLE)
    assert form.coefficients == ((1, 0), (0, 1))
