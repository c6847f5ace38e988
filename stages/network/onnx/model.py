"""Reader of ONNX files: weights, types, checks, and shapes."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import (
    AttributeProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
    shape_inference,
)

from lairmake.stages.diagnose import UserError, nearest
from lairmake.stages.network.operators.draft import (
    Array,
    GraphPlace,
    InputSize,
    Shape,
    count,
    list_open,
    list_unknown,
    raise_all,
)
from lairmake.stages.network.operators.node import misfit

# --- Weights in other files -----------------------------------------------------------------------
#
# Source   ONNX, ExternalData.md

Beside = Callable[[str], bytes]
"""A function from a path within the folder of a model to the bytes of the file, or UserError."""

PLAIN = frozenset({
    TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16,
    TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8,
    TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL,
})
"""Types whose elements lie one after another, each in bytes of its own."""

HINT = "keep it in the folder of the model, or save one file: onnx.save(onnx.load(PATH), PATH)"


def nothing_beside(name: str) -> bytes:
    """Raise UserError for every file: the model has no known folder."""
    raise UserError(f"{name} cannot be read here")


def load_external(model: ModelProto, file: str, beside: Beside) -> None:
    """Copy values from other files into a model. Raises UserError.

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
    """Return the bytes of a tensor. Raises UserError where some are missing."""
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
    """Return the number of bytes of a tensor. Raises UserError for a type without plain bytes."""
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

# --- Short floats as float32 ----------------------------------------------------------------------
#
# All values of a network have one type, which defines their rounding. The reference for a graph
# must be no less exact, but would round each value to the type of the graph.

SHORT = frozenset({TensorProto.FLOAT16, TensorProto.BFLOAT16})
"""The types of floats with values that all are values of float32."""

TYPES = frozenset({"to", "dtype", "softmax_precision", "stash_type"})
"""Attributes that are types of elements."""


def widen(model: ModelProto, short: Collection[int] = SHORT, wide: int = TensorProto.FLOAT) -> None:
    """Change all values of short types to a wide type."""
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
    """Return the types of inputs, outputs, weights and casts of a model, by their NumPy names.

    Types without numbers are left out.
    """
    graph = model.graph
    values: Iterable[ValueInfoProto] = (*graph.input, *graph.output, *graph.value_info)
    kinds = [value.type.tensor_type.elem_type for value in values]
    kinds += [tensor.data_type for tensor in _all_tensors(model)]
    kinds += [each.i for each in _attributes(model) if each.name in TYPES]
    known = (kind for kind in dict.fromkeys(kinds) if kind in helper.get_all_tensor_dtypes())
    return [helper.tensor_dtype_to_np_dtype(kind).name for kind in known if kind]


def rounds(model: ModelProto, type_: str) -> bool:
    """Return whether some floats of a model are no values of a type."""
    return any(_rounds(numpy_helper.to_array(each), type_) for each in _all_tensors(model))


def _rounds(values: np.ndarray, type_: str) -> bool:
    if values.dtype.kind != "f":
        return False
    with np.errstate(over="ignore"):
        return not np.array_equal(values.astype(type_), values, equal_nan=True)

# --- Faults found before shapes are known ---------------------------------------------------------
#
# Source   ONNX, IR.md and Operators.md; the schemas of the installed `onnx`

OLDEST = 7
"""The first opset whose operators broadcast as NumPy does."""

NOT_FOLDED = frozenset({"RandomNormal", "RandomUniform", "Multinomial", "Bernoulli"})
CONTROL = frozenset({"If", "Loop", "Scan"})
WHOLE = "is it an ONNX file, and whole?"
EXPORT = "export it anew"


def find_place(node: NodeProto, file: str) -> GraphPlace:
    """Return the place of a node: by its name, else by its first result."""
    return GraphPlace(
        file=file, node=node.name or next(iter(node.output), "?"), operator=node.op_type
    )


