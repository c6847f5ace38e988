import islpy as isl
import pytest
from hypothesis import given, strategies as st

from lairmake.stages.poly.lattices import LinearForm, linear_form

ANY = isl.Set("{ : }")


def _texts(form: LinearForm | None) -> tuple[list[list[int]], list[str]] | None:
    if form is None:
        return None
    return [list(row) for row in form.coefficients], [str(value) for value in form.constant]


@pytest.mark.parametrize(
    ("access", "coefficients", "constants"),
    [
        (
            "[n] -> { [i, j] -> y[i + j + 3n, 5 - 2j] : 0 <= i < 9 and 0 <= j < 4 }",
            [[1, 1], [0, -2]],
            ["[n] -> { [(3n)] }", "[n] -> { [(5)] }"],
        ),
        (
            "[P] -> { [i] -> [i mod 8] : 8P <= i < 8P + 8 }",
            [[1]],
            ["[P] -> { [(-8P)] }"],
        ),
        (
            "[n] -> { [i] -> [i + n] : n > 3 and 0 <= i < 8; "
            "[i] -> [i - n] : n <= 3 and 0 <= i < 8 }",
            [[1]],
            ["[n] -> { [(-n)] : n <= 3; [(n)] : n >= 4 }"],
        ),
        (
            "[n] -> { [i, j] -> [i + j] : 0 <= i < 8 and j = n }",
            [[1, 0]],
            ["[n] -> { [(n)] }"],
        ),
        ("{ [i] -> [i // 2] : i mod 2 = 0 and i = 4 }", [[0]], ["{ [(2)] }"]),
        ("{ [0] -> [0]; [2] -> [4]; [5] -> [10] }", [[2]], ["{ [(0)] }"]),
        (
            "[n] -> { [] -> [n, n // 3] }",
            [[], []],
            ["[n] -> { [(n)] }", "[n] -> { [(floor((n)/3))] }"],
        ),
        ("{ C[i] -> [] }", [], []),
    ],
)
def test_linear_accesses(access: str, coefficients: list[list[int]], constants: list[str]) -> None:
    assert _texts(linear_form(isl.Map(access), ANY)) == (coefficients, constants)


@pytest.mark.parametrize(
    "access",
    [
        "{ [i] -> [i // 2] : 0 <= i < 8 }",
        "{ [i] -> [i // 2] : i mod 2 = 0 and 0 <= i < 8 }",
        "[P] -> { [i] -> [i mod 8] : 8P < i <= 8P + 8 }",
        "[n] -> { [i] -> [2i] : n > 3 and 0 <= i < 8; [i] -> [i] : n <= 3 and 0 <= i < 8 }",
        "{ [0] -> [0]; [1] -> [1]; [2] -> [4] }",
        "{ [i] -> [j] : 0 <= i, j <= 1 }",
    ],
)
def test_accesses_that_are_not_linear(access: str) -> None:
    assert linear_form(isl.Map(access), ANY) is None


def test_context_may_make_an_access_linear() -> None:
    access = isl.Map(
        "[n] -> { [i] -> [i + n] : n >= 0 and 0 <= i < 8; [i] -> [0] : n < 0 and 0 <= i < 8 }"
    )
    assert linear_form(access, ANY) is None
    form = linear_form(access, isl.Set("[n] -> { : n >= 2 }"))
    assert _texts(form) == ([[1]], ["[n] -> { [(n)] }"])


def test_an_access_of_nothing_is_linear() -> None:
    form = linear_form(isl.Map("{ [i] -> [i // 2] : false }"), ANY)
    assert form is not None
    assert form.coefficients == ((0,),)


@given(
    st.lists(st.integers(-5, 5), min_size=4, max_size=4),
    st.lists(st.integers(1, 4), min_size=2, max_size=2),
    st.integers(2, 5),
)
def test_linear_accesses_on_boxes_are_recovered(
    factors: list[int], sizes: list[int], divisor: int
) -> None:
    a, b, c, d = factors
    first, second = sizes
    form = linear_form(
        isl.Map(
            f"[n] -> {{ [i, j] -> [{a}i + {b}j + {c}*(n // {divisor}) + {d}] : "
            f"n <= i < n + {first} and 0 <= j < {second} }}"
        ),
        ANY,
    )
    assert form is not None
    assert form.coefficients == ((a if first > 1 else 0, b if second > 1 else 0),)
