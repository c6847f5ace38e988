"""V, the degenerate 2D convolution: Ex. 5.7."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from lairmake.stages.poly.box import box_hull, exact_bounds, find_constant_size
from lairmake.stages.poly.compression import Compressed, compress
from tests.paper.written import Written

pytestmark = pytest.mark.xdist_group("paper")

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture(scope="module")
def pointwise(write: Callable[..., Written]) -> Written:
    return write("pointwise")


@pytest.fixture(scope="module")
def on_x(golden: Entry) -> Entry:
    return golden["pointwise"]["on_x"]


@pytest.fixture(scope="module")
def compressed(on_x: Entry) -> Compressed:
    """(32) as it is printed, compressed: `compress` goes on to remove the hidden equality."""
    return compress(isl.Set(on_x["instances"]["isl"]))


def test_eq_30_placement(pointwise: Written, golden: Entry) -> None:
    given = isl.UnionMap(golden["pointwise"]["placement"]["isl"])
    expected = given.intersect_domain(pointwise.object("lair.isl", "instances"))
    assert pointwise.object("placement.isl", "placement").is_equal(expected)


def test_eq_31_order(pointwise: Written, on_x: Entry, must_equal: MustEqual) -> None:
    order = pointwise.map("adapted.isl", "arrivals").range_factor_range()
    must_equal(order, on_x["order"])


def test_eq_32_instance_set(pointwise: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(pointwise.set("instances.isl", "on_x"), on_x["instances"])


def test_eq_33_compression(compressed: Compressed, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(compressed.map, on_x["compression"])


def test_eq_34_compressed_instance_set(
    compressed: Compressed, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(compressed.set, on_x["compressed"])


def test_example_5_7_strided_instances_become_a_dense_box(compressed: Compressed) -> None:
    bounds = exact_bounds(compressed.set, isl.Set("{ : }"))
    assert bounds.is_box
    assert find_constant_size(bounds) == (2, 1)


def test_example_5_7_affine_offset_gives_a_larger_hull(compressed: Compressed) -> None:
    hull = box_hull(compressed.set)
    assert hull is not None
    assert hull.size == (4, 2)


def test_example_5_7_filter_takes_two_by_two_per_pe(pointwise: Written) -> None:
    local = pointwise.object("allocations.isl", "local")
    expected = isl.UnionSet("{ filter_local[0:1, 0:1] }")
    assert local.intersect(isl.UnionSet("{ filter_local[i, j] }")).is_equal(expected)


def test_example_5_7_without_the_hidden_equality_is_a_row(
    pointwise: Written, compressed: Compressed
) -> None:
    row = pointwise.set("compressions.isl", "on_x")
    bounds = exact_bounds(row, isl.Set("{ : }"))
    assert bounds.is_box
    assert find_constant_size(bounds) == (2,)
    function = pointwise.map("compressions.isl", "on_x_compression")
    expected = compressed.map.intersect_domain(compressed.set).range()
    assert function.intersect_domain(row).range().is_equal(expected)
