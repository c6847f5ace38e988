"""What is wrong with a graph where it is split into parts, and with what a user says of these."""

import pytest

from stages.diagnose import UserError, UserErrors
from stages.make.core.action import run_stage
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import parts_of, supply


def test_a_part_that_there_is_not_is_named(graph):
    content = make_model("y = Relu(x)", {"x": (3,)}, {}).SerializeToString()
    folder = graph.write(content, "parts: {rel: {goal: area}}\n").build()
    with pytest.raises(UserErrors) as caught:
        supply(folder)
    assert str(caught.value).splitlines()[0].endswith("unknown part rel")


def test_a_machine_that_there_is_not_is_shown_where_the_user_names_it(graph):
    """Not in the layer.yaml of a part, which nobody wrote."""
    content = make_model("y = Relu(x)", {"x": (3,)}, {}).SerializeToString()
    folder = graph.write(content, "machine: wse9\n").build()
    with pytest.raises(UserError) as caught:
        run_stage("split", folder)
    assert str(caught.value).replace(f"{graph.path}/", "") == """\
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
    folder = graph.write(content, "parts: {relu1: ../nothing}\n").build()
    with pytest.raises(UserError) as caught:
        run_stage("split", folder)
    assert str(caught.value).replace(f"{graph.path}/", "") == """\
network.yaml:1:9: error: ../nothing holds no layer.yaml
  parts: {relu1: ../nothing}
          ^^^^^
hint: `relu1: path/to/folder` starts from here
"""


@pytest.mark.parametrize("name", ["mine", "add1", "../mine"])
def test_a_folder_of_a_layer_may_have_any_name(graph, name):
    """That of another part as well, which is made elsewhere."""
    content = make_model("r = Relu(x)\ny = Add(r, x)", {"x": (3,)}, {}).SerializeToString()
    folder = graph.write(content, f"parts: {{relu1: {name}}}\n").build()
    (graph.path / name).mkdir()
    (graph.path / name / "layer.yaml").write_text("")
    run_stage("split", folder)
    assert list(parts_of(folder)) == ["relu1", "add1"]
