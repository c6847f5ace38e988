import islpy as isl
import pytest

from lairmake.stages.poly.box import count_hull
from lairmake.stages.poly.compression import Compressed, compact, drop_holes


@pytest.mark.parametrize(
    ("elements", "change", "before", "after"),
    [
        ("{ A[i, i] : 0 <= i < 9 }", "{ [k] -> A[k, k] }", 81, 9),
        (
            "[p] -> { A[i, j] : (j - i) mod 4 = p and 0 <= i, j < 16 and 0 <= p < 4 }",
            "[p] -> { [k, l] -> A[k, p + k + 4l] }", 256, 128,
        ),
        (
            "[p] -> { A[i, i] : (i//2) mod 4 = p and 0 <= i < 16 and 0 <= p < 4 }",
            "[p] -> { [a, c] -> A[2p + 8a + c, 2p + 8a + c] : 0 <= c <= 1 }", 100, 4,
        ),
    ],
)
def test_a_set_is_compact_along_its_lattice_and_the_strips_in_it(elements, change, before, after):
    whole = isl.Set(elements)
    found = compact(whole)
    assert found.intersect_params(whole.params()).is_equal(
        isl.Map(change).intersect_params(whole.params())
    )
    counts = count_hull(whole), count_hull(whole.apply(found.reverse()))
    assert counts == (before, after)


def test_a_lattice_without_a_smaller_hull_changes_nothing():
    assert compact(isl.Set("[p] -> { A[i, 3] : p <= i < p + 4 }")) is None


def test_eq_18_a_compression_goes_to_strips():
    elements = isl.Set("[p] -> { [j] : (j//2) mod 3 = p and 0 <= p <= 2 and 0 <= j < 24 }")
    found = drop_holes(Compressed(map=isl.Map("{ [j] -> S[j, 3] }"), set=elements))
    expected = isl.Set("[p] -> { [a, c] : 0 <= p <= 2 and 0 <= a <= 3 and 0 <= c <= 1 }")
    assert found.set.is_equal(expected)
    strips = isl.Map("[p] -> { [a, c] -> S[2p + 6a + c, 3] : 0 <= c <= 1 }")
    assert found.map.intersect_domain(expected).is_equal(strips.intersect_domain(expected))
