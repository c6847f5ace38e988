"""What is wrong in a graph: file, node, and what to do."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.network.onnx.graphs import make_model


def relu(**changes):
    model = make_model("y = Relu(x)", {"x": (2, 3)}, {})
    for name, value in changes.items():
        setattr(model, name, value)
    return model


def with_open_size(name):
    model = relu()
    model.graph.input[0].type.tensor_type.shape.dim[0].Clear()
    if name:
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    return model


def sparse():
    model = relu()
    values = numpy_helper.from_array(np.ones(1, "f4"), "w")
    indices = numpy_helper.from_array(np.zeros(1, "i8"), "i")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    return model


def other_domain():
    model = relu()
    model.graph.node[0].domain = "com.microsoft"
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def old():
    model = relu()
    model.opset_import[0].version = 6
    return model


def own_function():
    model = relu()
    model.functions.append(helper.make_function(
        "mine", "f", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])],
        [helper.make_opsetid("", 21)],
    ))
    return model


def choice():
    """A graph that computes one of two, as an input says."""
    model = make_model("y = Relu(x)", {"x": (2,), "c": ()}, {})
    model.graph.input[1].type.tensor_type.elem_type = TensorProto.BOOL
    given = helper.make_tensor_value_info("t", TensorProto.FLOAT, [2])
    branch = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "b", [], [given])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    model.graph.node[0].CopyFrom(node)
    return model


def no_input_of(kind, operator="Abs"):
    model = relu()
    model.graph.input[0].type.tensor_type.elem_type = kind
    model.graph.output[0].type.tensor_type.elem_type = kind
    model.graph.node[0].op_type = operator
    return model


def nodes(text, inputs, known=(), **more):
    return make_model(text, inputs, dict(known), **more)


ERRORS = {
    "no ONNX": (b"\x0a\xff\xff\xff", """\
error: g.onnx is no ONNX model, or damaged
hint: is it an ONNX file, and whole?
"""),
    "empty": (b"", """\
error: g.onnx is no ONNX model, or has no graph
hint: is it an ONNX file, and whole?
"""),
    "a size that is open": (with_open_size("batch"), """\
error: g.onnx: size batch of input x is open
hint: say it in network.yaml: `sizes: {batch: 1}`
"""),
    "a size without a name": (with_open_size(""), """\
error: g.onnx: size x_0 of input x is open
hint: say it in network.yaml: `sizes: {x_0: 1}`
"""),
    "an old opset": (old(), f"""\
error: g.onnx: opset 6 is not known
hint: use 7 to {onnx.defs.onnx_opset_version()}
"""),
    "sparse weights": (sparse(), """\
error: g.onnx: w is sparse
hint: store it as a dense tensor
"""),
    "another domain": (other_domain(), """\
error: g.onnx: Relu is of the domain com.microsoft
hint: export it with operators of ONNX alone
"""),
    "a function of its own": (own_function(), """\
error: g.onnx: f is a function of its own
hint: inline them: onnx.inliner.inline_local_functions
"""),
    "integers": (no_input_of(TensorProto.INT64), """\
error: g.onnx: input x has the type int64
hint: integers that say where elements are must be constants
"""),
    "an operator": (nodes("y = Det(x)", {"x": (2, 2)}), """\
error: g.onnx: node y (Det): it is no operator that is known
hint: docs/graphs.md lists those that are
"""),
    "an index that is computed": (
        nodes("i = Cast<to=7>(z)\ny = Gather(x, i)", {"x": (4, 3), "z": (2,)}), """\
error: g.onnx: node y (Gather): the index, i, is no constant
hint: what shapes and indices are made of must not depend on an input
"""),
    "training": (
        nodes("y, m, v = BatchNormalization<training_mode=1>(x, s, b, m0, v0)",
              {"x": (2, 3), "s": (3,), "b": (3,), "m0": (3,), "v0": (3,)}), """\
error: g.onnx: node y (BatchNormalization): it is in training mode
hint: export the model for inference
"""),
    "places of the largest": (
        nodes("y, i = MaxPool<kernel_shape=[2]>(x)", {"x": (1, 1, 4)}), """\
error: g.onnx: node y (MaxPool): the places of the largest elements are asked for
hint: leave them out
"""),
    "a table": (
        nodes("y = Gather(x, i)", {"x": (300,)},
              {"i": np.random.default_rng(1).permutation(300)}), """\
error: g.onnx: node y (Gather): it cannot be read: 150 sequences of indices, more than 64
hint: do its operands and attributes fit each other?
"""),
    "weights that are no numbers": (
        nodes("y = Add(x, w)", {"x": (2, 3)}, {"w": np.float32([1, np.nan, 3])}), """\
