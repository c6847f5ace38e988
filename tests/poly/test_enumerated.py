import islpy as isl

from lairmake.stages.poly.box import Enumeration, enumerate_sizes, exact_bounds

ANY = isl.Set("{ : }")


def _enumerate(text: str) -> Enumeration | None:
    return enumerate_sizes(exact_bounds(isl.Set(text), ANY), ["index"])


def test_offset_may_depend_on_the_pe_and_identifiers_do_not() -> None:
    found = _enumerate(
        "[PE_X, index] -> { [i] : 0 <= i <= index + PE_X and 0 <= index <= 2 and 0 <= PE_X <= 9 }"
    )
    assert found is not None
    assert str(found.hull.offset) == "[PE_X] -> { [(1 + PE_X)] }"
    assert found.hull.size == (3,)
    assert found.identifiers.is_equal(isl.Set("{ [i] : 0 <= i <= 2 }"))
    assert found.count == 3


def test_only_sizes_that_occur_have_identifiers() -> None:
    found = _enumerate("[index] -> { [i] : 0 <= i <= 4index and 0 <= index <= 2 }")
    assert found is not None
    assert found.identifiers.is_equal(isl.Set("{ [0]; [4]; [8] }"))
    assert found.count == 3


def test_sizes_of_two_dimensions_are_enumerated_together() -> None:
    found = _enumerate("[index] -> { [i, j] : 0 <= i <= index <= 3 and index <= j <= 3 }")
    assert found is not None
    assert found.sizes.is_equal(isl.Set("{ [i, 5 - i] : 1 <= i <= 4 }"))
    assert found.count == 4


def test_a_set_that_is_no_box_has_no_enumeration() -> None:
    assert _enumerate("[index] -> { [i, j] : 0 <= i <= j <= index <= 3 }") is None


def test_unboundedly_many_sizes_have_no_enumeration() -> None:
    assert _enumerate("[index] -> { [i] : 0 <= i <= index }") is None
