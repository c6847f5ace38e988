"""Disjoint hyperrectangles of sets."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.poly.box import MOST, NotRectangularError, list_slabs, split_into_rectangles

FRAME = "[N] -> { a[h, w] : N >= 5 and 0 <= h, w < N and (h = 0 or h >= N - 2 or w = 0) }"


def is_box(found):
    """Return whether a set is the product of its dimensions."""
    product = isl.Set.universe(found.space)
    for k in range(found.dim(isl.dim_type.set)):
        rest = found.dim(isl.dim_type.set) - k - 1
        one = found.project_out(isl.dim_type.set, k + 1, rest).project_out(isl.dim_type.set, 0, k)
        back = one.insert_dims(isl.dim_type.set, 0, k).add_dims(isl.dim_type.set, rest)
        product = product.intersect(back.set_tuple_name(found.get_tuple_name()))
    return product.is_equal(found)


def check(domain):
    found = split_into_rectangles(domain)
    union = isl.Set.empty(domain.space)
    for each in found:
        assert is_box(each)
        assert union.is_disjoint(each)
        union = union.union(each)
    assert union.is_equal(domain)
    return found


def test_a_frame_with_a_symbolic_size_is_three_rectangles():
    assert len(check(isl.Set(FRAME))) == 3


def test_a_box_is_one_rectangle():
    assert len(check(isl.Set("{ a[i, j, k] : 2 <= i < 9 and 0 <= j <= 4 and k = 3 }"))) == 1


def test_a_set_without_dimensions_is_one_rectangle():
    assert len(check(isl.Set("{ a[] }"))) == 1


def test_nothing_is_no_rectangle():
    assert split_into_rectangles(isl.Set("{ a[i] : false }")) == []


def test_a_small_triangle_is_a_rectangle_per_row():
    assert len(check(isl.Set("{ a[i, j] : 0 <= j <= i < 5 }"))) == 5


def test_a_large_triangle_is_refused():
    with pytest.raises(NotRectangularError):
        split_into_rectangles(isl.Set(f"{{ a[i, j] : 0 <= j <= i < {MOST + 1} }}"))


def test_a_triangle_of_symbolic_size_is_refused():
    with pytest.raises(NotRectangularError):
        split_into_rectangles(isl.Set("[N] -> { a[i, j] : 0 <= j <= i < N }"))


def test_slabs_have_the_same_rest_everywhere():
    relation = isl.Set("{ [h, a] : 0 <= h < 8 and 0 <= a < 5 and 1 <= 2h + a <= 16 }")
    found = [(str(box), str(rest)) for box, rest in list_slabs(relation, 1)]
    assert found == [
        ("{ [h = 0] }", "{ [a] : 0 < a <= 4 }"),
        ("{ [h] : 0 < h <= 6 }", "{ [a] : 0 <= a <= 4 }"),
        ("{ [h = 7] }", "{ [a] : 0 <= a <= 2 }"),
    ]


@pytest.mark.parametrize("seed", range(30))
def test_random_unions_of_boxes_are_disjoint_rectangles(seed):
    random = np.random.default_rng(seed)
    rank = int(random.integers(1, 4))
    domain = isl.Set(f"{{ a[{', '.join(f'i{k}' for k in range(rank))}] : false }}")
    for _ in range(random.integers(1, 5)):
        ends = np.sort(random.integers(0, 12, size=(rank, 2)))
        bounds = " and ".join(f"{low} <= i{k} <= {high}" for k, (low, high) in enumerate(ends))
        box = isl.Set(f"{{ a[{', '.join(f'i{k}' for k in range(rank))}] : {bounds} }}")
        domain = domain.subtract(box) if random.random() < 0.3 else domain.union(box)
    check(domain)
