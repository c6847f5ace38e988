"""Parts of which no PEs have room are cut; what is cut computes the same in test_parts.py."""

import pytest

from tests.network.onnx.graphs import make_model
from tests.network.onnx.networks import make_resnet
from tests.network.parts.in_numpy import parts_of
from tests.network.parts.test_parts import CUT, MODELS, NETWORKS, supplied, weights


@pytest.mark.wide
def test_what_is_cut_says_why_and_its_pieces_are_alike(graph):
    text, inputs, known, _ = MODELS[CUT]
    found = parts_of(supplied(graph, make_model(text, inputs, known), NETWORKS[CUT]))
    assert found["conv1_2"]["why"] == (
        "Conv, node 1; Relu after it stay on its PEs; piece 2 of 2 along dimension 1, for all of "
        "it takes 2736 bytes on a PE at least, and 1800 are for that on each of 2 x 2"
    )
    assert found["conv1_2"]["piece"] == {
        "volume": "r", "offset": "{ [q0, q1, q2, q3] -> [(0), (4), (0), (0)] }",
        "stride": [1, 1, 1, 1], "size": [1, 4, 5, 5],
    }
    assert found["conv1_1"]["lair"] == found["conv1_2"]["lair"]
    assert found["conv2_2"]["lair"] == found["conv2_3"]["lair"]
    assert list(found["conv2_2"]["arrives"]["x"]["from"]) == ["conv1_1.y", "conv1_2.y"]


@pytest.mark.wide
def test_parts_of_a_residual_network_are_alike(graph):
    """A sum of two parts is a part; a normalisation of batches stays with its convolution."""
    found = parts_of(supplied(graph, make_resnet(width=8, image=32, classes=10)))
    assert (len(found), len({each["lair"] for each in found.values()})) == (31, 22)
    assert found["conv2"]["why"] == (
        "Conv, node 5; BatchNormalization, Relu after it stay on its PEs"
    )
    sources = [list(each["from"]) for each in found["add3"]["arrives"].values()]
    assert sources == [["conv7.y"], ["conv8.y"]]


def test_what_has_no_room_in_pieces_either_is_not_cut(graph):
    """The search says what it lacks."""
    network = "machine: {profile: wse2, memory: 12300}\ntarget: '{ PE[2, 2] }'\n"
    model = make_model("y = MatMul(x, w)", {"x": (1, 64)}, weights(w=(64, 2)))
    assert list(parts_of(supplied(graph, model, network))) == ["matmul1"]
