import islpy as isl
import pytest
from hypothesis import given, settings

from lairmake.stages.poly.box import box_hull, count_hull
from lairmake.stages.poly.compression import along_strips
from tests.poly.random_sets import sets


@pytest.mark.wide_after(7)
@pytest.mark.parametrize(
    ("elements", "change"),
    [
        ("{ A[i] : 0 <= i < 9 and i mod 3 = 1 }", "{ [a] -> A[1 + 3a] }"),
        (
            "[p] -> { A[j] : (j//2) mod 3 = p and 0 <= p <= 2 and 0 <= j <= 19 }",
            "[p] -> { [a, c] -> A[2p + 6a + c] : 0 <= c <= 1 }",
        ),
        (
            "[p, q] -> { A[i, j] : i mod 8 = p and 1 + j mod 8 = q and 0 <= i, j < 256 }",
            "[p, q] -> { [a, b] -> A[p + 8a, q - 1 + 8b] }",
        ),
        (
            "[p] -> { A[j] : ((j + 3)//5) mod 4 = p and 0 <= j < 64 and 0 <= p < 4 }",
            "[p] -> { [a, c] -> A[5p - 3 + 20a + c] : 0 <= c <= 4 }",
        ),
        (
            "[p] -> { A[x] : exists j, k : x = j - k and 0 <= k < 3 and (j//4) mod 8 = p "
            "and 0 <= j < 64 }",
            "[p] -> { [a, c] -> A[4p - 2 + 32a + c] : 0 <= c <= 5 }",
        ),
        (
            "[p] -> { A[x] : exists i, k : x = 3i + k and 0 <= k < 2 and 4p <= i < 4p + 4 "
            "and 0 <= p < 4 }",
            "[p] -> { [a, c] -> A[3a + c] : 0 <= c <= 1 }",
        ),
        (
            "[p] -> { A[x] : exists i : x = i//2 and (i//4) mod 4 = p and 0 <= i < 64 }",
            "[p] -> { [a, c] -> A[2p + 8a + c] : 0 <= c <= 1 }",
        ),
        (
            "[p] -> { A[j] : (j//2) mod 3 = p and (j//12) mod 2 = 0 and 0 <= j < 48 }",
            "[p] -> { [a, b, c] -> A[2p + 24a + 6b + c] : 0 <= b <= 1 and 0 <= c <= 1 }",
        ),
        (
            "[p] -> { A[x] : exists j, k : x = 128j + k and 0 <= k < 7 and (j//64) mod 512 = p "
            "and 0 <= j < 640000 and 0 <= p < 512 }",
            "[p] -> { [a, b, c] -> A[8192p + 4194304a + 128b + c] : 0 <= b <= 63 and 0 <= c <= 6 }",
        ),
        (
            "[p] -> { A[i] : 0 <= i < 64 and 0 <= p < 3 and ((i//4) mod 4 = p or "
            "(i//4) mod 4 = p + 1) }",
            "[p] -> { [a, c] -> A[4p + 16a + c] : 0 <= c <= 7 }",
        ),
    ],
)
def test_blocks_that_recur_get_a_dimension_for_them_and_one_within_them(elements, change):
    found, domain = along_strips(isl.Set(elements)), isl.Set(elements).params()
    assert found is not None
    assert found.intersect_params(domain).is_equal(isl.Map(change).intersect_params(domain))


def test_the_dimensions_of_blocks_begin_where_a_pe_does_even_around_the_end_of_a_period():
    elements = isl.Set("[p] -> { A[j] : (j//2) mod 4 = (p + 2) mod 4 and 0 <= j < 64 }")
    change = along_strips(elements.intersect_params(isl.Set("[p] -> { : 0 <= p < 4 }")))
    hull = box_hull(elements.apply(change.reverse()), quasi_affine=True)
    assert hull.size == (8, 2)


@pytest.mark.parametrize(
    "elements",
    [
        "{ A[i, j] : 0 <= i < 9 and 0 <= j < 9 }",
        "[p] -> { A[i] : 8p <= i < 8p + 8 and 0 <= p < 4 }",
        "[p] -> { A[i] : i mod 4 = p and 0 <= i < 4 }",
        "[p] -> { A[i, j] : (i + j) mod 4 = p and 0 <= i, j < 16 }",
        "{ A[i] : i mod 4 <= 1 and 4 <= i < 8 }",
        "{ A[i] : false }",
        "{ A[] }",
    ],
)
def test_what_is_no_denser_in_strips_needs_no_change(elements):
    assert along_strips(isl.Set(elements)) is None


@settings(max_examples=12)
@given(sets())
def test_the_change_reaches_every_element_once_and_its_hull_is_smaller(elements):
    change = along_strips(elements)
    if change is not None:
        assert elements.is_subset(change.range()) and change.is_injective()
        assert count_hull(elements.apply(change.reverse())) < (count_hull(elements) or 10**9)
