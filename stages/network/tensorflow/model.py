"""Reader of frozen graphs of TensorFlow, and their nodes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.operators.draft import (
    Array,
    GraphPlace,
    Indices,
    InputSize,
    PaddedPiece,
    Shape,
)
from lairmake.stages.network.operators.node import KnownOperands, NodeOperands

# --- Messages of a GraphDef -----------------------------------------------------------------------
#
# They are described to protobuf here: no file of TensorFlow is needed.
#
# Source   TensorFlow, core/framework/{graph,node_def,attr_value,tensor,tensor_shape,versions,
#          types}.proto: names and numbers of fields

PACKAGE = "lairmake.tensorflow"
_TYPES = """
    INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32
    BFLOAT16 QINT16 QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2
    FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ INT4 UINT4 INT2 UINT2
    FLOAT4_E2M1FN
    """
TYPES = _TYPES.split()
"""The types of elements by number, without the prefix DT_."""

MESSAGES: Mapping[str, str] = {
    "GraphDef": """
        1 node NodeDef*; 2 library FunctionDefLibrary; 3 version int32; 4 versions VersionDef
        """,
    "VersionDef": "1 producer int32; 2 min_consumer int32; 3 bad_consumers int32*",
    "FunctionDefLibrary": "1 function FunctionDef*",
    "FunctionDef": "1 signature OpDef",
    "OpDef": "1 name string",
    "NodeDef": """
        1 name string; 2 op string; 3 input string*; 4 device string; 5 attr AttrEntry*;
        6 experimental_debug_info DebugInfo
        """,
    "DebugInfo": "1 original_node_names string*; 2 original_func_names string*",
    "AttrEntry": "1 key string; 2 value AttrValue",
    "AttrValue": """
        1 list ListValue/; 2 s bytes/; 3 i int64/; 4 f float/; 5 b bool/; 6 type DataType/;
        7 shape TensorShapeProto/; 8 tensor TensorProto/; 9 placeholder string/;
        10 func NameAttrList/
        """,
    "ListValue": """
        2 s bytes*; 3 i int64*; 4 f float*; 5 b bool*; 6 type DataType*; 7 shape TensorShapeProto*;
        8 tensor TensorProto*; 9 func NameAttrList*
        """,
    "NameAttrList": "1 name string",
    "TensorShapeProto": "2 dim Dim*; 3 unknown_rank bool",
    "Dim": "1 size int64; 2 name string",
    "TensorProto": """
        1 dtype DataType; 2 tensor_shape TensorShapeProto; 3 version_number int32;
        4 tensor_content bytes; 5 float_val float*; 6 double_val double*; 7 int_val int32*;
        8 string_val bytes*; 9 scomplex_val float*; 10 int64_val int64*; 11 bool_val bool*;
        12 dcomplex_val double*; 13 half_val int32*; 16 uint32_val uint32*; 17 uint64_val uint64*
        """,
}
"""The fields of each message: number, name, and type; `*` for repeated, `/` for one of several."""


def _fill(message: Any, name: str, fields: str) -> None:
    """Describe a message to protobuf."""
    message.name = name
    message.options.map_entry = name == "AttrEntry"
    field_type = descriptor_pb2.FieldDescriptorProto
    for number, label, kind in (each.split() for each in fields.split(";")):
        plain = kind.rstrip("*/")
        field = message.field.add(name=label, number=int(number))
        field.label = field_type.LABEL_REPEATED if "*" in kind else field_type.LABEL_OPTIONAL
        if plain == plain.lower():
            field.type = getattr(field_type, f"TYPE_{plain.upper()}")
            continue
        inside = "NodeDef." if plain == "AttrEntry" else ""
        is_enum = plain == "DataType"
        field.type = field_type.TYPE_ENUM if is_enum else field_type.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{inside}{plain}"
    if fields.count("/"):
        message.oneof_decl.add(name="value")
        for field in message.field:
            field.oneof_index = 0


def _graph_def() -> Any:
    """Return the class of GraphDef, which knows all others."""
    file = descriptor_pb2.FileDescriptorProto(
        name="lairmake/tensorflow.proto", package=PACKAGE, syntax="proto3"
    )
    kinds = file.enum_type.add(name="DataType")
    for number, name in enumerate(TYPES):
        kinds.value.add(name=f"DT_{name}", number=number)
    for name, fields in MESSAGES.items():
        is_inner = name == "AttrEntry"
        inside = next(m for m in file.message_type if m.name == "NodeDef") if is_inner else None
        _fill(file.message_type.add() if inside is None else inside.nested_type.add(), name, fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.GraphDef"))


GraphDef = _graph_def()

# --- Files, tensors and shapes --------------------------------------------------------------------

TEXT = ".pbtxt"
WITH = "convert_variables_to_constants_v2 of the function that is run"
FREEZE = f"freeze it: {WITH}"
INLINE = f"export it inlined: {WITH}"
NEWEST = 2474
"""The newest known version of GraphDef, of TensorFlow 2.21."""

MOST_ELEMENTS = 2**27
"""Largest number of elements of known values; larger values are no weights."""

VALUES: Mapping[str, tuple[str, str]] = {
    "FLOAT": ("float32", "float_val"), "DOUBLE": ("float64", "double_val"),
    "HALF": ("float16", "half_val"), "BFLOAT16": ("float32", "half_val"),
    "BOOL": ("bool", "bool_val"), "INT8": ("int8", "int_val"), "INT16": ("int16", "int_val"),
    "INT32": ("int32", "int_val"), "INT64": ("int64", "int64_val"),
    "UINT8": ("uint8", "int_val"), "UINT16": ("uint16", "int_val"),
    "UINT32": ("uint32", "uint32_val"), "UINT64": ("uint64", "uint64_val"),
}
"""For each known type of elements, its NumPy name, and the field with its values."""


def load_graph_def(content: bytes, file: str) -> Any:
    """Return the GraphDef of a file, as text if its name ends so. Raises UserError."""
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
    """Return the error for a text that is no GraphDef, with the unknown field, if any."""
    line, column = error.GetLine(), error.GetColumn()
    where = f":{line}:{column}" if line and column else ""
    found = re.search(r'"(?:\w+\.)*(\w+)" has no field named "(\w+)"', str(error))
    said = f"{found[1]} has no field {found[2]}" if found else "from here on it is no GraphDef"
    of_function = found is not None and found[1] in ("FunctionDef", "OpDef")
    hint = INLINE if of_function else "is it a GraphDef as text, and whole?"
    return UserError(f"{file}{where}: {said}", hint=hint)


class TensorError(ValueError):
    """A fault of the values of a tensor, in words of this compiler."""


def read_type(number: int) -> np.dtype[Any] | None:
    """Return a type of elements as a NumPy type, numbers only; None for others.

    A bfloat16 becomes float32, which has all its values.
    """
    name = TYPES[number] if 0 <= number < len(TYPES) else ""
    return np.dtype(VALUES[name][0]) if name in VALUES else None


def name_type(number: int) -> str:
    """Return TensorFlow's name of a type of elements."""
    return f"DT_{TYPES[number]}" if 0 <= number < len(TYPES) else f"of number {number}"


