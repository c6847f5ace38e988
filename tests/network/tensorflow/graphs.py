"""Graphs of TensorFlow that tests write, and their values as operations on volumes.

`y = Conv2D<strides=[1, 1, 1, 1], padding="VALID">(x, w)` is a node, its attributes in pointed
brackets; `DT_BOOL` among them is a type. Types that TensorFlow wants said are filled in.
"""

from __future__ import annotations

import ast
import hashlib
import re

import numpy as np

from lairmake.stages.network.tensorflow.model import TYPES, GraphDef, load_graph_def
from lairmake.stages.network.tensorflow.reader import extract_frozen
from lairmake.stages.parts.evaluation import evaluate

FILE = "g.pb"
KINDS = {"float32": "FLOAT", "int32": "INT32", "int64": "INT64", "bool": "BOOL", "float16": "HALF",
         "float64": "DOUBLE"}
SAID = {
    "BatchMatMulV3": {"Ta": "DT_FLOAT", "Tb": "DT_FLOAT", "Tout": "DT_FLOAT"},
    "Cast": {"SrcT": "DT_FLOAT"}, "FusedBatchNormV3": {"T": "DT_FLOAT", "U": "DT_FLOAT"},
    "FusedBatchNormV2": {"T": "DT_FLOAT", "U": "DT_FLOAT"},
    "Gather": {"Tparams": "DT_FLOAT", "Tindices": "DT_INT32"},
    "GatherV2": {"Tparams": "DT_FLOAT", "Tindices": "DT_INT32", "Taxis": "DT_INT32"},
    "LogicalAnd": {}, "LogicalNot": {}, "LogicalOr": {}, "NoOp": {}, "PlaceholderWithDefault": {},
    "Range": {"Tidx": "DT_INT32"}, "Slice": {"T": "DT_FLOAT", "Index": "DT_INT32"},
    "SplitV": {"T": "DT_FLOAT", "Tlen": "DT_INT32"},
    "StridedSlice": {"T": "DT_FLOAT", "Index": "DT_INT32"},
}
NODE = re.compile(r"(\S+) = (\w+)(?:<(.*)>)?\((.*)\)")


def type_number(kind):
    return TYPES.index(kind)


def set_attribute(node, name, value):
    """Put an attribute into a node, as its Python type says."""
    given = node.attr[name]
    if isinstance(value, str) and value.startswith("DT_"):
        given.type = type_number(value[3:])
    elif isinstance(value, tuple):
        given.shape.SetInParent()
        for size in value:
            given.shape.dim.add(size=size)
    elif isinstance(value, list):
        given.list.SetInParent()
        given.list.i.extend(value)
    else:
        kind = {bool: "b", int: "i", float: "f", str: "s"}[type(value)]
        setattr(given, kind, value.encode() if kind == "s" else value)


def add_constant(graph, name, values):
    node = graph.node.add(name=name, op="Const")
    kind = type_number(KINDS[values.dtype.name])
    node.attr["dtype"].type = node.attr["value"].tensor.dtype = kind
    tensor = node.attr["value"].tensor
    tensor.tensor_content = np.ascontiguousarray(values).tobytes()
    for size in values.shape:
        tensor.tensor_shape.dim.add(size=size)
    tensor.tensor_shape.SetInParent()


def make_graph(text, inputs, known):
    """Return a GraphDef of nodes, one a line, of inputs by shapes, and constants by values."""
    graph = GraphDef()
    graph.versions.producer = 2474
    for name, shape in inputs.items():
        node = graph.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = type_number("FLOAT")
        node.attr["shape"].shape.SetInParent()
        for size in shape:
            node.attr["shape"].shape.dim.add(size=size)
    for name, values in known.items():
        add_constant(graph, name, np.asarray(values))
    for line in text.strip().splitlines():
        add_node(graph, line)
    return graph


def add_node(graph, line):
    name, operator, attributes, operands = NODE.fullmatch(line.strip()).groups()
    given = ast.parse(f"f({attributes or ''})", mode="eval").body.keywords
    node = graph.node.add(name=name, op=operator)
    node.input.extend(each.strip() for each in operands.split(",") if each.strip())
    said = dict(SAID.get(operator, {"T": "DT_FLOAT"}))
    said |= {each.arg: ast.literal_eval(each.value) for each in given}
    for key in sorted(said):
        set_attribute(node, key, said[key])


def written(graph):
    """Return the bytes of a graph, the same ones each time."""
    return graph.SerializeToString(deterministic=True)


def extracted(graph, sizes=None):
    """Return what is extracted of a graph, through its bytes."""
    return extract_frozen(load_graph_def(written(graph), FILE), FILE, "float32", sizes or {})


def values(found, inputs):
    """Return the outputs of what was extracted, by their names."""
    program = found.draft.program("g", list(dict.fromkeys(found.outputs.values())))
    volumes = found.draft.volumes([operation.name for operation in program.operations])
    given = {found.inputs[name]: array for name, array in inputs.items()}
    got = evaluate(program, volumes, {**given, **found.draft.weights})
    return {name: got[volume] for name, volume in found.outputs.items()}


def draw(inputs, known):
    """Return values for inputs, and for constants of which a shape is said."""
    rng = np.random.default_rng(5)
    given = {name: rng.normal(size=shape).astype("f4") for name, shape in inputs.items()}
    fixed = {
        name: rng.normal(size=each).astype("f4") if isinstance(each, tuple) else np.asarray(each)
        for name, each in known.items()
    }
    return given, {
        name: np.abs(each) + np.float32(0.5) if name == "v" else each
        for name, each in fixed.items()
    }


def digest(content, given):
    """Return what tells a graph, and what it is run on, from others."""
    found = hashlib.sha256(content)
    for name in sorted(given):
        found.update(given[name].tobytes())
    return found.hexdigest()[:12]
