"""Read an ONNX file: checked, with the sizes that it leaves open, and all shapes known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import (
    ModelProto,
    NodeProto,
    TensorShapeProto,
    ValueInfoProto,
    helper,
    numpy_helper,
    shape_inference,
)

from stages.diagnose import UserError
from stages.network.extraction.draft import Array, Place, Shape
from stages.network.onnx.external import Beside, load_external, nothing_beside
from stages.network.onnx.widening import widen

OLDEST = 7
"""The first opset whose operators broadcast as NumPy does."""

NOT_INFERRED = frozenset({"GroupNormalization"})
"""Operators of which ONNX infers no shape; it is that of the first operand."""

WHOLE = "is it an ONNX file, and whole?"


def load_model(
    content: bytes, file: str, sizes: Mapping[str, int], beside: Beside = nothing_beside
) -> ModelProto:
    """Return a model, checked, whose inputs have known sizes, and all of whose shapes are inferred.

    Floats are of float32 at least: those of short types have become such. `file` is its path as the
    user writes it, and `beside` reads other files in its folder. Raises UserError.
    """
    model = parse_model(content, file)
    _check_versions(model, file)
    _call_alike(model)
    _check_inside(model, file)
    _check_splits(model, file)
    load_external(model, file, beside)
    _check_weights(model, file)
    for value in _inputs(model):
        _fill(value, sizes, file)
    try:
        onnx.checker.check_model(model)
        found = _infer(model)
    except Exception as error:  # of checking, of inference, of texts that are none
        said = " ".join(str(error).split())
        raise UserError(f"{file}: {said}", hint="onnx.checker says so; export it anew") from error
    widen(found)
    return found


def _infer(model: ModelProto) -> ModelProto:
    """Return a model with all shapes. Raises what ONNX does.

    Nodes of which ONNX infers none hand on their first operands meanwhile: what comes after them
    would have no shape either.
    """
    kept = [(k, _copy(n)) for k, n in enumerate(model.graph.node) if n.op_type in NOT_INFERRED]
    for k, node in kept:
        stub = helper.make_node("Identity", node.input[:1], node.output, name=node.name)
        model.graph.node[k].CopyFrom(stub)
    found = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    for k, node in kept:
        found.graph.node[k].CopyFrom(node)
    return found


def _copy(node: NodeProto) -> NodeProto:
    copied = NodeProto()
    copied.CopyFrom(node)
    return copied


def parse_model(content: bytes, file: str) -> ModelProto:
    """Return a model as its file has it. Raises UserError."""
    try:
        model = onnx.load_model_from_string(content)
    except DecodeError as error:
        raise UserError(f"{file} is no ONNX model, or damaged", hint=WHOLE) from error
    if not model.graph.node and not model.graph.output:
        raise UserError(f"{file} is no ONNX model, or has no graph", hint=WHOLE)
    return model


def _check_versions(model: ModelProto, file: str) -> None:
    """Raise UserError for sets of operators that are not known."""
    for given in model.opset_import:
        if given.domain not in ("", "ai.onnx"):
            hint = "export it with operators of ONNX alone"
            used = [node for node in model.graph.node if node.domain == given.domain]
            if used:
                message = f"{used[0].op_type} is of the domain {given.domain}"
                raise UserError(f"{file}: {message}", hint=hint)
        elif not OLDEST <= given.version <= onnx.defs.onnx_opset_version():
            known = f"{OLDEST} to {onnx.defs.onnx_opset_version()}"
            raise UserError(f"{file}: opset {given.version} is not known", hint=f"use {known}")


def _call_alike(model: ModelProto) -> None:
    """Call the domain of ONNX's own operators by one of its two names."""
    for each in (*model.opset_import, *model.graph.node):
        if each.domain == "ai.onnx":
            each.domain = ""


