"""What is wrong in a graph of TensorFlow: file, node, and what to do."""

import numpy as np
import pytest
from google.protobuf import text_format

from tests.network.tensorflow.cases import ints
from tests.network.tensorflow.graphs import FILE, make_graph, written

ONE = {"x": (2, 3)}


def with_shape(*sizes):
    graph = make_graph("y = Relu(x)", {"x": ()}, {})
    for size in sizes:
        graph.node[0].attr["shape"].shape.dim.add(size=size)
    return graph


def no_shape():
    graph = with_shape()
    graph.node[0].attr["shape"].shape.unknown_rank = True
    return graph


def relu(**changes):
    graph = make_graph("y = Relu(x)", ONE, {})
    for name, value in changes.items():
        setattr(graph.node[1], name, value)
    return graph


def of_type(number):
    graph = relu()
    graph.node[0].attr["dtype"].type = number
    return graph


def constant(said):
    """Return a graph that adds a tensor as text says it."""
    graph = make_graph("y = Add(x, w)", {"x": (2,)}, {"w": np.float32([1, 2])})
    tensor = graph.node[1].attr["value"].tensor
    tensor.Clear()
    text_format.Parse(f"{said} tensor_shape {{ dim {{ size: 2 }} }}", tensor)
    return graph


def own_function():
    graph = relu(op="mine")
    graph.library.function.add().signature.name = "mine"
    return graph


def newer():
    graph = relu()
    graph.versions.min_consumer = 9000
    return graph


def nodes(text, inputs=None, known=()):
    return make_graph(text, ONE if inputs is None else inputs, dict(known))


