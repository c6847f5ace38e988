"""V, the 2D convolution: Ex. 5.6."""

from collections.abc import Callable
from typing import Any

import pytest

from lairmake.stages.poly.box import exact_bounds, find_fixed_size
from tests.paper.written import Written

pytestmark = pytest.mark.xdist_group("paper")

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture(scope="module")
def conv2d(write: Callable[..., Written]) -> Written:
    return write("conv2d")


@pytest.fixture(scope="module")
def on_x(golden: Entry) -> Entry:
    return golden["conv2d"]["on_x"]


def test_eq_27_instance_set(conv2d: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(conv2d.set("instances.isl", "on_x"), on_x["instances"])


def test_eq_28_compression(conv2d: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(conv2d.map("compressions.isl", "on_x_compression"), on_x["compression"])


def test_eq_29_compressed_instance_set(
    conv2d: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(conv2d.set("compressions.isl", "on_x"), on_x["compressed"])


def test_example_5_6_box_of_varying_size(conv2d: Written) -> None:
    known = conv2d.set("instances.isl", "on_x_known")
    bounds = exact_bounds(conv2d.set("compressions.isl", "on_x"), known)
    assert bounds.is_box
    assert find_fixed_size(bounds, ["index0", "index"]) is None