def _check_inside(model: ModelProto, file: str) -> None:
    """Raise UserError for what is no plain graph."""
    if model.graph.sparse_initializer:
        name = model.graph.sparse_initializer[0].values.name
        raise UserError(f"{file}: {name} is sparse", hint="store it as a dense tensor")
    if model.functions:
        hint = "inline them: onnx.inliner.inline_local_functions"
        raise UserError(f"{file}: {model.functions[0].name} is a function of its own", hint=hint)


def _check_splits(model: ModelProto, file: str) -> None:
    """Raise UserError for a Split of which there are more results than it says.

    ONNX's inference of shapes would end the process there, in 1.23.2.
    """
    for node in model.graph.node:
        said = next((each.i for each in node.attribute if each.name == "num_outputs"), None)
        if node.op_type == "Split" and said is not None and said != len(node.output):
            place = Place(file=file, node=node.name or ", ".join(node.output), operator="Split")
            raise place.error(f"it has {len(node.output)} results, and not {said}", WHOLE)


def _check_weights(model: ModelProto, file: str) -> None:
    """Raise UserError for weights that are not what they say."""
    for tensor in model.graph.initializer:
        try:
            numpy_helper.to_array(tensor)
        except (ValueError, LookupError, TypeError) as error:
            said = " ".join(str(error).split())
            raise UserError(f"{file}: {tensor.name} is no tensor: {said}", hint=WHOLE) from error


def _inputs(model: ModelProto) -> list[ValueInfoProto]:
    known = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in known]


def _fill(value: ValueInfoProto, sizes: Mapping[str, int], file: str) -> None:
    """Put numbers where sizes of an input are open. Raises UserError for those that nobody says."""
    if not value.type.HasField("tensor_type"):
        raise UserError(f"{file}: input {value.name} is no tensor")
    if value.type.tensor_type.elem_type not in helper.get_all_tensor_dtypes():
        raise UserError(f"{file}: input {value.name} has no type of elements")
    if not value.type.tensor_type.HasField("shape"):
        raise UserError(f"{file}: input {value.name} has no shape", hint="export it with shapes")
    for k, dim in enumerate(value.type.tensor_type.shape.dim):
        if _is_known(dim):
            continue
        name = _name_size(value, k)
        if name not in sizes:
            hint = f"say it in network.yaml: `sizes: {{{name}: 1}}`"
            raise UserError(f"{file}: size {name} of input {value.name} is open", hint=hint)
        dim.dim_value = sizes[name]


def list_sizes(content: bytes, file: str) -> list[str]:
    """Return the names of the sizes that a model leaves open. Raises UserError."""
    values = _inputs(parse_model(content, file))
    found = [
        _name_size(value, k)
        for value in values
        for k, dim in enumerate(value.type.tensor_type.shape.dim)
        if not _is_known(dim)
    ]
    return list(dict.fromkeys(found))


def _is_known(dim: TensorShapeProto.Dimension) -> bool:
    return dim.HasField("dim_value") and dim.dim_value > 0


def _name_size(value: ValueInfoProto, k: int) -> str:
    return value.type.tensor_type.shape.dim[k].dim_param or f"{value.name}_{k}"


def list_inputs(model: ModelProto) -> list[str]:
    """Return the names of what must be given to a model."""
    return [value.name for value in _inputs(model)]


def read_constants(model: ModelProto) -> dict[str, Array]:
    """Return the values that a model gives, by name."""
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def read_values(model: ModelProto) -> dict[str, ValueInfoProto]:
    """Return what is known of the type and the shape of each value."""
    graph = model.graph
    return {value.name: value for value in (*graph.value_info, *graph.input, *graph.output)}


def read_shape(value: ValueInfoProto | None) -> Shape | None:
    """Return a shape; None where it is not known."""
    if value is None or not value.type.tensor_type.HasField("shape"):
        return None
    dims = value.type.tensor_type.shape.dim
    if not all(dim.HasField("dim_value") for dim in dims):
        return None
    return tuple(dim.dim_value for dim in dims)


def read_type(value: ValueInfoProto) -> np.dtype[Any]:
    """Return the type of elements as NumPy calls it."""
    return helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