IMAGE = {"x": (1, 4, 4, 2)}
POOL = "ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1]"
ERRORS = {
    "no GraphDef": (b"\x0a\xff\xff\xff", """\
error: g.pb is no GraphDef, or damaged
hint: is it a frozen graph, and whole? .pbtxt is text, .pb is not
"""),
    "empty": (b"", """\
error: g.pb is no GraphDef, or has no nodes
hint: is it a frozen graph, and whole? .pbtxt is text, .pb is not
"""),
    "of a later version": (newer(), """\
error: g.pb: it is for version 9000 of GraphDef or later
hint: up to 2474 is known
"""),
    "weights that are no numbers": (constant("dtype: DT_FLOAT float_val: 1 float_val: nan"), """\
error: g.pb: node y (Add): w holds values that are no numbers (NaN)
hint: export it anew
"""),
    "two of one name": (relu(name="x"), """\
error: g.pb: nodes 1 and 2 are called 'x'
hint: is the graph damaged?
"""),
    "without a name": (relu(name=""), """\
error: g.pb: node 2 is called ''
hint: is the graph damaged?
"""),
    "a size that is open": (with_shape(-1, 3), """\
error: g.pb: size x_0 of input x is open
hint: say it in network.yaml: `sizes: {x_0: 1}`
"""),
    "no shape": (no_shape(), """\
error: g.pb: node x (Placeholder): its shape is open
hint: export it with a shape
"""),
    "no elements": (with_shape(0), """\
error: g.pb: node x (Placeholder): it has no elements
"""),
    "integers": (of_type(3), """\
error: g.pb: node x (Placeholder): it has the type DT_INT32
hint: integers that say where elements are must be constants
"""),
    "a type nobody knows": (of_type(99), """\
error: g.pb: node x (Placeholder): it has the type of number 99
hint: integers that say where elements are must be constants
"""),
    "computing with integers": (nodes('y = Relu<T="DT_INT32">(x)'), """\
error: g.pb: node y (Relu): it computes DT_INT32
hint: integers that depend on an input are not known
"""),
    "making integers": (nodes('y = Cast<DstT="DT_INT32">(x)'), """\
error: g.pb: node y (Cast): it makes integers of what depends on an input
hint: leave them real numbers
"""),
    "no such node": (nodes("y = Add(x, z)"), """\
error: g.pb: node y (Add): it reads z, which is no node
hint: is the graph whole?
"""),
    "no such result": (nodes("y = Add(x, x:1)"), """\
error: g.pb: node y (Add): it reads x:1, which has no values that are known
"""),
    "itself": (nodes("y = Add(x, z)\nz = Relu(y)"), """\
error: g.pb: node y (Add): it depends on itself
hint: export it without loops
"""),
    "control flow": (nodes("s = Switch(x, x)\ny = Merge(s, s:1)"), """\
error: g.pb: node s (Switch): it chooses while it runs
hint: export the model without control flow

error: g.pb: node y (Merge): it chooses while it runs
hint: export the model without control flow
"""),
    "variables": (nodes("v = VarHandleOp()\nw = ReadVariableOp(v)\ny = Mul(x, w)"), """\
error: g.pb: node v (VarHandleOp): its variables are not frozen
hint: freeze it: convert_variables_to_constants_v2 of the function that is run

error: g.pb: node w (ReadVariableOp): its variables are not frozen
hint: freeze it: convert_variables_to_constants_v2 of the function that is run
"""),
    "a function of its own": (own_function(), """\
error: g.pb: node y (mine): it calls a function
hint: export it inlined: convert_variables_to_constants_v2 of the function that is run
"""),
    "a call": (nodes("y = StatefulPartitionedCall(x)"), """\
error: g.pb: node y (StatefulPartitionedCall): it calls a function
hint: export it inlined: convert_variables_to_constants_v2 of the function that is run
"""),
    "an operator": (nodes("y = Softmin(x)"), """\
error: g.pb: node y (Softmin): it is no operator that is known
hint: did you mean Softsign?
"""),
    "several operators, and sizes that are open": (
        nodes("a = LRN(x)\nb = LRN(a)\ny = Relu(z)", {"x": (-1, 2), "z": (3, -1)}), """\
error: g.pb: node a (LRN): it is no operator that is known; 1 more node has it
hint: docs/graphs.md lists those that are

error: g.pb: 2 sizes are open, of input x: x_0; of input z: z_1
hint: say them in network.yaml: `sizes: {x_0: 1, z_1: 1}`
"""),
    "one far from any": (nodes("y = LRN(x)"), """\
error: g.pb: node y (LRN): it is no operator that is known
hint: docs/graphs.md lists those that are
"""),
    "one for constants": (nodes("y = FloorMod(x, x)"), """\
error: g.pb: node y (FloorMod): it depends on an input
hint: it is known of constants alone
"""),
    "an attribute": (nodes("y = Relu<leak=0.5>(x)"), """\
error: g.pb: node y (Relu): it has the attribute leak, which is not known
hint: is the graph of a newer TensorFlow?
"""),
    "an attribute of another kind": (nodes("y = LeakyRelu<alpha=1>(x)"), """\
error: g.pb: node y (LeakyRelu): alpha is no number
"""),
    "operands": (nodes("y = Relu(x, x)"), """\
error: g.pb: node y (Relu): it has 2 operands, and not 1
hint: is the graph whole? TensorFlow would not run it
"""),
    "an index that is computed": (nodes("y = GatherV2(x, x, x)"), """\
error: g.pb: node y (GatherV2): the index, x, is no constant
hint: what shapes and indices are made of must not depend on an input
"""),
    "an index beyond": (
        nodes("y = GatherV2(x, i, n)", ONE, {"i": ints([2]), "n": ints(0)}), """\
error: g.pb: node y (GatherV2): an index is beyond 2 elements
hint: is the graph whole? TensorFlow would not run it
"""),
    "training": (
        nodes("y = FusedBatchNormV3(x, b, b, b, b)", {**IMAGE, "b": (2,)}), """\
error: g.pb: node y (FusedBatchNormV3): it is in training mode
hint: export the model for inference
"""),
    "a layout": (nodes(f'y = MaxPool<{POOL}, padding="SAME", data_format="NCHW_VECT_C">(x)', IMAGE),
                 """\
error: g.pb: node y (MaxPool): the layout NCHW_VECT_C is not known
hint: NHWC and NCHW are
"""),
    "windows over channels": (
        nodes('y = MaxPool<ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID">(x)', IMAGE),
        """\
error: g.pb: node y (MaxPool): ksize of samples and channels are 1 and 2
hint: windows over places alone are known
"""),
    "large windows": (
        nodes('y = MaxPool<ksize=[1, 5, 1, 1], strides=[1, 1, 1, 1], padding="VALID">(x)', IMAGE),
        """\
error: g.pb: node y (MaxPool): its windows are larger than what they move over
hint: is the graph whole? TensorFlow would not run it
"""),
    "padding": (nodes(f"y = AvgPool<{POOL}>(x)", IMAGE), """\
error: g.pb: node y (AvgPool): padding is not said
hint: is the graph whole? TensorFlow would not run it
"""),
    "channels": (
        nodes('y = Conv2D<strides=[1, 1, 1, 1], padding="SAME">(x, w)', IMAGE,
              {"w": np.ones((1, 1, 3, 4), "f4")}),
        """\
error: g.pb: node y (Conv2D): filters of 3 channels to 4 do not fit 2
hint: is the graph whole? TensorFlow would not run it
"""),
    "a product": (nodes("y = MatMul(x, x)"), """\
error: g.pb: node y (MatMul): 3 columns do not fit 2 rows
hint: is the graph whole? TensorFlow would not run it
"""),
    "what is not broadcast": (nodes("y = Add(x, z)", {"x": (2, 3), "z": (2, 4)}), """\
error: g.pb: node y (Add): its operands do not fit: x is [2, 3]; z is [2, 4]
hint: do its operands and attributes fit each other?
"""),
    "texts": (constant('dtype: DT_STRING string_val: "a"'), """\
error: g.pb: node w (Const): its values have the type DT_STRING
hint: is the graph whole?
"""),
    "too few bytes": (constant('dtype: DT_FLOAT tensor_content: "abcd"'), """\
error: g.pb: node w (Const): it has 1 values for 2 elements
hint: is the graph whole?
"""),
    "too many values": (constant("dtype: DT_INT32 int_val: 1 int_val: 1 int_val: 1"), """\
error: g.pb: node w (Const): it has 3 values for 2 elements
hint: is the graph whole?
"""),
    "values that do not fit": (constant("dtype: DT_INT8 int_val: 300"), """\
error: g.pb: node w (Const): its values do not fit into int8
hint: is the graph whole?
"""),
    "constants that would fill the memory": (
        nodes("f = Fill(s, v)\ny = Add(x, f)", ONE,
              {"s": ints(1 << 20, 1 << 20), "v": np.float32(1)}),
        """\
error: g.pb: node f (Fill): its result is too large for a constant
hint: is the graph whole? TensorFlow would not run it
"""),
    "no outputs": (nodes("y = Add(w, w)", ONE, {"w": np.float32(1)}), """\
error: g.pb: it has no outputs
hint: an output is what depends on an input, and what no node reads
"""),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_said(graph, name):
    model, text = ERRORS[name]
    content = model if isinstance(model, bytes) else written(model)
    assert graph.write(content, name=FILE).error() == text


def test_a_text_that_is_none(graph):
    text = b'node {\n  name: "x"\n  opp: "Relu"\n}\n'
    assert graph.write(text, name="g.pbtxt").error() == """\
error: g.pbtxt:3:3: NodeDef has no field opp
hint: is it a GraphDef as text, and whole?
"""
    text = b'library { function { signature { name: "f" } node_def { name: "a" } } }'
    assert graph.write(text, name="g.pbtxt").error() == """\
error: g.pbtxt:1:46: FunctionDef has no field node_def
hint: export it inlined: convert_variables_to_constants_v2 of the function that is run
"""
    assert graph.write(b"node { name: '\xff' }", name="g.pbtxt").error() == """\
error: g.pbtxt is no GraphDef as text
hint: is it a frozen graph, and whole? .pbtxt is text, .pb is not
"""


def test_a_saved_model_is_no_graph(graph):
    assert graph.write(b"\x08\x01", name="saved_model.pb").error() == """\
error: saved_model.pb is no GraphDef, or has no nodes
hint: a SavedModel is none; freeze it: convert_variables_to_constants_v2 of the function that is run
"""


def test_two_graphs_of_two_kinds(graph):
    graph.write(written(relu()), name="h.pb").write(b"", name="g.pbtxt")
    assert graph.error() == """\
error: FOLDER holds 2 graphs (h.pb, g.pbtxt)
hint: name the one to read in network.yaml: `graph: h.pb`
"""
