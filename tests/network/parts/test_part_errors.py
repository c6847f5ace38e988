"""What is wrong with a graph where it is split into parts, and with what a user says of these."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from lairmake.stages import ANALYSES, SEARCHED
from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.declaration import declaration, texts_of
from lairmake.stages.mapping.network_yaml import PinnedOfPart
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import parts_of, supply

WSE2 = Path(__file__).resolve().parents[3] / "stages/machine/profiles/wse2.yaml"


def test_a_part_that_there_is_not_is_named(graph):
    content = make_model("y = Relu(x)", {"x": (3,)}, {}).SerializeToString()
    said = "parts: {rel: {goal: area}}\nrun: whole\nfloorplan: {ad1: 'PE[0, 0]'}\n"
    folder = graph.write(content, said).build()
    with pytest.raises(UserErrors) as caught:
        run_stage("split", folder)
    assert str(caught.value).replace(f"{graph.path}/", "") == """\
network.yaml:1:9: error: unknown part rel
  parts: {rel: {goal: area}}
          ^^^
hint: did you mean relu1?

network.yaml:3:13: error: unknown part ad1
  floorplan: {ad1: 'PE[0, 0]'}
              ^^^
hint: parts: relu1
"""


SAID = """parts:
  matmul1:
    placement: "(z)"
    tensors: {q: {arrives: true}, y: {arrives: true}}
    schedule: "{ foo[i] -> [i] }"
    search: [bar]
    analysis: {outputs: [r]}
"""


def test_all_that_parts_have_not_is_named_once_these_are_known(graph):
    """Nothing is searched before, and the place is the one in network.yaml."""
    model = make_model("y = MatMul(x, w)", {"x": (2, 3)}, {"w": np.ones((3, 2), "f4")})
    folder = graph.write(model.SerializeToString(), SAID).build()
    with pytest.raises(UserErrors) as caught:
        run_stage("split", folder)
    found = [(each.span.line, each.message) for each in caught.value.errors]
    assert found == [
        (3, "make_y has no iterator z"),
        (4, "unknown tensor q"),
        (4, "y is an output and cannot arrive"),
        (5, "schedule names foo, which is no statement"),
        (6, "search names statements, and placement says of no other one where it runs"),
        (6, "search names bar, which is no statement"),
        (7, "unknown volume r"),
    ]


def test_all_that_is_wrong_without_the_graph_is_said_before_it_is_read(graph):
    said = """machine: wse9
target: "{ PE[0, 4] }"
parts:
  a: {machine: wse8, target: "{ PQ[2, 2] }", probes: {y: "{ PE[0 }"}}
  b: {tensors: {x: {arrives: "{ x[ -> }"}}}
  c: ../nothing
"""
    error = graph.write(b"damaged", said).error()
    assert [line for line in error.splitlines() if "error:" in line] == [
        "network.yaml:1:10: error: unknown profile wse9",
        "network.yaml:2:10: error: target is 0 by 4 PEs",
        "network.yaml:4:16: error: unknown profile wse8",
        "network.yaml:4:31: error: target is not the size of a rectangle of PEs",
        "network.yaml:4:66: error: isl: syntax error: unexpected '}'",
        "network.yaml:5:36: error: isl: syntax error: unexpected '->'",
        "network.yaml:6:3: error: ../nothing holds no layer.yaml",
    ]


def test_a_text_that_no_stage_of_a_part_writes_cannot_be_pinned(graph):
    error = graph.write(b"damaged", "parts: {a: {pin: [foo.isl]}}\n").error()
    assert error.startswith("network.yaml:1:19: error: parts.a.pin.0 must be 'lair.isl', ")
    assert set(get_args(PinnedOfPart)) == set(
        texts_of(name for stage in SEARCHED + ANALYSES for name in declaration(stage).writes))


def test_a_machine_of_a_part_may_be_a_file_beside_network_yaml(graph):
    (graph.path / "mine.yaml").write_text(WSE2.read_text())
    model = make_model("y = Relu(x)", {"x": (3,)}, {})
    said = "parts: {relu1: {machine: mine.yaml}}\n"
    folder = graph.write(model.SerializeToString(), said).build()
    supply(folder)
    text = (folder.build / "parts/relu1/layer.yaml").read_text()
    assert "machine: ../../../mine.yaml\n" in text


def test_a_machine_that_there_is_not_is_shown_where_the_user_names_it(graph):
    """Not in the layer.yaml of a part, which nobody wrote."""
    content = make_model("y = Relu(x)", {"x": (3,)}, {}).SerializeToString()
    assert graph.write(content, "machine: wse9\n").error() == """\
network.yaml:1:10: error: unknown profile wse9
  machine: wse9
           ^^^^
hint: profiles: ideal, paper, systolic, wse1, wse2, wse3
"""


def test_a_graph_that_computes_nothing_has_no_parts(graph):
    model = make_model("y = Identity(x)", {"x": (2,)}, {})
    folder = graph.write(model.SerializeToString()).build()
    with pytest.raises(UserError) as caught:
        run_stage("split", folder)
    assert str(caught.value) == (
        "error: g: nothing is computed\nhint: its outputs are inputs, or constants\n"
    )


def test_a_graph_that_only_moves_elements_has_no_parts(graph):
    model = make_model("t = Transpose(x)\ny = Flatten(t)", {"x": (2, 3)}, {})
    folder = graph.write(model.SerializeToString()).build()
    with pytest.raises(UserError) as caught:
        run_stage("split", folder)
    assert str(caught.value) == (
        "error: g: nothing is computed\n"
        "hint: its outputs are elements of inputs, or constants, which Transpose (node 1), "
        "Flatten (node 2) only move: add a node that computes, as Relu\n"
    )


def test_a_folder_that_is_no_layer_is_shown_where_the_user_names_it(graph):
    content = make_model("y = Relu(x)", {"x": (3,)}, {}).SerializeToString()
    assert graph.write(content, "parts: {relu1: ../nothing}\n").error() == """\
network.yaml:1:9: error: ../nothing holds no layer.yaml
  parts: {relu1: ../nothing}
          ^^^^^
hint: `relu1: path/to/folder` starts from here
"""


@pytest.mark.parametrize("name", ["mine", "add1", "../mine"])
def test_a_folder_of_a_layer_may_have_any_name(graph, name):
    """That of another part as well, which is made elsewhere."""
    content = make_model("r = Relu(x)\ny = Add(r, x)", {"x": (3,)}, {}).SerializeToString()
    (graph.path / name).mkdir()
    (graph.path / name / "layer.yaml").write_text("")
    folder = graph.write(content, f"parts: {{relu1: {name}}}\n").build()
    run_stage("split", folder)
    assert list(parts_of(folder)) == ["relu1", "add1"]


@pytest.mark.parametrize(("given", "place"), [
    ('target: "{ PE[2147483647, 2] }"\n', "1:9"),
    ('parts: {relu1: {target: "{ PE[2147483647, 2] }"}}\n', "1:25"),
])
def test_a_target_that_the_machine_has_no_room_for_is_refused_before_places_are_looked_for(
    graph, given, place
):
    content = make_model("y = Relu(x)", {"x": (3,)}, {}).SerializeToString()
    folder = graph.write(content, given).build()
    run_stage("split", folder)
    with pytest.raises(UserError) as caught:
        run_stage("fit", folder)
    said = str(caught.value).replace(f"{graph.path}/", "").splitlines()
    assert said[0] == (
        f"network.yaml:{place}: error: the target is 2147483647 x 2 PEs, wse2 has 750 x 994"
    )
    assert said[-1] == "hint: make the target smaller, or take a machine with a larger grid"
