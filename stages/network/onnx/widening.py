"""Values of short types of floats as float32, so that nothing rounds that need not.

A network has one type for all of its values, which says how they are rounded. What a graph is
compared with must be no less exact: the reference would round each value to the type of the graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np
from onnx import AttributeProto, ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

SHORT = frozenset({TensorProto.FLOAT16, TensorProto.BFLOAT16})
"""The types of floats of which a float32 has all values."""

TYPES = frozenset({"to", "dtype", "softmax_precision", "stash_type"})
"""Attributes that say a type of elements."""


def widen(model: ModelProto, short: Collection[int] = SHORT, wide: int = TensorProto.FLOAT) -> None:
    """Let all values of short types be of a wide one."""
    type_ = helper.tensor_dtype_to_np_dtype(wide)
    graph = model.graph
    for value in (*graph.input, *graph.output, *graph.value_info):
        kind = value.type.tensor_type
        if kind.elem_type in short:
            kind.elem_type = wide
    for tensor in _all_tensors(model):
        if tensor.data_type in short:
            values = numpy_helper.to_array(tensor).astype(type_)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    for attribute in _attributes(model):
        if attribute.name in TYPES and attribute.i in short:
            attribute.i = wide


def _attributes(model: ModelProto) -> Iterator[AttributeProto]:
    for node in model.graph.node:
        yield from node.attribute


def _all_tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Yield the tensors of a model: weights, and attributes of nodes."""
    yield from model.graph.initializer
    for attribute in _attributes(model):
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors


def list_number_types(model: ModelProto) -> list[str]:
    """Return the types of inputs, outputs, weights and casts of a model, as NumPy calls them.

    Those are left out that hold no numbers.
    """
    graph = model.graph
    values: Iterable[ValueInfoProto] = (*graph.input, *graph.output, *graph.value_info)
    kinds = [value.type.tensor_type.elem_type for value in values]
    kinds += [tensor.data_type for tensor in _all_tensors(model)]
    kinds += [each.i for each in _attributes(model) if each.name in TYPES]
    known = (kind for kind in dict.fromkeys(kinds) if kind in helper.get_all_tensor_dtypes())
    return [helper.tensor_dtype_to_np_dtype(kind).name for kind in known if kind]


def rounds(model: ModelProto, type_: str) -> bool:
    """Whether a type has not all values of the floats that a model gives."""
    return any(_rounds(numpy_helper.to_array(each), type_) for each in _all_tensors(model))


def _rounds(values: np.ndarray, type_: str) -> bool:
    if values.dtype.kind != "f":
        return False
    with np.errstate(over="ignore"):
        return not np.array_equal(values.astype(type_), values, equal_nan=True)
