"""Weights of an ONNX model that lie in other files of its folder.

Source   ONNX, ExternalData.md
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from onnx import ModelProto, TensorProto, helper

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.operators.draft import count

Beside = Callable[[str], bytes]
"""Gives the bytes of a file by its path from the folder of the model. Raises UserError."""

PLAIN = frozenset({
    TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16,
    TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8,
    TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL,
})
"""Types whose elements lie one after the other, each in bytes of its own."""

HINT = "keep it in the folder of the model, or save one file: onnx.save(onnx.load(PATH), PATH)"


def nothing_beside(name: str) -> bytes:
    """Refuse a file: for models of which no folder is known. Raises UserError."""
    raise UserError(f"{name} cannot be read here")


def load_external(model: ModelProto, file: str, beside: Beside) -> None:
    """Put the values that lie in other files into a model. Raises UserError.

    `file` is the path of the model as the user writes it.
    """
    for tensor in _tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            given = {entry.key: entry.value for entry in tensor.external_data}
            try:
                values = _read(tensor, given, beside)
            except UserError as error:
                message = f"{file}: the values of {tensor.name} lie in another file: "
                raise UserError(message + error.message, hint=HINT) from error
            tensor.ClearField("external_data")
            tensor.data_location = TensorProto.DEFAULT
            tensor.raw_data = values


def _read(tensor: TensorProto, given: dict[str, str], beside: Beside) -> bytes:
    """Return the bytes of a tensor. Raises UserError where they are not there, or not so many."""
    location = posixpath.normpath(given.get("location", ""))
    start = _number(given, "offset", 0)
    size = _size(tensor)
    length = _number(given, "length", size)
    if length != size:
        raise UserError(f"it has {length} bytes there, and not {size}")
    content = beside(location)
    if start + length > len(content):
        end = f"{location} is {len(content)} bytes long"
        raise UserError(f"{end}, and they are {length} bytes from byte {start}")
    return content[start : start + length]


def _number(given: dict[str, str], key: str, default: int) -> int:
    text = given.get(key, str(default))
    if not text.isdecimal() or len(text) > 18:
        raise UserError(f"{key} {text} is no number of bytes")
    return int(text)


def _size(tensor: TensorProto) -> int:
    """Return how many bytes a tensor has. Raises UserError for one of another kind."""
    if tensor.data_type not in PLAIN or min(tensor.dims, default=0) < 0:
        raise UserError("numbers of such a type or shape are not read from there")
    return count(tensor.dims) * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Yield the tensors of a model that hold values: weights, and attributes of nodes."""
    yield from model.graph.initializer
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
