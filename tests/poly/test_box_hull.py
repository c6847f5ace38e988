import islpy as isl
import pytest
from hypothesis import given

from lairmake.stages.poly.box import BoxHull, as_set, box_hull, local_map, offset_set, size_set
from tests.poly.random_sets import sets


def _texts(hull: BoxHull | None) -> tuple[str, tuple[int, ...]] | None:
    return None if hull is None else (str(hull.offset), hull.size)


@pytest.mark.parametrize(
    ("text", "offset", "size"),
    [
        ("[n] -> { A[i] : n <= i <= n + 3 }", "[n] -> { A[(n)] }", (4,)),
        ("[n] -> { A[i] : 0 <= i <= 4 and n <= i <= n + 9 }", "[n] -> { A[(0)] }", (5,)),
        ("[n] -> { A[i] : i >= n and 0 <= i <= 2 + n and n <= 9 }", "[n] -> { A[(n)] }", (3,)),
        ("{ A[i, j] : 0 <= i <= 3 and j = 2i }", "{ A[(0), (0)] }", (4, 7)),
        ("[n] -> { A[i] : n <= i <= n + 1 or n + 8 <= i <= n + 9 }", "[n] -> { A[(n)] }", (10,)),
        ("{ A[i] : i mod 4 = 1 and 2 <= i <= 11 }", "{ A[(5)] }", (5,)),
        ("{ A[] }", "{ A[] }", ()),
        ("[n] -> { A[i] : i = n + 1 }", "[n] -> { A[(1 + n)] }", (1,)),
    ],
)
def test_hull_is_the_smallest_interval_at_a_lower_bound(
    text: str, offset: str, size: tuple[int, ...]
) -> None:
    assert _texts(box_hull(isl.Set(text))) == (offset, size)


@pytest.mark.parametrize(
    "text",
    [
        "{ A[i] : i >= 0 }",
        "{ A[i] : i <= 0 }",
        "[n] -> { A[i] : 0 <= i <= n }",
        "{ A[i, j] : i = 0 }",
    ],
)
def test_unbounded_sets_have_no_hull(text: str) -> None:
    assert box_hull(isl.Set(text)) is None
    assert box_hull(isl.Set(text), quasi_affine=True) is None


def test_offset_is_purely_affine_unless_quasi_affine_is_asked_for() -> None:
    elements = isl.Set("[PE_X] -> { A[i] : 2*(PE_X mod 2) <= i <= 1 + 2*(PE_X mod 2) }")
    affine = box_hull(elements)
    exact = box_hull(elements, quasi_affine=True)
    assert _texts(affine) == ("[PE_X] -> { A[(0)] }", (4,))
    assert _texts(exact) == ("[PE_X] -> { A[(2*((PE_X) mod 2))] }", (2,))


def test_halves_are_no_purely_affine_offset() -> None:
    elements = isl.Set("[n] -> { A[i] : n <= 2i <= n + 3 }")
    assert box_hull(elements) is None
    assert _texts(box_hull(elements, quasi_affine=True)) == (
        "[n] -> { A[(n - floor((n)/2))] }",
        (2,),
    )


def test_a_rounded_offset_is_no_minimum() -> None:
    elements = isl.Set("[n] -> { A[i] : n <= 2i <= n + 3 and 0 <= i <= 7 }")
    hull = box_hull(elements, rounded=True)
    assert hull is not None
    assert hull.size == (2,)
    assert offset_set(hull).is_equal(isl.Set("[n] -> { A[(n + 1) // 2] }"))


@pytest.mark.wide
@given(sets())
def test_a_hull_with_a_rounded_offset_contains_the_set(elements: isl.Set) -> None:
    affine, rounded = box_hull(elements), box_hull(elements, rounded=True)
    assert affine is not None
    assert rounded is not None
    assert elements.is_subset(as_set(rounded, elements.params()))
    assert all(small <= large for small, large in zip(rounded.size, affine.size, strict=True))


