"""Read an ONNX file: checked, with the sizes that it leaves open, and all shapes known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import (
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
    shape_inference,
)

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.onnx.external import Beside, load_external, nothing_beside
from lairmake.stages.network.onnx.refusals import (
    EXPORT,
    WHOLE,
    find_place,
    list_texts,
    refuse_kind,
    refuse_nodes,
    refuse_operators,
)
from lairmake.stages.network.onnx.widening import widen
from lairmake.stages.network.operators.draft import Array, InputSize, Shape, list_open, raise_all
from lairmake.stages.network.operators.node import misfit

NOT_INFERRED = frozenset({"GroupNormalization"})
"""Operators of which ONNX infers no shape; it is that of the first operand."""

CHECKER = "onnx.checker.check_model(PATH, full_check=True)"


def load_model(
    content: bytes, file: str, sizes: Mapping[str, int], beside: Beside = nothing_beside,
    operators: Collection[str] | None = None,
) -> ModelProto:
    """Return a model, checked, whose inputs have known sizes, and all of whose shapes are inferred.

    Floats are of float32 at least: those of short types have become such. `file` is its path as the
    user writes it, `beside` reads other files in its folder, and `operators` are those that may
    depend on inputs, if not all of ONNX may. Raises UserError, or UserErrors with all that is
    wrong.
    """
    model = parse_model(content, file)
    raise_all(_refuse(model, file, sizes, operators))
    _call_alike(model)
    load_external(model, file, beside)
    _check_weights(model, file)
    for value in _inputs(model):
        _fill(value, sizes)
    _forget_open(model)
    try:
        onnx.checker.check_model(model)
    except Exception as error:  # of checking, of texts that are none
        message = f"{file}: ONNX does not take it for a model"
        raise UserError(message, hint=f"export it anew; {CHECKER} says where") from error
    try:
        found = _infer(model)
    except Exception as error:  # ONNX raises what it likes
        raise _find_misfit(model, file) from error
    widen(found)
    return found


def _refuse(
    model: ModelProto, file: str, sizes: Mapping[str, int], operators: Collection[str] | None
) -> Iterator[UserError]:
    """Yield all that is wrong before shapes are known."""
    yield from refuse_kind(model, file)
    if operators is not None:
        yield from refuse_operators(model, file, operators, list_inputs(model))
    yield from refuse_nodes(model, file)
    wrong = list(_refuse_inputs(model, file))
    yield from wrong
    if not wrong:
        yield from list_open(list_sizes(model), sizes, file)


def _find_misfit(model: ModelProto, file: str) -> UserError:
    """Return an error at the first node with which no shapes can be inferred."""
    low, high = 0, len(model.graph.node)
    while low < high:
        middle = (low + high) // 2
        if _start(model, middle + 1) is None:
            high = middle
        else:
            low = middle + 1
    before = _start(model, low)
    if before is None or low == len(model.graph.node):
        return _find_otherwise(model, before, file)
    node, values = model.graph.node[low], read_values(before)
    known = read_constants(model)
    operands = [
        describe(name, values.get(name), known.get(name)) for name in node.input if name
    ]
    return misfit(find_place(node, file), operands)


def _find_otherwise(model: ModelProto, found: ModelProto | None, file: str) -> UserError:
    """Return an error for the first value that the graph says is other than what was found."""
    values = {} if found is None else read_values(found)
    for said in (*model.graph.value_info, *model.graph.output):
        other = values.get(said.name)
        if other is not None and describe("", other, None) != describe("", said, None):
            follows = describe(f"; {said.name}", other, None)
            message = f"{file}: the graph says that {describe(said.name, said, None)}{follows}"
            return UserError(f"{message} by its nodes", hint="export it anew")
    message = f"{file}: ONNX infers no shapes of it"
    return UserError(message, hint=f"export it anew; {CHECKER} says where")


def describe(name: str, value: ValueInfoProto | None, known: Array | None) -> str:
    """Return what is known of an operand: `x is float32 [2, 3]`."""
    if known is not None:
        return f"{name} is {known.dtype} {list(known.shape)}"
    kind = 0 if value is None else value.type.tensor_type.elem_type
    if value is None or not kind or kind not in helper.get_all_tensor_dtypes():
        return f"{name} is not known"
    shape = read_shape(value)
    return f"{name} is {read_type(value)} {'of open shape' if shape is None else list(shape)}"


def _results(nodes: Iterable[NodeProto]) -> list[str]:
    return [name for node in nodes for name in node.output if name]


def _start(model: ModelProto, count: int) -> ModelProto | None:
    """Return the first nodes of a model with their shapes; None where these cannot be inferred."""
    start = ModelProto()
    start.CopyFrom(model)
    kept = start.graph
    last = [helper.make_empty_tensor_value_info(n) for n in _results(kept.node[:count])]
    del kept.node[count:], kept.output[:], kept.value_info[:]
    kept.output.extend(last)
    try:
        return _infer(start)
    except Exception:  # ONNX raises what it likes
        return None


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
    if any(isinstance(text, bytes) for text in list_texts(model)):
        raise UserError(f"{file} is no ONNX model, or damaged: a name is no text", hint=WHOLE)
    if not model.graph.node and not model.graph.output:
        raise UserError(f"{file} is no ONNX model, or has no graph", hint=WHOLE)
    return model


def _call_alike(model: ModelProto) -> None:
    """Call the domain of ONNX's own operators by one of its two names."""
    for each in (*model.opset_import, *model.graph.node):
        if each.domain == "ai.onnx":
            each.domain = ""


