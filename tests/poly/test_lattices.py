import islpy as isl
import pytest
from hypothesis import given

from lairmake.stages.poly.lattices import along_lattice, directions
from tests.poly.random_sets import sets


@pytest.mark.parametrize(
    ("elements", "change"),
    [
        ("{ A[i] : 0 <= i < 9 and i mod 3 = 1 }", "{ [k] -> A[1 + 3k] }"),
        (
            "[n] -> { A[i, j] : 0 <= i, j < 9 and (i + j) mod 2 = n and 0 <= n <= 1 }",
            "[n] -> { [k, l] -> A[k, n + k + 2l] }",
        ),
        (
            "[n] -> { A[i] : 0 <= i < 8 and (n = 0 and i mod 2 = 0 or n = 1 and i mod 2 = 1) }",
            "[n] -> { [k] -> A[n + 2k] : 0 <= n <= 1 }",
        ),
        ("[n] -> { A[i, j] : 0 <= i < 4 and n - 3 <= 4j <= n }", "[n] -> { [k] -> A[k, n // 4] }"),
        ("{ A[i, i] : 0 <= i < 3; A[i, i] : 7 <= i < 9 }", "{ [k] -> A[k, k] }"),
        ("[n] -> { A[n, 2n] : n > 3 }", "[n] -> { [] -> A[n, 2n] : n > 3 }"),
    ],
)
def test_remainders_and_strides_are_in_the_change(elements: str, change: str) -> None:
    found, domain = along_lattice(isl.Set(elements)), isl.Set(elements).params()
    assert found is not None
    assert found.intersect_params(domain).is_equal(isl.Map(change).intersect_params(domain))


@pytest.mark.parametrize(
    "elements",
    [
        "{ A[i, j] : 0 <= i < 9 and 0 <= j < 9 }",
        "[n] -> { A[i] : n <= i <= n + 1 }",
        "{ A[0]; A[2]; A[5] }",
        "{ A[i] : false }",
        "{ A[] }",
    ],
)
def test_a_set_without_strides_and_equalities_needs_no_change(elements: str) -> None:
    assert along_lattice(isl.Set(elements)) is None


@pytest.mark.wide
@given(sets())
def test_the_change_reaches_every_element_once(elements: isl.Set) -> None:
    change = along_lattice(elements)
    if change is not None:
        assert elements.is_subset(change.range())
        assert change.is_injective()
        assert change.is_single_valued()


@pytest.mark.wide
@given(sets())
def test_a_change_leaves_neither_strides_nor_equalities(elements: isl.Set) -> None:
    change = along_lattice(elements)
    if change is not None:
        assert along_lattice(elements.apply(change.reverse())) is None


def test_directions_span_the_differences() -> None:
    found = directions(isl.Set("[n] -> { [i, j] : i = 2j + n and 0 <= j < 5 }"))
    assert found in ([[2, 1]], [[-2, -1]])