error: g.onnx: node y (Add): w holds values that are no numbers (NaN)
hint: export it anew
"""),
    "an input that nobody could simulate": (nodes("y = Relu(x)", {"x": (1 << 20, 1 << 20)}), """\
error: g.onnx: input x: x has 1099511627776 elements, more than 134217728
hint: use smaller inputs
"""),
    "a result that nobody could simulate": (
        nodes("y = Expand(x, s)", {"x": (2,)}, {"s": np.array([1 << 27, 2])}), """\
error: g.onnx: node y (Expand): y has 268435456 elements, more than 134217728
hint: use smaller inputs
"""),
    "windows that are larger than what they move over": (
        nodes("y = MaxPool<kernel_shape=[3], strides=[3]>(x)", {"x": (1, 1, 1)}), """\
error: g.onnx: node y (MaxPool): y has no elements
hint: use larger inputs
"""),
    "control flow": (choice(), """\
error: g.onnx: node y (If): it chooses while it runs
hint: export the model without control flow
"""),
    "a shape that depends on values": (nodes("i = NonZero(x)\ny = Cast<to=1>(i)", {"x": (4,)}), """\
error: g.onnx: node i (NonZero): it is no operator that is known
hint: docs/graphs.md lists those that are
"""),
    "text": (no_input_of(TensorProto.STRING, "Identity"), """\
error: g.onnx: input x has the type string
hint: real numbers and truths are known
"""),
    "integers that are computed": (nodes("i = Cast<to=6>(x)\ny = Cast<to=1>(i)", {"x": (2,)}), """\
error: g.onnx: node y (Cast): i is of int32, and depends on an input
hint: integers that say where elements are must be constants
"""),
    "integers that are results": (nodes("y = Cast<to=7>(x)", {"x": (2,)}), """\
error: g.onnx: output y has the type int64
hint: integers that say where elements are must be constants
"""),
    "what does not fit": (
        make_model("a = Relu(x)\ny = MatMul(a, z)", {"x": (2, 3), "z": (4, 5)}, {}), """\
error: g.onnx: node y (MatMul): its operands do not fit: a is float32 [2, 3]; z is float32 [4, 5]
hint: do its operands and attributes fit each other?
"""),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_said(graph, name):
    model, text = ERRORS[name]
    content = model if isinstance(model, bytes) else model.SerializeToString()
    assert graph.write(content).error() == text


def test_two_graphs(graph):
    graph.write(relu().SerializeToString()).write(b"", name="h.onnx")
    assert graph.error() == """\
error: FOLDER holds 2 graphs (g.onnx, h.onnx)
hint: name the one to read in network.yaml: `graph: g.onnx`
"""


@pytest.mark.parametrize("other", ["layer.yaml", "k.mlir"])
def test_what_makes_the_folder_another_one_beside_a_graph(graph, other):
    graph.write(relu().SerializeToString()).write(b"", name=other)
    assert graph.error() == f"""\
error: FOLDER holds g.onnx and {other}, which both say what is built
hint: move one of them to a folder of its own
"""


def test_what_network_yaml_says_wrong(graph):
    graph.write(relu().SerializeToString(), "graph: k.onnx\n")
    assert graph.error() == """\
network.yaml:1:8: error: k.onnx does not exist
  graph: k.onnx
         ^^^^^^
hint: graphs here: g.onnx
"""
    graph.write(with_open_size("batch").SerializeToString(), "sizes: {bath: 1}\n")
    assert graph.error() == """\
network.yaml:1:9: error: unknown size bath
  sizes: {bath: 1}
          ^^^^
hint: did you mean batch?
"""


def test_weights_that_the_type_of_the_network_has_not(graph):
    model = make_model("y = Add(x, w)", {"x": (2,)}, {"w": np.float32([1, -1e6])})
    assert graph.write(model.SerializeToString(), "type: float16\n").error() == """\
error: g.onnx: node y (Add): w holds 1e+06, which no float16 is
hint: let `type` in network.yaml be a larger one, or scale the graph
"""


def test_constants_that_would_fill_the_memory_are_refused(graph):
    """Their sizes are known before they are computed."""
    model = make_model(
        "t = ConstantOfShape(s)\nu = ReduceSum(t)\ny = Add(x, u)", {"x": (2,)},
        {"s": np.array([1 << 20, 1 << 20])},
    )
    assert graph.write(model.SerializeToString()).error() == """\
error: g.onnx: node t (ConstantOfShape): its result is too large for a constant
"""
