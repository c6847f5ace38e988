"""The function in a set: one point for each value of the symbolic constants."""

import islpy as isl
import pytest

from lairmake.stages.poly.functions import find_function


@pytest.mark.parametrize("text", [
    "[n] -> { [2n + 1] : n >= 0 }",
    "[n] -> { [i] : 3i = n }",
    "[n] -> { [i] : n - 3 < 4i <= n }",
])
def test_a_function_has_every_point_of_its_set(text):
    points = isl.Set(text)
    assert isl.Set.from_pw_multi_aff(find_function(points)).is_equal(points)


def test_several_points_are_no_function():
    with pytest.raises(isl.Error):
        find_function(isl.Set("[n] -> { [i] : 0 <= i <= n }"))
