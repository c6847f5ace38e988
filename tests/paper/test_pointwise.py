"""The degenerate 2D convolution: Example 5.7."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from stages.poly.bind import PE_NAMES
from stages.poly.bounds import constant_size, exact_bounds
from stages.poly.box_hull import box_hull
from stages.poly.compression import Compressed, compress, without_hidden_equalities
from stages.poly.slice import bind_placement, instance_set

INSTANCES = isl.Set("{ C[k=0:3, h=0:7, w=0:7, c=0:3] }")
READ_X = isl.Map("{ C[k, h, w, c] -> x[h, w, c] }")

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture
def on_x(golden: Entry) -> Entry:
    return golden["pointwise"]["on_x"]


@pytest.fixture
def placement(golden: Entry) -> isl.Map:
    return isl.Map(golden["pointwise"]["placement"]["isl"])


@pytest.fixture
def instances(placement: isl.Map, on_x: Entry) -> isl.Set:
    return instance_set(placement, INSTANCES, READ_X, isl.Map(on_x["order"]["isl"]))


@pytest.fixture
def compressed(instances: isl.Set) -> Compressed:
    return compress(instances)


def test_eq_30_bound_placement(placement: isl.Map) -> None:
    expected = isl.Set(
        "[PE_X, PE_Y] -> { C[k=0:3, h=0:7, w=0:7, c=0:3] : "
        "PE_X = k//2 + 2*(w//4) and PE_Y = 2*(h//4) + c//2 }"
    )
    assert bind_placement(placement, INSTANCES).is_equal(expected)


def test_eq_31_and_32_instance_set(
    instances: isl.Set, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(instances, on_x["instances"])


def test_eq_33_compression(compressed: Compressed, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(compressed.map, on_x["compression"])


def test_eq_34_compressed_instance_set(
    compressed: Compressed, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(compressed.set, on_x["compressed"])


def test_example_5_7_strided_instances_become_a_dense_box(compressed: Compressed) -> None:
    bounds = exact_bounds(compressed.set, isl.Set("{ : }"))
    assert bounds.is_box
    assert constant_size(bounds) == (2, 1)


def test_example_5_7_affine_offset_gives_a_larger_hull(compressed: Compressed) -> None:
    hull = box_hull(compressed.set)
    assert hull is not None
    assert hull.size == (4, 2)


def test_example_5_7_filter_takes_two_by_two_per_pe(placement: isl.Map) -> None:
    access = isl.Map("{ C[k, h, w, c] -> filter[c, k] }")
    accessed = bind_placement(placement, INSTANCES).apply(access)
    hull = box_hull(accessed, None, PE_NAMES, quasi_affine=True)
    assert hull is not None
    assert hull.size == (2, 2)


def test_example_5_7_without_the_hidden_equality_is_a_row(compressed: Compressed) -> None:
    found = without_hidden_equalities(compressed)
    bounds = exact_bounds(found.set, isl.Set("{ : }"))
    assert bounds.is_box
    assert constant_size(bounds) == (2,)
    assert found.map.intersect_domain(found.set).range().is_equal(
        compressed.map.intersect_domain(compressed.set).range()
    )
