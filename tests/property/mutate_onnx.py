"""Damage to models of ONNX: to their bytes, and to nodes, types, shapes, weights and names."""

from __future__ import annotations

import random

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, ModelProto, numpy_helper

from lairmake.stages.network.onnx.reader import OPERATORS

NUMBERS = [-5, -1, 0, 1, 2, 3, 7, 1 << 31, 1 << 40]
NAMES = ["", "x", "y", "w", "zz", "int"]
TYPES = [0, 1, 6, 7, 8, 9, 10, 11, 16, 77, 99]
TEXTS = [b"", b"SAME_UPPER", b"VALID", b"reflect", b"CRD", b"\xff"]
OTHERS = ["If", "Range", "Shape", "ConstantOfShape", "NonZero"]


def damage_model(content: bytes, draw: random.Random) -> bytes | None:
    """Return a model with a few of its parts changed; None where it is none any more."""
    try:
        model = onnx.ModelProto.FromString(content)
    except DecodeError:
        return None
    if not model.graph.node or not model.graph.input or not model.opset_import:
        return None
    for _ in range(draw.randint(1, 3)):
        if not model.graph.node:
            break
        draw.choice(WAYS)(model, draw)
    return model.SerializeToString()


def _operator(model: ModelProto, draw: random.Random) -> None:
    node = draw.choice(model.graph.node)
    if draw.random() < 0.7:
        node.op_type = draw.choice([*sorted(OPERATORS), *OTHERS])
    elif model.opset_import:
        model.opset_import[0].version = draw.choice([7, 8, 11, 13, 18, 21, 28])


def _attribute(model: ModelProto, draw: random.Random) -> None:
    """Change an attribute, or leave it out."""
    attributes = draw.choice(model.graph.node).attribute
    if not attributes:
        return
    each = draw.choice(attributes)
    if draw.random() < 0.2:
        attributes.remove(each)
    elif each.ints and draw.random() < 0.4:
        each.ints.append(draw.choice(NUMBERS))
    elif each.ints:
        each.ints[draw.randrange(len(each.ints))] = draw.choice(NUMBERS)
    elif each.type == AttributeProto.INT:
        each.i = draw.choice(NUMBERS)
    elif each.type == AttributeProto.FLOAT:
        each.f = draw.choice([0.0, -1.0, 1e38, np.inf, np.nan])
    elif each.type == AttributeProto.STRING:
        each.s = draw.choice(TEXTS)


def _edge(model: ModelProto, draw: random.Random) -> None:
    """Change what a node reads or gives."""
    node = draw.choice(model.graph.node)
    ends = node.input if node.input and draw.random() < 0.8 else node.output
    nodes = model.graph.node  # what a later node gives makes a cycle
    names = [*NAMES, *(name for each in nodes for name in (*each.input, *each.output))]
    if draw.random() < 0.3:
        ends.append(draw.choice(names))
    elif draw.random() < 0.3 or not ends:
        del ends[-1:]
    else:
        ends[draw.randrange(len(ends))] = draw.choice(names)


def _input(model: ModelProto, draw: random.Random) -> None:
    """Change the name, the type or the shape of an input."""
    if not model.graph.input:
        return
    value = draw.choice(model.graph.input)
    if draw.random() < 0.2:
        value = draw.choice([*model.graph.input, *model.graph.output, *model.graph.value_info])
    dims, chance = value.type.tensor_type.shape.dim, draw.random()
    if chance < 0.1:
        value.name = draw.choice(NAMES)
    elif chance < 0.2:
        value.type.tensor_type.elem_type = draw.choice(TYPES)
    elif chance < 0.3:
        del dims[-1:]
    elif chance < 0.4 or not dims:
        dims.add(dim_value=draw.choice([1, 2, 3]))
    else:
        draw.choice(dims).dim_value = draw.choice([-1, 0, 1, 2, 3, 4, 6, 50, 1 << 31])


def _weight(model: ModelProto, draw: random.Random) -> None:
    """Change the type, the shape or the values of a weight."""
    if not model.graph.initializer:
        return
    tensor = draw.choice(model.graph.initializer)
    if draw.random() < 0.2:
        tensor.data_type = draw.choice(TYPES)
    elif tensor.dims and draw.random() < 0.2:
        tensor.dims[0] = draw.choice([-1, 0, 5, 1 << 40])
    else:
        _reshape(tensor, draw)


def _reshape(tensor: onnx.TensorProto, draw: random.Random) -> None:
    """Give a weight one size more or another one; of integers, other values as well."""
    try:
        values = numpy_helper.to_array(tensor)
    except (ValueError, LookupError, TypeError):  # damaged before
        return
    sizes = list(values.shape)
    if sizes and draw.random() < 0.7:
        sizes[draw.randrange(len(sizes))] = draw.choice([0, 1, 2, 3, 4])
    elif draw.random() < 0.5:
        sizes.append(2)
    made = np.resize(values, sizes) if values.size else np.zeros(sizes, values.dtype)
    if values.dtype.kind == "i" and draw.random() < 0.3:
        made = np.full(sizes, draw.choice([-1, 0, 5, 1 << 40]))
    tensor.CopyFrom(numpy_helper.from_array(made.astype(values.dtype), tensor.name))


def _nodes(model: ModelProto, draw: random.Random) -> None:
    """Leave a node out, put it in twice, or swap two."""
    nodes = list(model.graph.node)
    one, other = (draw.randrange(len(nodes)) for _ in range(2))
    way = draw.randrange(3)
    if way == 0:
        del nodes[one]
    elif way == 1:
        nodes.insert(other, nodes[one])
    else:
        nodes[one], nodes[other] = nodes[other], nodes[one]
    copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    del model.graph.node[:]
    model.graph.node.extend(copies)


def _missing(model: ModelProto, draw: random.Random) -> None:
    """Leave out a field of the model, of its graph or of a node."""
    holder = draw.choice([model, model.graph, model.graph, draw.choice(model.graph.node)])
    if fields := [field.name for field, _ in holder.ListFields()]:
        holder.ClearField(draw.choice(fields))


WAYS = [_operator, _attribute, _edge, _edge, _input, _input, _weight, _nodes, _missing]
