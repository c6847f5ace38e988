"""The networks from graphs that are shipped, whole: their own data, others, and integers."""

import json

import numpy as np
import pytest

from tests.bench.graphs import turn_weights
from tests.e2e.conftest import ROOT

pytestmark = pytest.mark.long
SIMULATED = {"receive", "simulate"}
"""The stages of parts that run where only values are others."""

BY_HAND = 1.07 * 13952
"""The cycles until the first result that lenet may take on one fabric: by hand it was 13 952."""


def built(space, name):
    """Build a network; return the stages of parts that ran, and what it gave."""
    ran = space.build(name)
    results = json.loads(space.read(f"projects/{name}/build/results.json"))
    assert all(part["right"] for part in results["parts"].values())
    return {task.partition(":")[2] for task in ran if "/" in task}, results


def only(results):
    (check,) = results["check"].values()
    return check


@pytest.fixture
def shipped(space, request):
    """A workspace with a network of projects/, without what was built of it."""
    space.write("dodo.py", (ROOT / "dodo.py").read_text(encoding="utf-8"))
    space.copy(ROOT / "projects" / request.param, f"projects/{request.param}")
    return space


@pytest.mark.parametrize("shipped", ["lenet"], indirect=True)
def test_lenet_in_onnx_is_what_the_reference_gives(shipped):
    """With its own weights, other inputs, other weights, and integers: then bit for bit."""
    _, first = built(shipped, "lenet")
    assert first["against"] == "onnx.reference" and only(first)["right"]
    assert first["fabric"]["pes"] == [43, 8] and first["fabric"]["first"] <= BY_HAND
    inputs = shipped.root / "projects/lenet/inputs"
    inputs.mkdir()
    image = np.random.default_rng(5).uniform(0, 255, (1, 1, 28, 28)).astype("f4")
    np.save(inputs / "Input3.npy", image)
    stages, second = built(shipped, "lenet")
    assert stages == SIMULATED and second["data"] == {"Input3": "inputs/Input3.npy"}
    assert only(second)["right"] and not only(second)["exact"]
    turn_weights(shipped.root / "projects/lenet/lenet.onnx")
    stages, third = built(shipped, "lenet")
    assert stages == SIMULATED and only(third)["right"]
    (inputs / "Input3.npy").unlink()
    shipped.write("projects/lenet/network.yaml", "data: {kind: integers}\n")
    stages, last = built(shipped, "lenet")
    assert stages == SIMULATED
    assert only(last) == {"exact": True, "right": True, "max_abs_error": 0.0}
    assert {part: each["cycles"] for part, each in last["parts"].items()} == {
        part: each["cycles"] for part, each in first["parts"].items()
    }


@pytest.mark.parametrize("shipped", ["lenet"], indirect=True)
@pytest.mark.parametrize(("banks", "most"), [(0, 1.07 * 9353), (4, 11257)])
def test_the_second_convolution_of_lenet_on_fewer_pes(shipped, banks, most):
    """With its pool on 17 x 7 PEs; by hand it took 9 353 on a machine where no reads met in a bank.
    """
    shipped.write(
        "projects/lenet/network.yaml",
        f"machine: {{profile: wse2, read_banks: {banks}}}\n"
        'parts: {conv2: {target: "{ PE[17, 7] }"}}\n',
    )
    _, found = built(shipped, "lenet")
    assert only(found)["right"] and found["parts"]["conv2"]["cycles"]["simd"] <= most


@pytest.mark.parametrize("shipped", ["lenet_tensorflow"], indirect=True)
def test_lenet_of_tensorflow_is_what_tensorflow_computed(shipped):
    """With the input that TensorFlow had; another one, and integers, are compared with NumPy."""
    _, first = built(shipped, "lenet_tensorflow")
    assert first["against"] == "outputs/" and only(first)["right"]
    assert only(first)["max_abs_error"] < 1e-6
    for file in (shipped.root / "projects/lenet_tensorflow").glob("*puts/*.npy"):
        file.unlink()
    stages, second = built(shipped, "lenet_tensorflow")
    assert stages == SIMULATED and only(second)["right"]
    assert second["note"].endswith("outputs/ has nothing of TensorFlow")
    shipped.write("projects/lenet_tensorflow/network.yaml", "data: {kind: integers}\n")
    stages, last = built(shipped, "lenet_tensorflow")
    assert stages == SIMULATED and only(last)["right"]
    assert all(part["exact"] for name, part in last["parts"].items() if name != "softmax1")
