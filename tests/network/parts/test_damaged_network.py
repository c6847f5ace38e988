"""A damaged network.yaml beside a graph is read or refused, by every stage that reads it first."""

import random

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import supply
from tests.property.mutator import damage

TEXT = """c = Conv<pads=[1, 1, 1, 1]>(x, w)
r = Relu(c)
f = Flatten(r)
y = Gemm<transB=1>(f, v)"""
NETWORK = """\
graph: g.onnx
machine: {profile: wse2, lanes: 8}
type: float32
sizes: {batch: 1}
target: "{ PE[4, 4] }"
goal: cycles
data: {kind: integers, seed: 3}
invocations: 2
run: whole
floorplan: {conv1: "PE[0, 0]"}
parts:
  conv1:
    placement: "(k, i)"
    tensors:
      y: {leaves: "{ y[k, i] -> [PE[4, i] -> index[k]] }"}
  gemm1: {goal: area, target: "{ PE[2, 2] }", simd: {prefer: hull}, machine: wse3}
"""


@pytest.fixture
def written(graph):
    """The folder of a graph that leaves the number of samples open."""
    known = {"w": np.ones((2, 1, 3, 3), "f4"), "v": np.ones((3, 32), "f4")}
    model = make_model(TEXT, {"x": (1, 1, 4, 4)}, known)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    return graph.write(model.SerializeToString())


def check(folder, count, seed):
    """Fail where a damaged text is neither taken nor refused."""
    draw, taken = random.Random(seed), 0
    for _ in range(count):
        kept = [line for line in NETWORK.split("\n") if draw.random() < 0.6]
        content = damage("network.yaml", ("\n".join(kept) + "\n").encode(), draw)
        (folder.path / "network.yaml").write_bytes(content)
        try:
            supply(folder.build())
            taken += 1
        except (UserError, UserErrors):
            continue
    assert 0 < taken < count


@pytest.mark.wide
def test_a_damaged_network_yaml_is_taken_or_refused(written):
    check(written, 40, 6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_damaged_ones_are_taken_or_refused(written, seed):
    check(written, 1000, seed)
