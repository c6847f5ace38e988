import islpy as isl
import numpy as np
import pytest

from lairmake.stages.poly.arrays import evaluate_pw_aff, evaluate_set

GRID = {"n": np.arange(-9, 10)[:, None], "m": np.arange(-7, 8)[None, :]}

FUNCTIONS = [
    "[n, m] -> { [(3)] }",
    "[n, m] -> { [(2n - 3m + 1)] }",
    "[n, m] -> { [(n // 4)] }",
    "[n, m] -> { [(n mod 3 + 2*((m - n) // 5))] }",
    "[n, m] -> { [((n + m // 2) // 3)] }",
    "[n, m] -> { [(n)] : n > m; [(m - 1)] : n < m and m mod 2 = 0 }",
    "[n, m] -> { [(n // 2)] : (n + m) mod 3 = 1 or n = 5 }",
    "[n] -> { [(n)] : false }",
    "[n, m] -> { [(m)] : 99999999999999999999n + m >= 5 }",
]

SETS = [
    "[n, m] -> { : }",
    "[n, m] -> { : false }",
    "[n, m] -> { : n >= 2m - 3 }",
    "[n, m] -> { : n mod 3 = 1 and m // 2 = n // 3 }",
    "[n, m] -> { : n = 3 or m = 2 or n + m <= -8 }",
    "[n, m] -> { : exists a, b : n = 3a + 5b and 0 <= a <= b and m >= a }",
    "[n] -> { : -2 <= n < 4 }",
    "[n, m] -> { : n = 3 or 99999999999999999999n + m >= 5 or m >= 99999999999999999999 }",
]


def _at(n: int, m: int) -> isl.Set:
    return isl.Set(f"[n, m] -> {{ : n = {n} and m = {m} }}")


def _grid() -> list[tuple[int, int, int, int]]:
    return [
        (row, column, int(n), int(m))
        for row, n in enumerate(GRID["n"][:, 0])
        for column, m in enumerate(GRID["m"][0])
    ]


@pytest.mark.parametrize("text", FUNCTIONS)
def test_function_values_agree_with_isl(text: str) -> None:
    function = isl.PwAff(text)
    values, defined = evaluate_pw_aff(function, GRID)
    graph = isl.Set.from_pw_aff(function)
    assert values.shape == defined.shape == (19, 15)
    assert values.dtype == np.int64
    for row, column, n, m in _grid():
        here = graph.intersect_params(_at(n, m))
        assert defined[row, column] == (not here.is_empty())
        expected = here.dim_min_val(0).to_python() if defined[row, column] else 0
        assert values[row, column] == expected


@pytest.mark.parametrize("text", SETS)
def test_set_membership_agrees_with_isl(text: str) -> None:
    context = isl.Set(text)
    inside = evaluate_set(context, GRID)
    assert inside.shape == (19, 15)
    for row, column, n, m in _grid():
        assert inside[row, column] == (not context.intersect(_at(n, m)).is_empty())


def test_numbers_stand_for_themselves() -> None:
    values, defined = evaluate_pw_aff(isl.PwAff("[n] -> { [(n // 2)] }"), {"n": -3})
    assert (int(values), bool(defined)) == (-2, True)


def test_a_symbolic_constant_without_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="m has no value"):
        evaluate_set(isl.Set("[n, m] -> { : m > n }"), {"n": 3})


def test_a_function_that_is_not_integral_is_an_error() -> None:
    function = isl.PwAff("[n] -> { [(n)] }").scale_down_val(isl.Val(2))
    with pytest.raises(ValueError, match="is not integral"):
        evaluate_pw_aff(function, {"n": np.arange(3)})


def test_a_value_beyond_64_bits_is_an_error() -> None:
    function = isl.PwAff("[n] -> { [(99999999999999999999n)] : n >= 0 }")
    with pytest.raises(ValueError, match="more than 64 bits"):
        evaluate_pw_aff(function, {"n": np.arange(3)})
    values, defined = evaluate_pw_aff(function, {"n": np.arange(-3, 1)})
    assert (values == 0).all() and defined.tolist() == [False, False, False, True]


def test_a_set_with_a_tuple_is_an_error() -> None:
    with pytest.raises(ValueError, match="symbolic constants only"):
        evaluate_set(isl.Set("{ A[i] : i > 0 }"), {})
