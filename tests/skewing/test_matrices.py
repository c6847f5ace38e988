"""M Sec. III.A, III.D and III.E."""

import islpy as isl
import pytest

from lairmake.stages.skewing.spaces import is_lower_triangular, is_unimodular, rank, transformation

PLACE = isl.Map("{ S[i, j, k] -> PE[i, j] }")


def test_rows_that_depend_on_others_do_not_count():
    assert rank([[2, 4, 0, 6], [0, 1, 1, 1], [2, 3, -1, 5], [0, 0, 0, 0]]) == 2
    assert rank([]) == 0


@pytest.mark.parametrize(
    ("lag", "expected"),
    [
        ((-1, 0), [[1, 0, 0], [0, 1, 0], [-1, 0, 1]]),
        ((0, -1), [[1, 0, 0], [0, 1, 0], [0, -1, 1]]),
        ((-1, -1), [[1, 0, 0], [0, 1, 0], [-1, -1, 1]]),
    ],
)
def test_example_1_matrices(lag, expected):
    found = transformation(isl.Map("{ S[i, j, k] -> [i, j, k] }"), PLACE, [2], [lag])
    assert found == expected
    assert is_unimodular(found) and is_lower_triangular(found)


def test_example_2_matrix():
    found = transformation(isl.Map("{ S[i, j, k] -> [k, i, j] }"), PLACE, [0], [(-1, -1)])
    assert found == [[1, -1, -1], [0, 1, 0], [0, 0, 1]]
    assert is_unimodular(found) and not is_lower_triangular(found)


def test_a_matrix_with_a_stride_is_not_unimodular():
    assert not is_unimodular([[2, 1], [0, 1]])
    assert not is_unimodular([[1, 1], [1, 1]])
    assert not is_lower_triangular([[1, 0], [0, 2]])


@pytest.mark.parametrize(
    ("schedule", "place"),
    [
        ("{ S[i, j, k] -> [i // 2, j, k] }", "{ S[i, j, k] -> PE[j, 0] }"),
        ("{ S[i, j, k] -> [i, j, k] }", "{ S[i, j, k] -> PE[i // 2, j] }"),
        ("{ S[i, j, k] -> [2i, k] }", "{ S[i, j, k] -> PE[i, j] }"),
    ],
)
def test_there_is_no_matrix_of_loops_where_pes_are_no_combinations_of_them(schedule, place):
    assert transformation(isl.Map(schedule), isl.Map(place), [1], [(1, 1)]) is None
