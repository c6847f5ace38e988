"""Operators that stand in for those of ONNX's reference: windows as they are defined."""

import numpy as np
import pytest

from lairmake.stages.network.onnx.node import evaluator
from tests.network.onnx.drawing import attributes
from tests.network.onnx.graphs import extracted, make_model, values

ROW = np.float32([[[3, 1, 2, 9, 4, 5]]])
SMALLER = {"x": (1, 1, 6)}
WINDOWS = {
    "y = MaxPool<kernel_shape=[3], pads=[1, 1]>(x)": [3, 3, 9, 9, 9, 5],
    "y = MaxPool<kernel_shape=[3], pads=[2, 0]>(x)": [3, 3, 3, 9, 9, 9],
    "y = MaxPool<kernel_shape=[3], pads=[0, 2], ceil_mode=1>(x)": [3, 9, 9, 9, 5, 5],
    "y = MaxPool<kernel_shape=[2], strides=[4], ceil_mode=1>(x)": [3, 5],
    "y = MaxPool<kernel_shape=[2], strides=[5], ceil_mode=1, pads=[0, 1]>(x)": [3, 5],
    "y = MaxPool<kernel_shape=[2], dilations=[3]>(x)": [9, 4, 5],
    'y = MaxPool<kernel_shape=[3], auto_pad="SAME_LOWER", strides=[2]>(x)': [3, 9, 9],
    'y = MaxPool<kernel_shape=[4], auto_pad="SAME_LOWER">(x)': [3, 3, 9, 9, 9, 9],
    'y = MaxPool<kernel_shape=[4], auto_pad="SAME_UPPER">(x)': [3, 9, 9, 9, 9, 5],
    'y = MaxPool<kernel_shape=[4], auto_pad="VALID", strides=[2]>(x)': [9, 9],
    "y = AveragePool<kernel_shape=[4], strides=[4], ceil_mode=1>(x)": [3.75, 4.5],
    "y = AveragePool<kernel_shape=[4], strides=[4], pads=[1, 1]>(x)": [2, 6],
    "y = AveragePool<kernel_shape=[4], strides=[4], pads=[1, 1], count_include_pad=1>(x)":
        [1.5, 4.5],
    "y = AveragePool<kernel_shape=[4], strides=[3], pads=[1, 1], count_include_pad=1, ceil_mode=1>"
    "(x)": [1.5, 5, 2.5],
    'y = AveragePool<kernel_shape=[3], auto_pad="SAME_UPPER", strides=[3]>(x)': [2, 6],
}


@pytest.mark.parametrize("text", WINDOWS)
def test_windows_of_a_row(text):
    model = make_model(text, SMALLER, {}, 22)
    (found,) = evaluator(model).run(None, {"x": ROW})
    assert found.ravel().tolist() == np.float32(WINDOWS[text]).tolist()
    assert np.array_equal(values(extracted(model), {"x": ROW})[0], found)


STEPS = [  # and what the first of 3 x 2 elements begins at, and how many places there are
    ({"group": 2, "dilations": [2, 1], "strides": [1, 3]}, (0, 0), (5, 5)),
    ({"group": 2, "strides": [2, 2], "pads": [1, 0, 0, 1], "output_padding": [1, 0]}, (-1, 0),
     (6, 3)),
    ({"auto_pad": "SAME_UPPER", "strides": [1, 2]}, (0, 0), (3, 4)),
    ({"auto_pad": "SAME_LOWER", "strides": [1, 2]}, (-1, 0), (3, 4)),
    ({"auto_pad": "VALID", "strides": [2, 1]}, (0, 0), (6, 3)),
    ({"output_shape": [4, 4], "strides": [2, 3]}, (-1, -1), (4, 4)),
]


@pytest.mark.parametrize("k", range(len(STEPS)))
def test_a_transposed_convolution_adds_windows(k):
    said, (top, left), (rows, columns) = STEPS[k]
    draw, groups = np.random.default_rng(1), said.get("group", 1)
    x, w = (draw.normal(size=s).astype("f4") for s in ((1, 4, 3, 2), (4, 3, 2, 2)))
    b = np.arange(3 * groups, dtype="f4")
    wanted = np.zeros((1, len(b), rows, columns)) + b[:, None, None]
    (s, t), (d, e) = (said.get(name, [1, 1]) for name in ("strides", "dilations"))
    for c, i, j, m, p, q in np.ndindex(4, 3, 2, 3, 2, 2):
        row, column = top + s * i + d * p, left + t * j + e * q
        if 0 <= row < rows and 0 <= column < columns:
            wanted[0, c * groups // 4 * 3 + m, row, column] += float(x[0, c, i, j]) * w[c, m, p, q]
    given = {"x": x, "w": w, "b": b}
    shapes = {name: array.shape for name, array in given.items()}
    model = make_model(f"y = ConvTranspose{attributes(**said)}(x, w, b)", shapes, {})
    for (found,) in evaluator(model).run(None, given), values(extracted(model), given):
        assert found.shape == wanted.shape
        assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_constant_is_pooled_as_it_is_defined():
    """What depends on no input is computed by the same operators."""
    text = "p = MaxPool<kernel_shape=[3], pads=[1, 1]>(c)\ny = Add(x, p)"
    model = make_model(text, SMALLER, {"c": ROW})
    (got,) = values(extracted(model), {"x": np.zeros_like(ROW)})
    assert got.ravel().tolist() == [3, 3, 9, 9, 9, 5]


def test_older_opsets_say_less():
    model = make_model("y = MaxPool<kernel_shape=[2]>(x)", SMALLER, {}, 7)
    (found,) = evaluator(model).run(None, {"x": ROW})
    assert found.ravel().tolist() == [3, 2, 9, 9, 5]
