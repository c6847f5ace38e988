"""Read a frozen graph of TensorFlow, binary or text, and the tensors and shapes in it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.operators.draft import Array, InputSize, Shape
from lairmake.stages.network.tensorflow.schema import TYPES, GraphDef

TEXT = ".pbtxt"
WITH = "convert_variables_to_constants_v2 of the function that is run"
FREEZE = f"freeze it: {WITH}"
INLINE = f"export it inlined: {WITH}"
NEWEST = 2474
"""The version of GraphDef that is known, of TensorFlow 2.21."""

MOST_ELEMENTS = 2**27
"""How many elements of known values there may be; more than that is no weight."""

VALUES: Mapping[str, tuple[str, str]] = {
    "FLOAT": ("float32", "float_val"), "DOUBLE": ("float64", "double_val"),
    "HALF": ("float16", "half_val"), "BFLOAT16": ("float32", "half_val"),
    "BOOL": ("bool", "bool_val"), "INT8": ("int8", "int_val"), "INT16": ("int16", "int_val"),
    "INT32": ("int32", "int_val"), "INT64": ("int64", "int64_val"),
    "UINT8": ("uint8", "int_val"), "UINT16": ("uint16", "int_val"),
    "UINT32": ("uint32", "uint32_val"), "UINT64": ("uint64", "uint64_val"),
}
"""For each type of elements that is known, that of NumPy, and the field with values."""


def load_graph_def(content: bytes, file: str) -> Any:
    """Return the GraphDef of a file, a text if its name ends so. Raises UserError."""
    graph = _parsed_text(content, file) if file.endswith(TEXT) else _parsed(content, file)
    if not graph.node:
        raise UserError(f"{file} is no GraphDef, or has no nodes", hint=_frozen_hint(file))
    if graph.versions.min_consumer > NEWEST:
        found = f"{file}: it is for version {graph.versions.min_consumer} of GraphDef or later"
        raise UserError(found, hint=f"up to {NEWEST} is known")
    return graph


def _frozen_hint(file: str) -> str:
    if file.endswith("saved_model.pb"):
        return f"a SavedModel is none; {FREEZE}"
    return f"is it a frozen graph, and whole? {TEXT} is text, .pb is not"


def _parsed(content: bytes, file: str) -> Any:
    try:
        return GraphDef.FromString(content)
    except DecodeError as error:
        raise UserError(f"{file} is no GraphDef, or damaged", hint=_frozen_hint(file)) from error


def _parsed_text(content: bytes, file: str) -> Any:
    """Return the GraphDef of a text. Raises UserError with the line and column."""
    try:
        return text_format.Parse(content.decode(), GraphDef())
    except text_format.ParseError as error:
        raise _damaged_text(error, file) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{file} is no GraphDef as text", hint=_frozen_hint(file)) from error


def _damaged_text(error: text_format.ParseError, file: str) -> UserError:
    """Return where a text is no GraphDef: which field of which message there is none of, if any."""
    line, column = error.GetLine(), error.GetColumn()
    where = f":{line}:{column}" if line and column else ""
    found = re.search(r'"(?:\w+\.)*(\w+)" has no field named "(\w+)"', str(error))
    said = f"{found[1]} has no field {found[2]}" if found else "from here on it is no GraphDef"
    of_function = found is not None and found[1] in ("FunctionDef", "OpDef")
    hint = INLINE if of_function else "is it a GraphDef as text, and whole?"
    return UserError(f"{file}{where}: {said}", hint=hint)


class TensorError(ValueError):
    """What is wrong with the values of a tensor, in our words."""


def read_type(number: int) -> np.dtype[Any] | None:
    """Return a type of elements as NumPy calls it, numbers only; None for others.

    A bfloat16 is a float32, which has all its values.
    """
    name = TYPES[number] if 0 <= number < len(TYPES) else ""
    return np.dtype(VALUES[name][0]) if name in VALUES else None


def name_type(number: int) -> str:
    """Return what TensorFlow calls a type of elements."""
    return f"DT_{TYPES[number]}" if 0 <= number < len(TYPES) else f"of number {number}"


def list_types_of_nodes(graph: Any) -> list[str]:
    """Return the types of numbers that nodes of a graph have, as NumPy calls them."""
    kinds = dict.fromkeys(each.type for node in graph.node for each in node.attr.values())
    names = (TYPES[kind] for kind in kinds if 0 <= kind < len(TYPES))
    known = {**{name: kind for name, (kind, _) in VALUES.items()}, "BFLOAT16": "bfloat16"}
    return [known[name] for name in names if name in known]


def read_shape(proto: Any) -> list[int | None] | None:
    """Return the sizes of a shape, None for those that are open; None for one of unknown rank."""
    if proto.unknown_rank:
        return None
    return [dim.size if dim.size >= 0 else None for dim in proto.dim]


def read_tensor(proto: Any) -> Array:
    """Return the values of a tensor. Raises TensorError where that has none, or does not fit.

    Source   TensorFlow, core/framework/tensor.proto: if there are fewer values than elements, the
             last one is repeated
    """
    try:
        return _read_values(proto)
    except TensorError:
        raise
    except (ValueError, OverflowError, TypeError) as error:
        raise TensorError("its values do not fit its type and shape") from error


def _read_values(proto: Any) -> Array:
    kind = read_type(proto.dtype)
    if kind is None:
        raise TensorError(f"its values have the type {name_type(proto.dtype)}")
    sizes = read_shape(proto.tensor_shape)
    if sizes is None or None in sizes:
        raise TensorError("the shape of its values is open")
    shape = tuple(size for size in sizes if size is not None)
    if math.prod(shape) > MOST_ELEMENTS:
        raise TensorError(f"it has more than {MOST_ELEMENTS} elements")
    name = TYPES[proto.dtype]
    stored = np.dtype("uint16") if name in ("HALF", "BFLOAT16") else kind
    if proto.tensor_content:
        values = np.frombuffer(proto.tensor_content, stored.newbyteorder("<")).astype(stored)
        if len(values) != math.prod(shape):
            raise TensorError(f"it has {len(values)} values for {math.prod(shape)} elements")
    else:
        values = _repeated(getattr(proto, VALUES[name][1]), stored, math.prod(shape))
    return _read_bits(values, name).reshape(shape)


def _repeated(values: Sequence[Any], kind: np.dtype[Any], count: int) -> Array:
    """Return `count` values, the last of those given again and again; zero where none is."""
    if len(values) > count:
        raise TensorError(f"it has {len(values)} values for {count} elements")
    found = np.zeros(count, kind)
    given = np.array(values)
    found[: len(values)] = given
    if not np.array_equal(found[: len(values)], given, equal_nan=given.dtype.kind == "f"):
        raise TensorError(f"its values do not fit into {kind}")
    if len(values):
        found[len(values) :] = found[len(values) - 1]
    return found


def _read_bits(values: Array, name: str) -> Array:
    """Return what 16 bits mean that were stored as a whole number; others as they are."""
    if name == "HALF":
        return values.view(np.float16)
    if name == "BFLOAT16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values


def list_sizes(graph: Any) -> list[InputSize]:
    """Return the sizes of all inputs of a graph whose rank is known."""
    return [
        each for node in graph.node if node.op == "Placeholder" for each in _sizes(node) or ()
    ]


def _sizes(node: Any) -> list[InputSize] | None:
    """Return the sizes of an input; None where its rank is open."""
    given = read_shape(node.attr["shape"].shape) if "shape" in node.attr else None
    if given is None:
        return None
    return [InputSize(input=node.name, axis=k, size=size) for k, size in enumerate(given)]


def find_shape(node: Any, sizes: Mapping[str, int]) -> Shape | None:
    """Return the shape of an input; None where its rank is open."""
    found = _sizes(node)
    if found is None:
        return None
    shape = [each.find(sizes) for each in found]
    assert None not in shape, "list_open lets no other pass"
    return tuple(size for size in shape if size is not None)
