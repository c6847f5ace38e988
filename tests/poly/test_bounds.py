import islpy as isl
import pytest

from lairmake.stages.poly.box import bound_set, exact_bounds, find_constant_size, find_fixed_size

ANY = isl.Set("{ : }")


def test_bounds_hold_for_each_value_of_the_constants() -> None:
    elements = isl.Set("[n] -> { A[i, j] : n <= i < 2n and 0 <= j <= i }")
    bounds = exact_bounds(elements, ANY)
    assert bound_set(elements, bounds.minimum).is_equal(isl.Set("[n] -> { A[n, 0] : n > 0 }"))
    greatest = isl.Set("[n] -> { A[2n - 1, 2n - 1] : n > 0 }")
    assert bound_set(elements, bounds.maximum).is_equal(greatest)
    assert bounds.domain.is_equal(isl.Set("[n] -> { : n > 0 }"))


@pytest.mark.parametrize(
    ("text", "is_box"),
    [
        ("[n] -> { A[i, j] : n <= i <= n + 3 and 0 <= j < n }", True),
        ("[n] -> { A[i, j] : n <= i <= n + 3 and 0 <= j <= i }", False),
        ("{ A[i] : 0 <= i <= 8 and i mod 2 = 0 }", False),
        ("{ A[i] : i = 0 or i = 2 }", False),
        ("[n] -> { A[] : n > 3 }", True),
        ("{ A[i] : false }", True),
    ],
)
def test_box_is_the_set_with_every_element_in_bounds(text: str, is_box: bool) -> None:
    assert exact_bounds(isl.Set(text), ANY).is_box == is_box


def test_size_is_simplified_in_the_context() -> None:
    elements = isl.Set("[n] -> { A[i] : 0 <= i <= n and i <= 7 }")
    bounds = exact_bounds(elements, isl.Set("[n] -> { : n >= 9 }"))
    assert str(bounds.size[0]) == "[n] -> { [(8)] }"


def test_an_unbounded_set_is_an_error() -> None:
    with pytest.raises(ValueError, match="is unbounded"):
        exact_bounds(isl.Set("{ A[i] : i > 0 }"), ANY)


def test_size_that_depends_on_index_only_where_the_set_is_empty_is_fixed() -> None:
    elements = isl.Set("[PE_X, index] -> { [i] : index <= i <= index + PE_X and index < 4 }")
    sizes = find_fixed_size(exact_bounds(elements, ANY), ["index"])
    assert sizes is not None
    assert [str(size) for size in sizes] == ["[PE_X] -> { [(1 + PE_X)] }"]


def test_size_that_depends_on_index_is_not_fixed() -> None:
    elements = isl.Set("[index] -> { [i] : 0 <= i <= index <= 4 }")
    assert find_fixed_size(exact_bounds(elements, ANY), ["index"]) is None


def test_constant_size_depends_on_nothing() -> None:
    varying = exact_bounds(isl.Set("[n] -> { [i] : 0 <= i <= n <= 4 }"), ANY)
    shifted = exact_bounds(isl.Set("[n] -> { [i, j] : n <= i <= n + 4 and 2j = n }"), ANY)
    empty = exact_bounds(isl.Set("[n] -> { [i] : false }"), ANY)
    assert find_constant_size(varying) is None
    assert find_constant_size(shifted) == (5, 1)
    assert find_constant_size(empty) == (0,)