def _check_weights(model: ModelProto, file: str) -> None:
    """Raise UserError for weights that are not what they say."""
    for tensor in model.graph.initializer:
        try:
            numpy_helper.to_array(tensor)
        except (ValueError, LookupError, TypeError) as error:
            message = f"{file}: {tensor.name} {_describe_damage(tensor)}"
            raise UserError(message, hint=WHOLE) from error


def _describe_damage(tensor: TensorProto) -> str:
    """Return what is wrong with weights that are not what they say."""
    if tensor.data_type not in helper.get_all_tensor_dtypes():
        return f"is no tensor: its type has the number {tensor.data_type}, which ONNX has not"
    kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    return f"is no tensor: it holds not the values of {kind} {list(tensor.dims)}"


def _inputs(model: ModelProto) -> list[ValueInfoProto]:
    known = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in known]


def _refuse_inputs(model: ModelProto, file: str) -> Iterator[UserError]:
    """Yield an error for each input and output that is no tensor of a known rank."""
    inputs, outputs = _inputs(model), model.graph.output
    named = [*(("input", each) for each in inputs), *(("output", each) for each in outputs)]
    for what, value in named:
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type"):
            yield UserError(f"{file}: {what} {value.name} is no tensor", hint=EXPORT)
        elif tensor.elem_type not in helper.get_all_tensor_dtypes():
            yield UserError(f"{file}: {what} {value.name} has no type of elements", hint=EXPORT)
        elif not tensor.HasField("shape"):
            message = f"{file}: {what} {value.name} has no shape"
            yield UserError(message, hint="export it with shapes")


def list_sizes(model: ModelProto) -> list[InputSize]:
    """Return the sizes of all inputs."""
    return [
        InputSize(
            input=value.name, axis=k, name=dim.dim_param,
            size=dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else None,
        )
        for value in _inputs(model) for k, dim in enumerate(value.type.tensor_type.shape.dim)
    ]


def _forget_open(model: ModelProto) -> None:
    """Let sizes of results be open that are 0 or less: exporters write them so."""
    for value in (*model.graph.output, *model.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_value") and dim.dim_value <= 0:
                dim.Clear()


def _fill(value: ValueInfoProto, sizes: Mapping[str, int]) -> None:
    """Put numbers where sizes of an input are open."""
    for k, dim in enumerate(value.type.tensor_type.shape.dim):
        if not (dim.HasField("dim_value") and dim.dim_value > 0):
            each = InputSize(input=value.name, axis=k, size=None, name=dim.dim_param)
            found = each.find(sizes)
            assert found is not None, "list_open lets no other pass"
            dim.dim_value = found


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
