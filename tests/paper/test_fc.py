"""The fully connected layer: Sections 4.3, 5.1 and 5.2, Examples 5.1, 5.2, 5.4 and 5.8."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from stages.poly.bind import PE_NAMES, bind_range, index_names, unbind_domain, unbind_set
from stages.poly.bounds import ExactBounds, bound_set, exact_bounds, fixed_size
from stages.poly.box_hull import BoxHull, as_set, box_hull, local_map, offset_set, size_set
from stages.poly.compression import Compressed, compress
from stages.poly.interference import extra_instances
from stages.poly.slice import bind_placement, instance_set

INSTANCES = isl.Set("{ ff[i=0:31, j=0:15] }")
READ_X = isl.Map("{ ff[i, j] -> x[j] }")
WRITE_Y = isl.Map("{ ff[i, j] -> y[i] }")

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture
def on_x(golden: Entry) -> Entry:
    return golden["fc"]["on_x"]


@pytest.fixture
def allocation(golden: Entry) -> Entry:
    return golden["fc"]["allocation_y"]


@pytest.fixture
def placement(golden: Entry) -> isl.Map:
    return isl.Map(golden["fc"]["adjusted"]["placement_ff"]["isl"])


@pytest.fixture
def instances(placement: isl.Map, on_x: Entry) -> isl.Set:
    return instance_set(placement, INSTANCES, READ_X, isl.Map(on_x["order"]))


@pytest.fixture
def bounds(instances: isl.Set, on_x: Entry) -> ExactBounds:
    return exact_bounds(instances, isl.Set(on_x["known"]["isl"]))


@pytest.fixture
def compressed(instances: isl.Set) -> Compressed:
    return compress(instances)


@pytest.fixture
def compressed_bounds(compressed: Compressed, on_x: Entry) -> ExactBounds:
    return exact_bounds(compressed.set, isl.Set(on_x["known"]["isl"]))


@pytest.fixture
def hull_y(placement: isl.Map) -> BoxHull:
    accessed = bind_placement(placement, INSTANCES).apply(WRITE_Y)
    hull = box_hull(accessed, None, PE_NAMES, quasi_affine=True)
    assert hull is not None
    return hull


def test_eq_07_accessed_elements_of_y(
    placement: isl.Map, allocation: Entry, must_equal: MustEqual
) -> None:
    accessed = bind_placement(placement, INSTANCES).apply(WRITE_Y)
    must_equal(unbind_set(accessed, "PE", PE_NAMES), allocation["accessed"])


def test_section_4_3_size_and_offset_of_y_local(
    hull_y: BoxHull, allocation: Entry, must_equal: MustEqual
) -> None:
    must_equal(size_set(hull_y), allocation["size"])
    must_equal(unbind_set(offset_set(hull_y), "PE", PE_NAMES), allocation["offset"])


def test_eq_08_global_to_local_y(
    hull_y: BoxHull, allocation: Entry, must_equal: MustEqual
) -> None:
    relation = unbind_domain(local_map(hull_y, "y_local"), "PE", PE_NAMES)
    must_equal(relation, allocation["to_local"])


def test_eq_09_global_to_local_y_bound(
    hull_y: BoxHull, allocation: Entry, must_equal: MustEqual
) -> None:
    must_equal(local_map(hull_y, "y_local"), allocation["to_local_bound"])


def test_eq_11_bound_placement(placement: isl.Map, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(bind_placement(placement, INSTANCES), on_x["bound_placement"])


def test_eq_12_instance_set(instances: isl.Set, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(instances, on_x["instances"])


def test_eq_13_minimum(
    instances: isl.Set, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(instances, bounds.minimum), on_x["minimum"], on_x["known"])


def test_eq_14_maximum(
    instances: isl.Set, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(instances, bounds.maximum), on_x["maximum"], on_x["known"])


def test_eq_15_known_constraints(
    bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bounds.domain, on_x["known"])


def test_eq_16_size(
    instances: isl.Set, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(instances, bounds.size), on_x["size"], on_x["known"])


def test_example_5_2_dense_box_of_fixed_size(bounds: ExactBounds) -> None:
    assert bounds.is_box
    sizes = fixed_size(bounds, ["index"])
    assert sizes is not None
    assert [str(size) for size in sizes] == [
        "[PE_X, PE_Y] -> { [(8)] }",
        "[PE_X, PE_Y] -> { [(1)] }",
    ]


def test_eq_18_compression(compressed: Compressed, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(compressed.map, on_x["compression"])


def test_eq_19_compressed_instance_set(
    compressed: Compressed, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(compressed.set, on_x["compressed"])


def test_eq_20_bounds_of_compressed_instance_set(
    compressed: Compressed, compressed_bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    least = bound_set(compressed.set, compressed_bounds.minimum)
    greatest = bound_set(compressed.set, compressed_bounds.maximum)
    must_equal(least, on_x["compressed_minimum"], on_x["known"])
    must_equal(greatest, on_x["compressed_maximum"], on_x["known"])


def test_eq_21_size_of_compressed_instance_set(
    compressed: Compressed, compressed_bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    size = bound_set(compressed.set, compressed_bounds.size)
    must_equal(size, on_x["compressed_size"], on_x["known"])
    assert compressed_bounds.is_box


def test_example_5_8_box_hull_without_extra_instances(
    compressed: Compressed, on_x: Entry, must_equal: MustEqual
) -> None:
    hull = box_hull(compressed.set)
    assert hull is not None
    must_equal(offset_set(hull), on_x["hull"]["offset"])
    must_equal(size_set(hull), on_x["hull"]["size"])
    approximated = as_set(hull, compressed.set.params())
    assert extra_instances(approximated, compressed.set).is_empty() == on_x["hull"]["extra_empty"]


def test_example_5_1_elements_of_x_at_index_values(on_x: Entry) -> None:
    arriving = bind_range(isl.Map(on_x["order"]), index_names(1))
    assert arriving.is_equal(isl.Set("[index] -> { x[index] : 0 <= index <= 15 }"))
    reading = arriving.apply(READ_X.reverse())
    assert reading.is_equal(isl.Set("[index] -> { ff[i, index] : 0 <= index <= 15 }"))
