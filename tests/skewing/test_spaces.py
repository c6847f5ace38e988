"""M Sec. II: spaces of references.

The coordinates are [k, i, j] in Example 1: time, then the PE.
"""

import islpy as isl
import pytest

from lairmake.stages.skewing.spaces import (
    broadcast_space,
    dimension,
    extent_space,
    placement_space,
    reuse_space,
)
from tests.skewing.nests import nest, product

ACCESS = {
    "A": "{ S[i, j, k] -> A[i, k] }",
    "B": "{ S[i, j, k] -> B[k, j] }",
    "C": "{ S[i, j, k] -> C[i, j] }",
}


def is_space(found, text):
    return isl.Set.from_basic_set(found).is_equal(isl.Set(text))


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        ("C", "{ [k, i, j] : i = 0 and j = 0 }"),
        ("A", "{ [k, i, j] : i = 0 and k = 0 }"),
        ("B", "{ [k, i, j] : j = 0 and k = 0 }"),
    ],
)
def test_example_1_reuse_spaces(tensor, expected):
    assert is_space(reuse_space(product().points("S"), isl.Map(ACCESS[tensor])), expected)


def test_example_1_placement_space():
    assert is_space(placement_space(product().points("S"), [0]), "{ [k, i, j] : k = 0 }")


@pytest.mark.parametrize(
    ("tensor", "expected", "dimensions"),
    [
        ("C", "{ [0, 0, 0] }", 0),
        ("A", "{ [k, i, j] : i = 0 and k = 0 }", 1),
        ("B", "{ [k, i, j] : j = 0 and k = 0 }", 1),
    ],
)
def test_example_1_broadcast_spaces(tensor, expected, dimensions):
    found = broadcast_space(product().points("S"), isl.Map(ACCESS[tensor]), [0])
    assert is_space(found, expected)
    assert dimension(found) == dimensions


@pytest.mark.parametrize(
    ("tensor", "reuse", "broadcast"),
    [
        ("C", "{ [k, i, j] : i = 0 and j = 0 }", "{ [0, 0, 0] }"),
        ("A", "{ [k, i, j] : i = 0 and k + j = 0 }", "{ [0, 0, 0] }"),
        ("B", "{ [k, i, j] : k + j = 0 and j = 0 }", "{ [k, i, j] : j = 0 and k = 0 }"),
    ],
)
def test_example_1_spaces_after_a_skew_of_j(tensor, reuse, broadcast):
    points = isl.Map("{ S[i, j, k] -> [k - j, i, j] : 0 <= i, j, k < 8 }")
    access = isl.Map(ACCESS[tensor])
    assert is_space(reuse_space(points, access), reuse)
    assert is_space(broadcast_space(points, access, [0]), broadcast)
    assert is_space(placement_space(points, [0]), "{ [k, i, j] : k = 0 }")


def test_eq_1_the_reuse_space_keeps_the_equalities_of_the_instances():
    points = isl.Map("{ S[i, j] -> [i, j] : 0 <= i < 8 and j = i }")
    assert is_space(reuse_space(points, isl.Map("{ S[i, j] -> A[0] }")), "{ [i, i] }")
    assert is_space(extent_space(points), "{ [i, i] }")


def test_bounds_may_rule_reuse_out():
    points = isl.Map("{ S[i, j] -> [i, j] : 0 <= i, j < 4 }")
    assert dimension(reuse_space(points, isl.Map("{ S[i, j] -> A[i + 4j] }"))) == 0
    assert dimension(reuse_space(points, isl.Map("{ S[i, j] -> A[i + 3j] }"))) == 1


def test_on_blocks_the_spaces_are_those_of_tiles():
    space = nest(
        "{ S[i, j] : 0 <= i < 32 and 0 <= j < 16 }",
        "{ S[i, j] -> [j, i] }",
        "{ S[i, j] -> PE[j // 4, i // 8] }",
    )
    points = space.points("S")
    x, y = isl.Map("{ S[i, j] -> x[j] }"), isl.Map("{ S[i, j] -> y[i] }")
    assert is_space(reuse_space(points, x), "{ [0, i, 0, y] }")
    assert is_space(broadcast_space(points, x, [0, 1]), "{ [0, 0, 0, y] }")
    assert is_space(broadcast_space(points, y, [0, 1]), "{ [0, 0, x, 0] }")