def list_types_of_nodes(graph: Any) -> list[str]:
    """Return the types of numbers of the nodes of a graph, by their NumPy names."""
    kinds = dict.fromkeys(each.type for node in graph.node for each in node.attr.values())
    names = (TYPES[kind] for kind in kinds if 0 <= kind < len(TYPES))
    known = {**{name: kind for name, (kind, _) in VALUES.items()}, "BFLOAT16": "bfloat16"}
    return [known[name] for name in names if name in known]


def read_shape(proto: Any) -> list[int | None] | None:
    """Return the sizes of a shape, None for open ones; None for an unknown rank."""
    if proto.unknown_rank:
        return None
    return [dim.size if dim.size >= 0 else None for dim in proto.dim]


def read_tensor(proto: Any) -> Array:
    """Return the values of a tensor. Raises TensorError for missing values, or a wrong number.

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
    """Return `count` values, with the last one repeated; zeros if there is none."""
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
    """Return floats of 16 bits from their bits stored as integers; other values as they are."""
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

# --- A node with operands, attributes and results -------------------------------------------------

T = TypeVar("T", str, int, float, bool, list[int])
KINDS: Mapping[type, tuple[str, str]] = {
    str: ("s", "text"), int: ("i", "whole number"), float: ("f", "number"), bool: ("b", "truth"),
    list: ("list", "list of whole numbers"),
}


@dataclass(slots=True, kw_only=True)
class TensorFlowGraph(KnownOperands):
    """The known values of a graph by name: `node`, or `node:1`.

    `sources` maps values to the equal ones that they stand for; `truths` are the volumes of 1 and
    0.
    """

    sources: dict[str, str] = field(default_factory=dict)
    truths: set[str] = field(default_factory=set)


class TensorFlowNode(NodeOperands):
    """A node, with its operands by number and its attributes by name.

    `inputs` are the values that it reads, without control inputs.
    """

    def __init__(
        self, proto: Any, inputs: Sequence[str], graph: TensorFlowGraph, place: GraphPlace
    ) -> None:
        super().__init__([graph.sources.get(name, name) for name in inputs], graph, place)
        self.operator: str = proto.op
        self.wish: str = proto.name
        self._graph = graph
        self._attributes = proto.attr

    def refuse(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise an error at the node."""
        raise self.error(message, hint)

    def name_of(self, k: int) -> str:
        """Return the name of an operand in the graph."""
        return self._inputs[k]

    def numbers(self, k: int, what: str) -> list[int]:
        """Return the values of an operand of integers. Raises UserError."""
        found = self.known(k, what)
        if found.dtype.kind not in "iu":
            raise self.error(f"{what}, {self._inputs[k]}, has the type {found.dtype}")
        return super().numbers(k, what)

    def number(self, k: int, what: str) -> int:
        """Return the value of an operand that is one integer. Raises UserError."""
        found = self.numbers(k, what)
        if len(found) != 1:
            raise self.error(f"{what}, {self._inputs[k]}, is not one number")
        return found[0]

    def is_truth(self, k: int) -> bool:
        """Return whether an operand is a truth: 1 where it holds, and 0 elsewhere."""
        known = self._graph.constants.get(self._inputs[k])
        if known is not None:
            return bool(known.dtype == np.bool_)
        return self._graph.volumes[self._inputs[k]] in self._graph.truths

    def attribute(self, name: str, default: T) -> T:
        """Return an attribute of the type of a default. Raises UserError for another type."""
        if name not in self._attributes:
            return default
        value, (kind, noun) = self._attributes[name], KINDS[type(default)]
        found: Any = getattr(value, kind)
        if value.WhichOneof("value") != kind or (kind == "list" and _has_others(found)):
            self.refuse(f"{name} is no {noun}")
        if kind == "s":
            found = found.decode(errors="replace")
        return cast(T, list(found.i) if kind == "list" else found)

    @property
    def attribute_names(self) -> list[str]:
        """Return the names of its attributes."""
        return sorted(self._attributes)

    def type_number(self, name: str) -> int | None:
        """Return the number of the type in an attribute; None where there is none."""
        given = name in self._attributes and self._attributes[name].WhichOneof("value") == "type"
        return self._attributes[name].type if given else None

    def tensor(self, name: str) -> Any:
        """Return an attribute that is a tensor. Raises UserError."""
        if name not in self._attributes or self._attributes[name].WhichOneof("value") != "tensor":
            self.refuse(f"{name} is no tensor")
        return self._attributes[name].tensor

    def check(self, holds: bool, message: str) -> None:
        """Raise UserError with a message, unless `holds`."""
        if not holds:
            raise self.error(message, "is the graph whole? TensorFlow would not run it")

    def result(self, k: int = 0) -> str:
        """Return the name of a result."""
        return self.wish if k == 0 else f"{self.wish}:{k}"

    def give(self, volume: str, k: int = 0, *, is_truth: bool = False) -> None:
        """Set the volume of a result, and whether it is a truth."""
        self._graph.volumes[self.result(k)] = self.draft.rounded(volume)
        if is_truth:
            self._graph.truths.add(volume)

    def give_copy(self, shape: Sequence[int], at: Indices) -> None:
        """Set the result to a copy of the first operand's elements `at`. Raises UserError."""
        if 0 in shape:
            raise self.error("its result has no elements")
        piece = PaddedPiece(volume=self.volume(0), at=at)
        self.give(self.draft.copy(self.wish, tuple(shape), [piece]))

    def give_constant(self, values: Array, k: int = 0) -> None:
        """Set the values of a result."""
        self._graph.constants[self.result(k)] = values

    def alias(self, k: int = 0) -> None:
        """Make the result the same value as operand k."""
        self._graph.sources[self.result()] = self._inputs[k]


def _has_others(values: Any) -> bool:
    """Return whether a list has anything but integers."""
    return any(each.name != "i" for each, _ in values.ListFields())


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator: the function that adds it, `least` to `most` operands, and its attributes.

    Attributes that are types are known for all operators.
    """

    add: Callable[[TensorFlowNode], None]
    least: int
    most: int
    attributes: frozenset[str] = frozenset()


def of(
    add: Callable[[TensorFlowNode], None], count: int, attributes: str = "", most: int = 0
) -> Operator:
    """Return an operator of `count` operands, or of up to `most`."""
    names = frozenset(attributes.split())
    return Operator(add=add, least=count, most=most or count, attributes=names)
