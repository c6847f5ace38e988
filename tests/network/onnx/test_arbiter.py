"""Models by onnxruntime, no part of ONNX: it arbitrates where ONNX's reference is wrong."""

import random

import numpy as np
import pytest

from tests.network.onnx.drawing import Drawn, attributes, maybe
from tests.network.onnx.graphs import extracted, make_model, values
from tests.network.onnx.random_models import KINDS, windows
from tests.network.onnx.test_random_graphs import drawn, is_right
from tests.network.onnx.test_random_models import make_values

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def run():
    """Run a model by onnxruntime, as it is, or skip the tests where it is not installed."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4

    def run(model, inputs):
        content = model.SerializeToString()
        session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
        return session.run(None, inputs)

    return run


def transposed(draw):
    """A transposed convolution in groups, with dilations, and padding at the end."""
    rank, groups = draw.randint(1, 2), draw.randint(1, 3)
    sizes, kernel, given = windows(draw, rank)
    given["strides"] = [draw.randint(1, 3) for _ in range(rank)]
    given["output_padding"] = maybe(draw, [draw.randint(0, s - 1) for s in given["strides"]])
    channels = groups * draw.randint(1, 2)
    inputs = {"x": (1, channels, *sizes), "w": (channels, draw.randint(1, 2), *kernel)}
    return Drawn(text=f"y = ConvTranspose{attributes(group=groups, **given)}(x, w)", inputs=inputs)


def pooling(draw):
    """A pooling whose windows begin or end outside, rounded up or not."""
    rank, name = draw.randint(1, 2), draw.choice(["MaxPool", "AveragePool"])
    sizes, kernel, given = windows(draw, rank)
    if name == "AveragePool":
        given["count_include_pad"] = draw.randint(0, 1)
    kind = attributes(kernel_shape=kernel, ceil_mode=draw.randint(0, 1), **given)
    return Drawn(text=f"y = {name}{kind}(x)", inputs={"x": (1, 2, *sizes)})


def check(run, kinds, count, seed):
    """Compare random models of one operator."""
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        found = kinds[number % len(kinds)](draw)
        model = make_model(found.text, found.inputs, found.known, 21)
        given = make_values(found, draw, draw.random() < 0.5)
        (wanted,) = run(model, given)
        (got,) = values(extracted(model), given)
        assert got.shape == wanted.shape, found
        assert np.allclose(got, wanted, rtol=1e-3, atol=1e-5, equal_nan=True), found


def test_what_the_reference_computes_wrongly(run):
    check(run, [transposed, pooling], 100, 4)


def test_one_operator(run):
    check(run, KINDS, 300, 5)


def test_several_operators(run):
    for number in range(100):
        graph = drawn(6, number, 10)
        model = graph.model()
        found = values(extracted(model), graph.given())
        for got, wanted in zip(found, run(model, graph.given()), strict=True):
            assert is_right(graph, got, wanted), "\n".join(graph.lines)
