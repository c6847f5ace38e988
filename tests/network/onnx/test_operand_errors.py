"""Operands, results and weights of a graph that do not fit its operators."""

import numpy as np
import pytest
from onnx import helper

from tests.network.onnx.graphs import make_model


def nodes(text, inputs, known=(), **more):
    return make_model(text, inputs, dict(known), **more)


def split():
    """A split whose attribute does not count all of its results."""
    model = make_model("p, q = Split<num_outputs=2>(x)\ny = Add(p, q)", {"x": (6,)}, {})
    model.graph.node[0].output.append("w")
    return model


def left_out():
    model = nodes("y = Relu(x)", {"x": (2, 3)})
    model.graph.node[0].CopyFrom(helper.make_node("Concat", ["x", "", "x"], ["y"], axis=0))
    return model


def weights(**changes):
    model = make_model("y = Add(x, w)", {"x": (3,)}, {"w": np.ones(3, "f4")})
    for name, value in changes.items():
        setattr(model.graph.initializer[0], name, value)
    return model


ERRORS = {
    "channels that do not fit": (
        nodes("y = Conv(x, w)", {"x": (1, 2, 4)}, {"w": np.ones((1, 3, 2), "f4")}), """\
error: g.onnx: node y (Conv): it reads more of x than there is: 1 x 2 x 4
hint: do its operands and attributes fit each other?
"""),
    "a bias that is none": (
        nodes("y = Conv(x, w, x)", {"x": (1, 1, 4)}, {"w": np.ones((1, 1, 2), "f4")}), """\
error: g.onnx: node y (Conv): it reads more of x than there is: 1 x 1 x 4
hint: do its operands and attributes fit each other?
"""),
    "groups that channels do not make": (
        nodes("y = Conv<group=2>(x, w)", {"x": (1, 2, 4)}, {"w": np.ones((3, 1, 2), "f4")}), """\
error: g.onnx: node y (Conv): it cannot be read: 3 channels are no 2 groups
hint: do its operands and attributes fit each other?
"""),
    "heads that do not fit": (
        nodes("y = Attention(q, k, v)", {"q": (1, 3, 2, 2), "k": (1, 2, 2, 2), "v": (1, 2, 2, 2)},
              opset=24), """\
error: g.onnx: node y (Attention): it cannot be read: 3 heads are no multiple of 2
hint: do its operands and attributes fit each other?
"""),
    "an operand that is left out": (left_out(), """\
error: g.onnx: node y (Concat): operand 2 is left out
hint: is the graph whole?
"""),
    "results of a split that nobody counted": (split(), """\
error: g.onnx: node p (Split): it has 3 results, and not 2
hint: is it an ONNX file, and whole?
"""),
    "weights of no type": (weights(data_type=77), """\
error: g.onnx: w is no tensor: its type has the number 77, which ONNX has not
hint: is it an ONNX file, and whole?
"""),
    "weights of too many bytes": (weights(raw_data=b"1234" * 9), """\
error: g.onnx: w is no tensor: it holds not the values of float32 [3]
hint: is it an ONNX file, and whole?
"""),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_said(graph, name):
    model, text = ERRORS[name]
    assert graph.write(model.SerializeToString()).error() == text
