"""M Sec. III.A, III.D and III.E."""

import random

import islpy as isl
import pytest

from stages.skewing.loops import transformation
from stages.skewing.matrices import (
    Substitution,
    identity,
    is_lower_triangular,
    is_unimodular,
    kernel,
    rank,
    substitutions,
)

REUSE_A = [[1, 0, 0], [0, 0, 1]]
PLACEMENT = [[0, 0, 1]]
PLACE = isl.Map("{ S[i, j, k] -> PE[i, j] }")


def test_general_method_on_example_1():
    """Coordinates (i, j, k): the normal k = 0 of A becomes k - j = 0; i = 0 stays."""
    found = substitutions(REUSE_A, PLACEMENT, 3)
    assert found == [Substitution(old=(0, 0, 1), step=(0, -1, 0))]
    assert substitutions(REUSE_A, PLACEMENT, 3, sign=1)[0].step == (0, 1, 0)


def test_general_method_leaves_what_is_not_broadcast():
    assert substitutions([[1, 0, 0], [0, 1, 0]], PLACEMENT, 3) == []


def test_general_method_finds_nothing_where_all_use_one_element_at_all_times():
    assert substitutions([], PLACEMENT, 3) == []


@pytest.mark.parametrize("seed", range(20))
def test_each_substitution_reduces_the_broadcast_space_by_one(seed):
    chosen = random.Random(seed)
    width = chosen.randint(2, 4)
    reuse = [row for row in identity(width) if chosen.random() < 0.6]
    times = [row for row in identity(width) if chosen.random() < 0.5]
    found = substitutions(reuse, times, width)
    steps = {each.old: each.step for each in found}
    new = [[a + b for a, b in zip(r, steps.get(tuple(r), [0] * width), strict=True)] for r in reuse]
    before, after = rank([*reuse, *times]), rank([*new, *times])
    assert after == before + len(found)
    repeated = len(reuse) + len(times) - before
    assert len(found) == min(repeated, width - before)


def test_kernel_is_a_basis_of_what_a_matrix_takes_to_zero():
    rows = [[2, 4, 0, 6], [0, 1, 1, 1]]
    found = kernel(rows, 4)
    assert rank(found) == 2
    assert all(sum(a * b for a, b in zip(r, x, strict=True)) == 0 for r in rows for x in found)
    assert kernel([], 2) == [[1, 0], [0, 1]]


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
