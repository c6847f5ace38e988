"""Sizes that a graph leaves open are said by name or by place, and all that are wrong at once."""

import onnx.parser
import pytest
import yaml

from tests.network.onnx.graphs import make_model


def model(inputs, text="y = Relu(x)", outputs="y"):
    """Return a graph with inputs whose sizes are numbers, names, or None."""
    made = make_model(text, inputs, {}, outputs=outputs)
    for value in made.graph.output:
        value.type.tensor_type.shape.Clear()
        value.type.tensor_type.shape.SetInParent()
        for size in next(iter(inputs.values())):
            value.type.tensor_type.shape.dim.add(
                **({"dim_value": size} if isinstance(size, int) else {"dim_param": size or ""})
            )
    return made.SerializeToString()


MARKS = {"x": ("?", 3, "?", "?")}


def volumes(graph):
    return (graph.path / "cache/volumes.isl").read_text()


@pytest.mark.parametrize("said", [
    "{x_0: 1, x_2: 4, x_3: 6}", "{'?': 1, x_2: 4, x_3: 6}", "{x_0: 1, x_1: 3, x_2: 4, x_3: 6}",
])
def test_sizes_that_share_a_mark_are_told_apart_by_their_places(graph, said):
    graph.write(model(MARKS), f"sizes: {said}\n").build()
    assert "x[0, j, k, l] : 0 <= j <= 2 and 0 <= k <= 3 and 0 <= l <= 5" in volumes(graph)


def test_a_name_is_one_size_wherever_it_stands_but_where_a_place_says_another(graph):
    inputs = {"x": ("n", 2), "z": (1, "n")}
    graph.write(model(inputs, "a = Relu(z)\ny = Relu(x)", "y a"), "sizes: {n: 4, z_1: 2}\n").build()
    assert "x[i, j] : 0 <= i <= 3 and 0 <= j <= 1" in volumes(graph)
    assert "z[0, j] : 0 <= j <= 1" in volumes(graph)


def test_outputs_whose_sizes_are_minus_one_or_zero_follow_from_inputs(graph):
    graph.write(model({"x": (-1, 0)}), "sizes: {x_0: 2, x_1: 3}\n").build()
    assert "y[i, j] : 0 <= i <= 1 and 0 <= j <= 2" in volumes(graph)


ODD = {"in put:0": ("batch", None, "2*n"), "0": ("", 2), "true": ("no", "?")}


def test_all_open_sizes_are_said_at_once_and_how_to_say_them(graph):
    made = model({"x": ("?", 3, "?"), "z": ("batch", None, "2*n")})
    assert graph.write(made).error() == """\
error: g.onnx: 5 sizes are open, of input x: ? (x_0), ? (x_2); of input z: batch (z_0), z_1, \
2*n (z_2)
hint: say them in network.yaml: `sizes: {x_0: 1, x_2: 1, batch: 1, z_1: 1, z_2: 1}`
"""
    assert graph.write(made, "sizes: {x_0: 7, z_2: 4}\n").error() == """\
error: g.onnx: 3 sizes are open, of input x: ? (x_2); of input z: batch (z_0), z_1
hint: say them in network.yaml: `sizes: {x_0: 7, z_2: 4, x_2: 1, batch: 1, z_1: 1}`
"""


def test_what_is_said_can_be_pasted_whatever_inputs_are_called(graph):
    made = make_model("y = Relu(x)", ODD | {"x": (1,)}, {}).SerializeToString()
    said = graph.write(made).error().partition("`")[2].partition("`")[0]
    assert set(yaml.safe_load(said)["sizes"]) == {
        "batch", "in put:0_1", "in put:0_2", "0_0", "no", "true_1",
    }
    graph.write(made, f"{said}\n").build()


def test_sizes_that_are_none_are_said_all_at_once(graph):
    said = "sizes: {x_0: 0, x_2: -1, x_3: 1.5}\n"
    assert graph.write(model(MARKS), said).error() == """\
network.yaml:1:14: error: sizes.x_0 must be at least 1
  sizes: {x_0: 0, x_2: -1, x_3: 1.5}
               ^

network.yaml:1:22: error: sizes.x_2 must be at least 1
  sizes: {x_0: 0, x_2: -1, x_3: 1.5}
                       ^^

network.yaml:1:31: error: sizes.x_3 must be an integer
  sizes: {x_0: 0, x_2: -1, x_3: 1.5}
                                ^^^
"""
    said = "sizes: {x_0: 1, x_1: 4, x_2: 4, y_5: 6, hight: 2}\n"
    assert graph.write(model({"x": ("?", 3, "?", "height")}), said).error() == """\
network.yaml:1:17: error: x_1 is 3 in the graph, and not 4
  sizes: {x_0: 1, x_1: 4, x_2: 4, y_5: 6, hight: 2}
                  ^^^
hint: sizes that the graph leaves open: x_0, x_2, height

network.yaml:1:33: error: unknown size y_5
  sizes: {x_0: 1, x_1: 4, x_2: 4, y_5: 6, hight: 2}
                                  ^^^
hint: sizes that the graph leaves open: x_0, x_2, height

network.yaml:1:41: error: unknown size hight
  sizes: {x_0: 1, x_1: 4, x_2: 4, y_5: 6, hight: 2}
                                          ^^^^^
hint: did you mean height?
"""


