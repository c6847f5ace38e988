"""Turn an ONNX model into operations on volumes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from onnx import ModelProto, NodeProto

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.onnx import arithmetic, attention, convolutions, layers, shapes
from lairmake.stages.network.onnx.folding import fold, shape_of
from lairmake.stages.network.onnx.model import (
    NOT_INFERRED,
    list_inputs,
    read_constants,
    read_values,
)
from lairmake.stages.network.onnx.node import NUMBERS, Graph, Node, explain_type
from lairmake.stages.network.onnx.refusals import CONTROL, NOT_FOLDED, find_place, unknown_operator
from lairmake.stages.network.operators.draft import Draft, Extracted, NoVolumeError, Origin, Place
from lairmake.stages.network.operators.node import misfit

OPERATORS: Mapping[str, Callable[[Node], None]] = {
    **arithmetic.ARITHMETIC, **attention.ATTENTION, **convolutions.CONVOLUTIONS, **layers.LAYERS,
    **shapes.SHAPES,
}
"""Every operator that is known, by its name."""



def extract(model: ModelProto, file: str, type_: str) -> Extracted:
    """Return the operations of a model; what depends on no input is computed.

    `type_` is that of all volumes. Raises UserError for what is no operation on volumes.
    """
    graph = _opened(model, type_)
    inputs = {name: _given(graph, name, file) for name in list_inputs(model)}
    for number, proto in enumerate(model.graph.node, 1):
        node = Node(proto, graph, find_place(proto, file))
        graph.draft.origin = Origin(operator=proto.op_type, number=number)
        if not _folded(proto, model, graph, node.place):
            _infer(proto, model, graph, node)
            _check(node)
            _add(node)
            for name in node.results:
                graph.correct(name)
    outputs = {value.name: _result(graph, value.name, file) for value in model.graph.output}
    return Extracted(draft=graph.draft, inputs=inputs, outputs=outputs)


def _opened(model: ModelProto, type_: str) -> Graph:
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    return Graph(
        draft=Draft(type_), opset=opset, constants=read_constants(model),
        values=read_values(model),
    )


def _given(graph: Graph, name: str, file: str) -> str:
    """Return the volume of an input. Raises UserError for one that holds no numbers."""
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
    """Say of which input or output a volume cannot be."""
    try:
        yield
    except NoVolumeError as error:
        raise UserError(f"{what}: {error.reason}", hint=error.hint) from error


def _folded(proto: NodeProto, model: ModelProto, graph: Graph, place: Place) -> bool:
    """Compute the results of a node that depends on no input. Return whether it is one."""
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


def _infer(proto: NodeProto, model: ModelProto, graph: Graph, node: Node) -> None:
    """Infer shapes that follow from values which were computed. Raises UserError."""
    if not graph.is_corrected and all(graph.shape(name) is not None for name in node.results):
        return
    try:
        graph.infer(proto, model)
    except Exception as error:  # ONNX raises what it likes
        raise node.misfit() from error
    if proto.op_type in NOT_INFERRED:
        graph.copy_value(proto.input[0], node.results[0])


def _check(node: Node) -> None:
    """Raise UserError for an operator that is not known, or results without any elements."""
    if node.operator not in OPERATORS:
        raise unknown_operator(node.place, OPERATORS)
    for k, name in enumerate(node.results):
        if 0 in node.shape_of_result(k):
            raise node.error(f"{name} has no elements")


def _add(node: Node) -> None:
    """Add the operations of a node. Raises UserError."""
    try:
        OPERATORS[node.operator](node)
    except NoVolumeError as error:
        raise node.error(error.reason, error.hint) from error
    except (ValueError, LookupError, ArithmeticError, TypeError) as error:
        raise node.misfit() from error


def _result(graph: Graph, name: str, file: str) -> str:
    """Return the volume of an output; one of known values, too. Raises UserError."""
    if name not in graph.constants and graph.type(name).name not in NUMBERS:
        kind = graph.type(name)
        raise UserError(f"{file}: output {name} has the type {kind}", hint=explain_type(kind))
    if name not in graph.volumes:
        with _named(f"{file}: output {name}"):
            graph.volumes[name] = graph.draft.weigh(name, graph.constants[name])
    return graph.volumes[name]