def list_texts(model: ModelProto) -> Iterator[str | bytes]:
    """Yield all names in a model; names that are not UTF-8 are bytes."""
    graph = model.graph
    for node in graph.node:
        yield from (node.op_type, node.domain, node.name, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
    yield from (each.name for each in (*graph.initializer, *model.functions))
    yield from (each.domain for each in model.opset_import)


def refuse_kind(model: ModelProto, file: str) -> Iterator[UserError]:
    """Yield an error for everything but a plain graph in a known opset."""
    for given in model.opset_import:
        own = given.domain in ("", "ai.onnx")
        if own and not OLDEST <= given.version <= onnx.defs.onnx_opset_version():
            known = f"{OLDEST} to {onnx.defs.onnx_opset_version()}"
            yield UserError(f"{file}: opset {given.version} is not known", hint=f"use {known}")
    hint = "export it with operators of ONNX alone"
    yield from list_unknown([
        (f"{node.domain} {node.op_type}",
         UserError(f"{file}: {node.op_type} is of the domain {node.domain}", hint=hint))
        for node in model.graph.node if node.domain not in ("", "ai.onnx")
    ])
    for sparse in model.graph.sparse_initializer:
        hint = "store it as a dense tensor"
        yield UserError(f"{file}: {sparse.values.name} is sparse", hint=hint)
    for function in model.functions:
        hint = "inline them: onnx.inliner.inline_local_functions"
        yield UserError(f"{file}: {function.name} is a function of its own", hint=hint)


def refuse_operators(
    model: ModelProto, file: str, known: Collection[str], inputs: Collection[str]
) -> Iterator[UserError]:
    """Yield an error for each unknown operator, at its first node.

    Nodes that depend on no input are computed as constants: only ONNX must know their operators.
    """
    depends, found = set(inputs), []
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx"):
            continue
        drawn = node.op_type in NOT_FOLDED | CONTROL
        if drawn or (depends & set(node.input) and node.op_type != "Shape"):
            depends.update(filter(None, node.output))
            is_known = node.op_type in known
        else:
            is_known = onnx.defs.has(node.op_type)
        if not is_known:
            found.append((node.op_type, unknown_operator(find_place(node, file), known)))
    yield from list_unknown(found)


def unknown_operator(place: GraphPlace, known: Collection[str]) -> UserError:
    """Return the error for a node with an unknown operator."""
    if place.operator in CONTROL:
        return place.error("it chooses while it runs", "export the model without control flow")
    near = nearest(place.operator, known, cutoff=0.7)
    hint = f"did you mean {near}?" if near else "docs/graphs.md lists those that are"
    return place.error("it is no operator that is known", hint)


def refuse_nodes(model: ModelProto, file: str) -> Iterator[UserError]:
    """Yield an error for each malformed node, and for operands that no earlier node gives."""
    graph = model.graph
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), None)
    if opset is None:
        yield UserError(f"{file}: it has no opset of ONNX", hint=EXPORT)
        return
    given = {each.name for each in (*graph.input, *graph.initializer)}
    for node in graph.node:
        place = find_place(node, file)
        yield from _refuse_names(node, given, place)
        given.update(filter(None, node.output))
        if onnx.defs.has(node.op_type) and node.op_type not in CONTROL:
            yield from _refuse_form(node, opset, place)
    if not graph.output:
        yield UserError(f"{file}: it has no outputs", hint=EXPORT)
    for value in graph.output:
        if value.name not in given:
            message = f"{file}: output {value.name} is no result of a node"
            yield UserError(message, hint="is the graph whole?")


def _refuse_names(
    node: NodeProto, given: Collection[str], place: GraphPlace
) -> Iterator[UserError]:
    """Yield an error for operands that no earlier node gives, and for results with a used name."""
    for name in dict.fromkeys(filter(None, node.input)):
        if name not in given:
            message = f"it reads {name}, which nothing before it gives"
            yield place.error(message, "is the graph whole?")
    for name in filter(None, node.output):
        if name in given:
            hint = "give each result a name of its own"
            yield place.error(f"{name} is given a second time", hint)


def _refuse_form(node: NodeProto, opset: int, place: GraphPlace) -> Iterator[UserError]:
    """Yield an error for operands, results and attributes that an operator does not have."""
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        first = min(
            each.since_version for each in onnx.defs.get_all_schemas_with_history()
            if each.name == node.op_type and each.domain == ""
        )
        hint = f"export the model with opset {first} or later" if first > opset else EXPORT
        yield place.error(f"opset {opset} has no such operator", hint)
        return
    yield from _refuse_results(node, place)
    counts = (
        ("operand", len(node.input), schema.min_input, schema.max_input),
        ("result", len(node.output), schema.min_output, schema.max_output),
    )
    for what, number, least, most in counts:
        if not least <= number <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            wanted = f"{least} at least" if most > 1000 else wanted
            yield place.error(f"it has {number} {what}s, and not {wanted}", WHOLE)
    yield from _refuse_attributes(node, schema, opset, place)


def _refuse_results(node: NodeProto, place: GraphPlace) -> Iterator[UserError]:
    """Yield an error for a Split with more results than its attributes say.

    ONNX's inference of shapes would end the process there, in 1.23.2.
    """
    said = next((each.i for each in node.attribute if each.name == "num_outputs"), None)
    if node.op_type == "Split" and said is not None and said != len(node.output):
        yield place.error(f"it has {len(node.output)} results, and not {said}", WHOLE)