def test_context_makes_the_hull_smaller() -> None:
    elements = isl.Set("[n] -> { A[i] : 0 <= i <= n }")
    assert _texts(box_hull(elements, isl.Set("[n] -> { : n <= 4 }"))) == ("[n] -> { A[(0)] }", (5,))


def test_offset_involves_only_the_given_constants() -> None:
    elements = isl.Set(
        "[PE_X, index] -> { A[i] : index <= i <= index + 1 and 4PE_X <= index <= 4PE_X + 2 }"
    )
    assert _texts(box_hull(elements)) == ("[PE_X, index] -> { A[(index)] }", (2,))
    assert _texts(box_hull(elements, None, ["PE_X"])) == ("[PE_X] -> { A[(4PE_X)] }", (4,))


def test_an_empty_set_has_a_hull_without_elements() -> None:
    hull = box_hull(isl.Set("[n] -> { A[i, j] : i > 0 and i < 0 }"))
    assert hull is not None
    assert hull.size == (0, 0)
    assert as_set(hull, isl.Set("{ : }")).is_empty()


@pytest.mark.wide
@pytest.mark.parametrize("quasi_affine", [False, True])
@given(elements=sets())
def test_hull_contains_the_set(quasi_affine: bool, elements: isl.Set) -> None:
    hull = box_hull(elements, quasi_affine=quasi_affine)
    assert hull is not None
    box = as_set(hull, elements.params())
    assert elements.is_subset(box)
    assert size_set(hull).is_singleton()


@pytest.mark.wide
@given(sets())
def test_quasi_affine_offset_is_never_worse(elements: isl.Set) -> None:
    affine, exact = box_hull(elements), box_hull(elements, quasi_affine=True)
    assert affine is not None
    assert exact is not None
    assert all(small <= large for small, large in zip(exact.size, affine.size, strict=True))


def test_hull_as_sets() -> None:
    hull = box_hull(isl.Set("[PE_Y] -> { y[i, j] : 8PE_Y <= i <= 8PE_Y + 7 and 0 <= j <= 2 }"))
    assert hull is not None
    assert offset_set(hull).is_equal(isl.Set("[PE_Y] -> { y[8PE_Y, 0] }"))
    assert size_set(hull).is_equal(isl.Set("{ y[8, 3] }"))
    box = as_set(hull, isl.Set("[PE_Y] -> { : PE_Y = 2 }"))
    expected = isl.Set("[PE_Y] -> { y[i, j] : 16 <= i <= 23 and 0 <= j <= 2 and PE_Y = 2 }")
    assert box.is_equal(expected)


def test_local_map_subtracts_the_offset() -> None:
    hull = box_hull(isl.Set("[PE_Y] -> { y[i, j] : 8PE_Y <= i <= 8PE_Y + 7 and 0 <= j <= 2 }"))
    assert hull is not None
    expected = isl.Map("[PE_Y] -> { y[i, j] -> y_local[i - 8PE_Y, j] }")
    assert local_map(hull, "y_local").is_equal(expected)


def test_box_has_one_size_per_dimension() -> None:
    offset = isl.MultiPwAff("{ A[(0), (0)] }")
    with pytest.raises(ValueError, match="no box of size"):
        BoxHull(offset=offset, size=(3,))


def test_where_isl_needs_long_for_a_quasi_affine_offset_the_box_is_larger(monkeypatch):
    elements = isl.Set("[n] -> { [x] : 3*floor(n/3) <= x < 3 + 3*floor(n/3) and 0 <= n < 30 }")
    assert box_hull(elements, quasi_affine=True).size == (3,)
    larger = box_hull(elements).size
    monkeypatch.setattr("lairmake.stages.poly.box.MOST_FOR_LEAST", 1)
    assert box_hull(elements, quasi_affine=True).size == larger > (3,)
