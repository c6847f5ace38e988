import islpy as isl
import pytest

from lairmake.stages.poly.canonical import (
    find_example,
    find_set,
    from_domain,
    list_maps,
    list_sets,
    to_range,
)

MAPS = isl.UnionMap("{ S[i] -> x[i]; S[i] -> y[i, 0]; R[i, j] -> x[i + j]; [i] -> z[i] }")


def test_sets_of_a_union_are_listed_in_one_order() -> None:
    for text in ("{ B[i]; A[i]; A[i, j] }", "{ A[i, j]; B[i]; A[i] }"):
        names = [str(s.get_space()) for s in list_sets(isl.UnionSet(text))]
        assert names == ["{ A[i, j] }", "{ A[i] }", "{ B[i] }"]


def test_maps_of_a_union_are_listed_in_one_order() -> None:
    names = [str(m.get_space()) for m in list_maps(MAPS)]
    assert names == sorted(names)
    assert len(names) == 4


def test_a_set_is_found_by_its_name() -> None:
    union = isl.UnionSet("{ A[i] : i > 3; B[i] }")
    found = find_set(union, "A")
    assert found is not None
    assert found.is_equal(isl.Set("{ A[i] : i > 3 }"))
    assert find_set(union, "C") is None


def test_maps_are_found_by_the_name_of_their_domain_or_range() -> None:
    assert from_domain(MAPS, "S").is_equal(isl.UnionMap("{ S[i] -> x[i]; S[i] -> y[i, 0] }"))
    assert to_range(MAPS, "x").is_equal(isl.UnionMap("{ S[i] -> x[i]; R[i, j] -> x[i + j] }"))
    assert from_domain(MAPS, "T").is_empty()


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("{ x[i] : i = 3 }", "x[3]"),
        ("{ PE[x, y] : x = 1 and y = -1 }", "PE[1, -1]"),
        ("{ s[] }", "s[]"),
        ("{ [i, j] : i = 2 and j = 0 }", "[2, 0]"),
    ],
)
def test_an_example_is_one_point_as_a_person_writes_it(text: str, example: str) -> None:
    assert find_example(isl.Set(text)) == example
    assert find_example(isl.UnionSet(text)) == example
