"""Damage to models of ONNX: to their bytes, and to nodes, types, shapes, weights and names."""

from __future__ import annotations

import random

import numpy as np
import onnx
from onnx import AttributeProto, ModelProto, numpy_helper

from stages.network.onnx.reading import OPERATORS

NUMBERS = [-5, -1, 0, 1, 2, 3, 7, 1 << 31, 1 << 40]
NAMES = ["", "x", "y", "w", "zz", "int"]
TYPES = [0, 1, 6, 7, 8, 9, 10, 11, 16, 77, 99]
TEXTS = [b"", b"SAME_UPPER", b"VALID", b"reflect", b"CRD", b"\xff"]
OTHERS = ["If", "Range", "Shape", "ConstantOfShape", "NonZero"]


def damage(content: bytes, draw: random.Random) -> bytes:
    """Return a model with a few bytes, or a few of its parts, changed."""
    if draw.random() < 0.25:
        text = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            text[at : at + draw.randint(0, 3)] = bytes(draw.choices(range(256), k=2))
        return bytes(text)
    model = onnx.ModelProto.FromString(content)
    for _ in range(draw.randint(1, 3)):
        draw.choice([_operator, _attribute, _edge, _edge, _input, _input, _weight])(model, draw)
    return model.SerializeToString()


def _operator(model: ModelProto, draw: random.Random) -> None:
    node = draw.choice(model.graph.node)
    if draw.random() < 0.7:
        node.op_type = draw.choice([*sorted(OPERATORS), *OTHERS])
    else:
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
    names = [*NAMES, *(name for each in model.graph.node for name in each.input)]
    if draw.random() < 0.3:
        ends.append(draw.choice(names))
    elif draw.random() < 0.3 or not ends:
        del ends[-1:]
    else:
        ends[draw.randrange(len(ends))] = draw.choice(names)


def _input(model: ModelProto, draw: random.Random) -> None:
    """Change the name, the type or the shape of an input."""
    value = draw.choice(model.graph.input)
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
