"""The messages that a GraphDef consists of, for protobuf: no file of TensorFlow is needed.

Source   TensorFlow, core/framework/{graph,node_def,attr_value,tensor,tensor_shape,versions,
         types}.proto: names and numbers of fields
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "lairmake.tensorflow"
_TYPES = """
    INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32
    BFLOAT16 QINT16 QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2
    FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ INT4 UINT4 INT2 UINT2
    FLOAT4_E2M1FN
    """
TYPES = _TYPES.split()
"""The types of elements by their numbers, without the DT_ that they begin with."""

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
