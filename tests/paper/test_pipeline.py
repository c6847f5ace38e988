"""V, all layers through the stages: what a user gives, and what simd decides."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from tests.paper.written import Written

pytestmark = pytest.mark.xdist_group("paper")
layers = pytest.mark.parametrize("layer", ["fc", "conv1d", "conv2d", "pointwise"])

Write = Callable[..., Written]
Entry = dict[str, Any]


@layers
def test_ports_of_the_layer_are_those_of_the_golden_data(
    layer: str, golden: Entry, write: Write
) -> None:
    mapping = write(layer).mapping
    for key, tensor in (("arrives", "x"), ("leaves", "y")):
        expected = isl.UnionMap(golden[layer][key][tensor])
        assert isl.UnionMap(mapping["tensors"][tensor][key]).is_equal(expected)
    assert isl.Set(mapping["target"]).is_equal(isl.Set(golden[layer]["target"]))


@layers
def test_vector_instruction_of_on_x(layer: str, golden: Entry, write: Write) -> None:
    decision = write(layer).simd("on_x")
    assert {key: decision[key] for key in ("by", "sizes")} == golden[layer]["on_x"]["simd"]


def test_pointwise_is_guarded_where_its_columns_meet_no_instance(write: Write) -> None:
    guard = isl.Set(write("pointwise").simd("on_x")["guard"])
    known = write("pointwise").set("instances.isl", "on_x_known")
    expected = isl.Set("[PE_X, index1] -> { : index1//4 = PE_X//2 }")
    assert guard.intersect(known).is_equal(expected.intersect(known))


@layers
def test_ways_of_the_paper_do_not_go_by_cycles(layer: str, golden: Entry, write: Write) -> None:
    """Where a vector instruction costs more than all loops together, each way stays the paper's."""
    dear = write(layer, machine={"profile": "wse2", "vector_start_up": 100000, "address": 0})
    here = write(layer)
    for task in here.tasks():
        assert dear.simd(task).get("by") == here.simd(task).get("by")
    assert dear.simd("on_x")["by"] == golden[layer]["on_x"]["simd"]["by"]
    assert dear.simd("on_x")["cycles"] > dear.simd("on_x")["others"]["loops"]["cycles"]
