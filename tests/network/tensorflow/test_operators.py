"""Each operator of TensorFlow and each attribute: values are those that TensorFlow computed."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages.network.tensorflow.reader import FOLDED, GIVEN, OPERATORS
from tests.network.tensorflow.cases import PLACES, ROWS
from tests.network.tensorflow.graphs import digest, draw, extracted, make_graph, values, written

RESULTS = np.load(Path(__file__).parent / "results.npz")
TO_NCHW = (0, 3, 1, 2)


def result_of(graph, given):
    """Return what TensorFlow computed of a graph; record.py has it do so."""
    return RESULTS[digest(written(graph), given)]


def check(found, given, wanted):
    (got,) = values(found, given).values()
    assert got.shape == wanted.shape
    assert np.allclose(got, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.wide_after(77)
@pytest.mark.parametrize(("text", "inputs", "known"), ROWS, ids=[row[0] for row in ROWS])
def test_values_are_those_of_tensorflow(text, inputs, known):
    given, fixed = draw(inputs, known)
    graph = make_graph(text, inputs, fixed)
    check(extracted(graph), given, result_of(graph, given))


def turned(text):
    """Return a node that has the channel behind the sample."""
    def turn(match):
        given = ast.literal_eval(match[2])
        pairs = len(given) == 8
        quads = np.array(given).reshape(4, 2) if pairs else np.array(given)
        return f"{match[1]}={quads[list(TO_NCHW)].ravel().tolist()}"

    layout = 'data_format="NCHW"'
    text = re.sub(r"(\w+)=(\[.*?\])", turn, text)
    return text.replace("<", f"<{layout}, ") if "<" in text else text.replace("(", f"<{layout}>(")


@pytest.mark.parametrize(("text", "inputs", "known"), PLACES, ids=[row[0] for row in PLACES])
def test_values_are_the_same_with_channels_first(text, inputs, known):
    given, fixed = draw(inputs, known)
    wanted = result_of(make_graph(text, inputs, fixed), given).transpose(TO_NCHW)
    given["x"] = given["x"].transpose(TO_NCHW)
    shapes = {name: array.shape for name, array in given.items()}
    check(extracted(make_graph(turned(text), shapes, fixed)), given, wanted)


def test_dilations_of_channels_by_themselves_are_those_of_all():
    """TensorFlow computes them on no CPU."""
    rng = np.random.default_rng(1)
    x, w = (rng.normal(size=s).astype("f4") for s in ((1, 7, 6, 3), (3, 2, 3, 2)))
    steps = 'strides=[1, 1, 1, 1], dilations=[1, 2, 3, 1], padding="SAME"'
    whole = np.zeros((3, 2, 3, 6), "f4")
    for c in range(3):
        whole[:, :, c, 2 * c : 2 * c + 2] = w[:, :, c]
    text = f"y = Conv2D<{steps}>(x, w)"
    wanted = values(extracted(make_graph(text, {"x": x.shape}, {"w": whole})), {"x": x})["y"]
    text = f"y = DepthwiseConv2dNative<{steps}>(x, w)"
    check(extracted(make_graph(text, {"x": x.shape}, {"w": w})), {"x": x}, wanted)


def used():
    return {name for row in ROWS for name in re.findall(r"= (\w+)[<(]", row[0])}


def test_every_operator_that_is_known_is_among_these():
    assert (OPERATORS.keys() | FOLDED) - used() == set()


def test_the_document_lists_all_of_them():
    text = (Path(__file__).parents[3] / "docs" / "graphs.md").read_text("utf-8")
    for kind, names in (("tensorflow", {*OPERATORS, *GIVEN}), ("folded", FOLDED)):
        listed = text.partition(f"<!-- {kind}:")[2].partition("<!-- end")[0].partition("-->")[2]
        assert re.findall(r"`(\w+)`", listed) == sorted(names)