def _name_type(attribute: AttributeProto) -> str:
    return str(AttributeProto.AttributeType.Name(attribute.type))


def _refuse_attributes(
    node: NodeProto, schema: onnx.defs.OpSchema, opset: int, place: GraphPlace
) -> Iterator[UserError]:
    known = schema.attributes
    for each in node.attribute:
        if each.name not in known:
            listed = ", ".join(sorted(known)) or "none"
            yield place.error(f"opset {opset} has no attribute {each.name}", f"it has {listed}")
        elif each.type != AttributeProto.UNDEFINED and _name_type(each) not in str(
            known[each.name].type
        ).split("."):
            yield place.error(f"its attribute {each.name} is of another type", EXPORT)
    said = {each.name for each in node.attribute}
    for name, attribute in known.items():
        if attribute.required and name not in said:
            yield place.error(f"its attribute {name} is missing", EXPORT)

# --- Checked models with all shapes ---------------------------------------------------------------

NOT_INFERRED = frozenset({"GroupNormalization"})
"""Operators whose shapes ONNX does not infer; their results have the shape of the first operand."""

CHECKER = "onnx.checker.check_model(PATH, full_check=True)"


def load_model(
    content: bytes, file: str, sizes: Mapping[str, int], beside: Beside = nothing_beside,
    operators: Collection[str] | None = None,
) -> ModelProto:
    """Return a checked model, with all sizes of inputs known, and all shapes inferred.

    Floats have at least float32: short types are widened. `file` is its path as the user writes it,
    `beside` reads other files in its folder, and `operators` are those that may depend on inputs;
    None stands for all of ONNX. Raises UserError, or UserErrors with all faults.
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
    """Yield all faults that show before shapes are known."""
    yield from refuse_kind(model, file)
    if operators is not None:
        yield from refuse_operators(model, file, operators, list_inputs(model))
    yield from refuse_nodes(model, file)
    wrong = list(_refuse_inputs(model, file))
    yield from wrong
    if not wrong:
        yield from list_open(list_sizes(model), sizes, file)


def _find_misfit(model: ModelProto, file: str) -> UserError:
    """Return the error at the first node for which no shapes can be inferred."""
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
    """Return the error for the first value that the graph declares otherwise than inferred."""
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
    """Return a description of an operand: `x is float32 [2, 3]`."""
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
    """Return the first nodes of a model with shapes; None where these cannot be inferred."""
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
    """Return a model with all shapes. Raises any exception of ONNX.

    Nodes that ONNX cannot infer pass their first operands on meanwhile, so that later nodes get
    shapes.
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
    """Return the model of a file. Raises UserError."""
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
    """Use one of the two names of ONNX's own domain throughout."""
    for each in (*model.opset_import, *model.graph.node):
        if each.domain == "ai.onnx":
            each.domain = ""


def _check_weights(model: ModelProto, file: str) -> None:
    """Raise UserError for weights whose values do not match their type and shape."""
    for tensor in model.graph.initializer:
        try:
            numpy_helper.to_array(tensor)
        except (ValueError, LookupError, TypeError) as error:
            message = f"{file}: {tensor.name} {_describe_damage(tensor)}"
            raise UserError(message, hint=WHOLE) from error


def _describe_damage(tensor: TensorProto) -> str:
    """Return a description of the fault of weights."""
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
    """Make sizes of results open that are 0 or less: exporters write open sizes so."""
    for value in (*model.graph.output, *model.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_value") and dim.dim_value <= 0:
                dim.Clear()


def _fill(value: ValueInfoProto, sizes: Mapping[str, int]) -> None:
    """Replace open sizes of an input by numbers."""
    for k, dim in enumerate(value.type.tensor_type.shape.dim):
        if not (dim.HasField("dim_value") and dim.dim_value > 0):
            each = InputSize(input=value.name, axis=k, size=None, name=dim.dim_param)
            found = each.find(sizes)
            assert found is not None, "list_open lets no other pass"
            dim.dim_value = found


def list_inputs(model: ModelProto) -> list[str]:
    """Return the names of the values that a model must be given."""
    return [value.name for value in _inputs(model)]


def read_constants(model: ModelProto) -> dict[str, Array]:
    """Return the values that a model itself has, by name."""
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def read_values(model: ModelProto) -> dict[str, ValueInfoProto]:
    """Return the known type and shape of each value."""
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
    """Return the type of elements as a NumPy type."""
    return helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
