"""What a graph gives, by ONNX's own reference, with operators in place of those it gets wrong.

Source   ONNX, onnx.reference
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import ModelProto
from onnx.reference.op_run import OpRun

from lairmake.stages.network.onnx.corrected import evaluator
from lairmake.stages.network.onnx.model import list_inputs, read_shape, read_type
from lairmake.stages.network.operators.draft import Array, Shape


class NoReferenceError(Exception):
    """The reference gives nothing for a graph, or not what the graph says that it gives."""


def run_reference(
    model: ModelProto, inputs: Mapping[str, Array], shapes: Mapping[str, Shape]
) -> dict[str, Array]:
    """Return the outputs of a model by their names, of inputs by theirs.

    Inputs that no output needs may be left out: they are zero.
    Raises NoReferenceError where the reference cannot compute them, or gives them other `shapes`.
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
    """Return which node the reference could not run: that of the last operator that it called."""
    found, at = "the graph", error.__traceback__
    while at is not None:
        operator = at.tb_frame.f_locals.get("self")
        if isinstance(operator, OpRun):
            node = operator.onnx_node
            found = f"node {node.name or next(iter(node.output), '?')} ({node.op_type})"
        at = at.tb_next
    return found
