"""The 2D convolution: Example 5.6."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from stages.poly.bounds import exact_bounds, fixed_size
from stages.poly.compression import compress
from stages.poly.slice import instance_set

INSTANCES = isl.Set("{ C[k=0:1, w=0:13, h=0:13, rw=0:2, rh=0:2] }")
READ_X = isl.Map("{ C[k, w, h, rw, rh] -> x[w + rw, h + rh] }")

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture
def on_x(golden: Entry) -> Entry:
    return golden["conv2d"]["on_x"]


@pytest.fixture
def instances(golden: Entry, on_x: Entry) -> isl.Set:
    placement = isl.Map(golden["conv2d"]["placement"])
    return instance_set(placement, INSTANCES, READ_X, isl.Map(on_x["order"]))


def test_eq_27_instance_set(instances: isl.Set, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(instances, on_x["instances"])


def test_eq_28_compression(instances: isl.Set, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(compress(instances).map, on_x["compression"])


def test_eq_29_compressed_instance_set(
    instances: isl.Set, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(compress(instances).set, on_x["compressed"])


def test_example_5_6_box_of_varying_size(instances: isl.Set) -> None:
    bounds = exact_bounds(compress(instances).set, isl.Set("{ : }"))
    assert bounds.is_box
    assert fixed_size(bounds, ["index0", "index"]) is None
