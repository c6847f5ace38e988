"""Iterators of parts have names that people know, alike in all statements of a part."""

import re

import pytest

from lairmake.stages.make.core.action import run_stage
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import parts_of
from tests.network.parts.test_parts import LENET, weights

NAMED = {
    "a place is i, where there is one": ("Conv(x, w)", (2, 3, 7), (4, 3, 3), "n, k, i, c, a"),
    "a row of places is j": ("Conv(x, w)", (1, 2, 3, 5), (3, 2, 3, 3), "k, j, c, a, b"),
    "channels of a group are k, and groups g": (
        "Conv<group=2>(x, w)", (1, 4, 5, 5), (6, 2, 3, 3), "g, k, i, j, c, a, b",
    ),
    "windows of a transposed convolution are where it starts": (
        "ConvTranspose<strides=[2,2]>(x, w)", (1, 2, 3, 3), (2, 3, 2, 2), "k, i, j, c, a, b",
    ),
    "a product is a matrix": ("MatMul(x, w)", (4, 5), (5, 3), "i, j, c"),
    "a vector is along i": ("Mul(x, w)", (4,), (4,), "i"),
}


def loops_of(part):
    """Return the iterators of each statement of a part."""
    return re.findall(r"all \((.*)\) in", part["lair"])


@pytest.mark.parametrize("name", NAMED)
def test_iterators_have_names_that_people_know(graph, name):
    text, x, w, wanted = NAMED[name]
    model = make_model(f"y = {text}", {"x": x}, weights(w=w))
    folder = graph.write(model.SerializeToString()).build()
    run_stage("split", folder)
    (part,) = parts_of(folder).values()
    assert [set(each.split(", ")) for each in loops_of(part)] == [set(wanted.split(", "))]


def test_a_direction_is_one_of_a_convolution_and_of_the_pooling_after_it(graph):
    folder = graph.write(LENET.read_bytes(), name="lenet.onnx").build()
    run_stage("split", folder)
    found = parts_of(folder)
    assert loops_of(found["conv2"]) == [
        "k, i, j, c, a, b", "k, i, j", "k, i, j", "k, i, j, a, b",
    ]
    assert "y[0][k][i][j] max= relu_2[0][k][3*i + a][3*j + b]" in found["conv2"]["lair"]
    assert loops_of(found["matmul1"]) == ["j, c, a, b", "j"]


def test_what_runs_along_a_dimension_has_one_name_in_all_statements(graph):
    """Those of a softmax, and of the tensors between two products, whatever is summed."""
    model = make_model("y = Attention(q, k, v)", dict.fromkeys("qkv", (1, 2, 4, 3)), {}, 23)
    folder = graph.write(model.SerializeToString()).build()
    run_stage("split", folder)
    (part,) = parts_of(folder).values()
    first, *between, last = loops_of(part)
    assert (first, last) == ("k, i, j, c", "k, i, g, j")
    assert set(between) == {"k, i, j"}
