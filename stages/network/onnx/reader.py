"""Translation of an ONNX model to operations on volumes."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper
from onnx.reference.op_run import OpRun

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.onnx import operators
from lairmake.stages.network.onnx.model import (
    CONTROL,
    NOT_FOLDED,
    NOT_INFERRED,
    find_place,
    list_inputs,
    read_constants,
    read_shape,
    read_type,
    read_values,
    unknown_operator,
)
from lairmake.stages.network.onnx.node import (
    NUMBERS,
    OnnxGraph,
    OnnxNode,
    evaluator,
    explain_type,
    fold,
    shape_of,
)
from lairmake.stages.network.operators.draft import (
    Array,
    Extracted,
    GraphPlace,
    NetworkDraft,
    NoVolumeError,
    Origin,
    Shape,
)
from lairmake.stages.network.operators.node import draw_weights, misfit

# --- Operations of a model ------------------------------------------------------------------------

OPERATORS: Mapping[str, Callable[[OnnxNode], None]] = {
    **operators.ARITHMETIC, **operators.ATTENTION, **operators.CONVOLUTIONS, **operators.LAYERS,
    **operators.SHAPES,
}
"""All known operators, by name."""


def extract(model: ModelProto, file: str, type_: str) -> Extracted:
    """Return the operations of a model; values that depend on no input are computed.

    `type_` is the type of all volumes. Raises UserError for a node that is no operation on volumes.
    """
    graph = _opened(model, type_)
    inputs = {name: _given(graph, name, file) for name in list_inputs(model)}
    for number, proto in enumerate(model.graph.node, 1):
        node = OnnxNode(proto, graph, find_place(proto, file))
        graph.draft.origin = Origin(operator=proto.op_type, number=number)
        if not _folded(proto, model, graph, node.place):
            _infer(proto, model, graph, node)
            _check(node)
            _add(node)
            for name in node.results:
                graph.correct(name)
    outputs = {value.name: _result(graph, value.name, file) for value in model.graph.output}
    return Extracted(draft=graph.draft, inputs=inputs, outputs=outputs)


def _opened(model: ModelProto, type_: str) -> OnnxGraph:
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    return OnnxGraph(
        draft=NetworkDraft(type_), opset=opset, constants=read_constants(model),
        values=read_values(model),
    )


def _given(graph: OnnxGraph, name: str, file: str) -> str:
    """Return the volume of an input. Raises UserError for an input without numbers."""
    kind, shape = graph.type(name), graph.shape(name)
    assert shape is not None
    if kind.name not in NUMBERS:
        said = "string" if kind.kind == "O" else kind
        raise UserError(f"{file}: input {name} has the type {said}", hint=explain_type(kind))
    with _named(f"{file}: input {name}"):
        graph.volumes[name] = graph.draft.give(name, shape)
    return graph.volumes[name]


@contextlib.contextmanager
def _named(what: str) -> Iterator[None]:
    """Add the name of an input or output to the error for an impossible volume."""
    try:
        yield
    except NoVolumeError as error:
        raise UserError(f"{what}: {error.reason}", hint=error.hint) from error


def _folded(proto: NodeProto, model: ModelProto, graph: OnnxGraph, place: GraphPlace) -> bool:
    """Compute the results of a node if it depends on no input. Return whether it does not."""
    names = [name for name in proto.input if name]
    shape = graph.shape(names[0]) if proto.op_type == "Shape" else None
    if shape is not None:
        graph.constants[proto.output[0]] = shape_of(proto, shape)
        return True
    known = all(name in graph.constants for name in names)
    if not known or proto.op_type in NOT_FOLDED | CONTROL:
        return False
    try:
        graph.infer(proto, model)
    except Exception as error:  # ONNX raises what it likes
        raise misfit(place, graph.describe(names)) from error
    shapes = [graph.shape(name) or () for name in proto.output if name]
    try:
        found = fold(proto, model, graph.constants, shapes)
    except Exception as error:  # the reference raises what it likes
        said = "; ".join(graph.describe(names))
        message = f"ONNX's reference does not compute this constant{said and f': {said}'}"
        raise place.error(message, "compute it before the export") from error
    if found is None:
        raise place.error("its result is too large for a constant")
    graph.constants.update(found)
    return True


def _infer(proto: NodeProto, model: ModelProto, graph: OnnxGraph, node: OnnxNode) -> None:
    """Infer shapes that follow from computed values. Raises UserError."""
    if not graph.is_corrected and all(graph.shape(name) is not None for name in node.results):
        return
    try:
        graph.infer(proto, model)
    except Exception as error:  # ONNX raises what it likes
        raise node.misfit() from error
    if proto.op_type in NOT_INFERRED:
        graph.copy_value(proto.input[0], node.results[0])


def _check(node: OnnxNode) -> None:
    """Raise UserError for an unknown operator, or results without elements."""
    if node.operator not in OPERATORS:
        raise unknown_operator(node.place, OPERATORS)
    for k, name in enumerate(node.results):
        if 0 in node.shape_of_result(k):
            raise node.error(f"{name} has no elements")


def _add(node: OnnxNode) -> None:
    """Add the operations of a node. Raises UserError."""
    try:
        OPERATORS[node.operator](node)
    except NoVolumeError as error:
        raise node.error(error.reason, error.hint) from error
    except (ValueError, LookupError, ArithmeticError, TypeError) as error:
        raise node.misfit() from error


def _result(graph: OnnxGraph, name: str, file: str) -> str:
    """Return the volume of an output, also of known values. Raises UserError."""
    if name not in graph.constants and graph.type(name).name not in NUMBERS:
        kind = graph.type(name)
        raise UserError(f"{file}: output {name} has the type {kind}", hint=explain_type(kind))
    if name not in graph.volumes:
        with _named(f"{file}: output {name}"):
            graph.volumes[name] = graph.draft.weigh(name, graph.constants[name])
    return graph.volumes[name]

# --- Weights as small integers --------------------------------------------------------------------

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
SUMS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


def replace_weights(model: ModelProto, seed: int) -> None:
    """Replace the weights of a model by -1, 0 and 1, drawn from a seed.

    Of the terms of each sum, only so many are not zero that all sums of a chain remain exact.
    Single numbers and statistics stay as they are.
    """
    sums = sum(node.op_type in SUMS for node in model.graph.node)
    kept = set(_statistics(model))
    for tensor in model.graph.initializer:
        size = math.prod(tensor.dims)
        if tensor.data_type in FLOATS and size > 1 and tensor.name not in kept:
            shape = tuple(tensor.dims)
            terms = size / min(shape[0], shape[-1]) if len(shape) > 1 else 1
            drawn = draw_weights(tensor.name, shape, terms, sums, seed)
            kind = numpy_helper.to_array(tensor).dtype
            tensor.CopyFrom(numpy_helper.from_array(drawn.astype(kind), tensor.name))


def _statistics(model: ModelProto) -> Iterator[str]:
    """Yield the scales of normalisations: their results are no integers in any case."""
    for node in model.graph.node:
        if node.op_type.endswith("Normalization"):
            yield from node.input

# --- Reference results of a graph -----------------------------------------------------------------
#
# ONNX's own reference computes them, with the operators that it gets wrong replaced.
#
# Source   ONNX, onnx.reference

class NoReferenceError(Exception):
    """The reference gives no results for a graph, or others than the graph declares."""


def run_reference(
    model: ModelProto, inputs: Mapping[str, Array], shapes: Mapping[str, Shape]
) -> dict[str, Array]:
    """Return the outputs of a model by name, from inputs by name.

    Inputs that no output needs may be left out: they are zero. Raises NoReferenceError where the
    reference cannot compute the outputs, or gives them other `shapes`.
    """
    values = {value.name: value for value in model.graph.input}
    given = {
        name: inputs.get(name, np.zeros(read_shape(values[name]) or ())).astype(
            read_type(values[name])
        ) for name in list_inputs(model)
    }
    try:
        with np.errstate(all="ignore"):
            found = evaluator(model).run(None, given)
    except Exception as error:  # the reference raises what it likes
        raise NoReferenceError(f"ONNX's reference cannot run {_find_failed(error)}") from error
    names = [value.name for value in model.graph.output]
    outputs = {name: np.asarray(each) for name, each in zip(names, found, strict=True)}
    for name, each in outputs.items():
        if each.shape != shapes[name]:
            both = f"the shape {each.shape}, and not {shapes[name]}"
            raise NoReferenceError(f"ONNX's reference gives {name} {both}")
    return outputs


def _find_failed(error: Exception) -> str:
    """Return the node at which the reference failed: that of the last operator that it called."""
    found, at = "the graph", error.__traceback__
    while at is not None:
        operator = at.tb_frame.f_locals.get("self")
        if isinstance(operator, OpRun):
            node = operator.onnx_node
            found = f"node {node.name or next(iter(node.output), '?')} ({node.op_type})"
        at = at.tb_next
    return found