def test_all_unknown_operators_are_said_at_once_and_how_many_nodes_have_them(graph):
    text = "a = ArgMax(x)\nb = Det(x)\nc = Det(x)\nd = Foo(x)\nw = Foo(v)\ne = Det(x)\ny = Relu(x)"
    made = with_nodes(make_model("y = Relu(x)", {"x": (2, 2)}, {}), text)
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    assert graph.write(made.SerializeToString()).error() == """\
error: g.onnx: node a (ArgMax): it is no operator that is known
hint: docs/graphs.md lists those that are

error: g.onnx: node b (Det): it is no operator that is known; 2 more nodes have it
hint: docs/graphs.md lists those that are

error: g.onnx: node d (Foo): it is no operator that is known; 1 more node has it
hint: docs/graphs.md lists those that are

error: g.onnx: node w (Foo): it reads v, which nothing before it gives
hint: is the graph whole?

error: g.onnx: size n of input x is open
hint: say it in network.yaml: `sizes: {n: 1}`
"""


def with_nodes(made, text):
    """Return a model with other nodes, as ONNX's parser reads them, one a line."""
    del made.graph.node[:]
    made.graph.node.extend(onnx.parser.parse_node(line) for line in text.splitlines())
    return made


def test_operators_that_are_unknown_of_inputs_may_be_computed_of_constants(graph):
    """ONNX's reference knows them all."""
    made = make_model("s = Shape(x)\nd = NonZero(s)\nf = Cast<to=1>(d)\ny = Add(x, f)",
                      {"x": (1, 2)}, {})
    graph.write(made.SerializeToString()).build()


NODES = {
    "what nobody gives": ("y = Relu(q)", """\
error: g.onnx: node y (Relu): it reads q, which nothing before it gives
hint: is the graph whole?
"""),
    "a name of two results": ("a = Abs(x)\na = Relu(x)\ny = Relu(a)", """\
error: g.onnx: node a (Relu): a is given a second time
hint: give each result a name of its own
"""),
    "an attribute that there is not": ("y = Relu<foo=1>(x)", """\
error: g.onnx: node y (Relu): opset 21 has no attribute foo
hint: it has none
"""),
    "an attribute of another type": ("y = Softmax<axis=1.5>(x)", """\
error: g.onnx: node y (Softmax): its attribute axis is of another type
hint: export it anew
"""),
    "an attribute that is missing": ("y = Concat(x, x)", """\
error: g.onnx: node y (Concat): its attribute axis is missing
hint: export it anew
"""),
    "an operand too many": ("y = Relu(x, x)", """\
error: g.onnx: node y (Relu): it has 2 operands, and not 1
hint: is it an ONNX file, and whole?
"""),
    "an operator of a later opset": ("y = Swish(x)", """\
error: g.onnx: node y (Swish): opset 21 has no such operator
hint: export the model with opset 24 or later
"""),
    "no result": ("z = Relu(x)", """\
error: g.onnx: output y is no result of a node
hint: is the graph whole?
"""),
}


@pytest.mark.parametrize("name", NODES)
def test_what_is_wrong_with_nodes_is_said_in_our_words(graph, name):
    text, error = NODES[name]
    made = with_nodes(make_model("y = Relu(x)", {"x": (2, 3)}, {}), text)
    assert graph.write(made.SerializeToString()).error() == error


def test_an_output_of_another_shape_than_its_nodes_give(graph):
    made = make_model("y = Relu(x)", {"x": (2, 3)}, {})
    made.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 4
    assert graph.write(made.SerializeToString()).error() == """\
error: g.onnx: the graph says that y is float32 [2, 4]; y is float32 [2, 3] by its nodes
hint: export it anew
"""
    made.graph.output[0].type.tensor_type.ClearField("shape")
    assert graph.write(made.SerializeToString()).error() == """\
error: g.onnx: output y has no shape
hint: export it with shapes
"""
