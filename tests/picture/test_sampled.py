"""Pictures of the instances of a task on one PE, and of the box around them."""

import islpy as isl

from lairmake.stages.picture.tasks import sample


def test_extra_instances_are_told_from_others():
    """The first symbolic constants with extra ones are taken: at index 0 there are none."""
    instances = isl.Set("[PE_X, index] -> { [i] : 0 <= PE_X <= 3 and 0 <= index <= 2 and "
                        "0 <= i <= 2 - index }")
    hull = isl.Set("[PE_X, index] -> { [i] : 0 <= PE_X <= 3 and 0 <= index <= 2 and 0 <= i <= 2 }")
    found = sample(instances, hull)
    assert dict(found.constants) == {"PE_X": 0, "index": 1}
    assert (found.dimensions, found.least, found.sizes) == (("i",), (0,), (3,))
    assert found.rows == ("332",)


def test_a_set_without_a_hull_has_instances_only():
    found = sample(isl.Set("{ [i, j] : 0 <= j <= i <= 2 }"), None)
    assert found.rows == ("100", "110", "111")


def test_outer_dimensions_stand_at_their_first_value():
    found = sample(isl.Set("[PE_Y] -> { [a, i, j] : 4 <= a <= 7 and 5 <= i <= 6 and j = PE_Y and "
                           "2 <= PE_Y <= 3 }"), None)
    assert (dict(found.constants), dict(found.outer)) == ({"PE_Y": 2}, {"a": 4})
    assert (found.dimensions, found.least, found.rows) == (("i", "j"), (5, 2), ("1", "1"))


def test_of_a_large_set_the_first_points_are_drawn():
    found = sample(isl.Set("{ [i, j] : 0 <= i < 1000000 and 3 <= j < 80 }"), None)
    assert found.sizes == (1000000, 77)
    assert (len(found.rows), len(found.rows[0]), found.least) == (64, 64, (0, 3))


def test_a_set_of_one_point_without_dimensions_is_no_picture():
    assert sample(isl.Set("[PE_X] -> { [] : 0 <= PE_X <= 3 }"), None) is None
