"""What of a graph depends on no input: computed once, by ONNX's own reference.

Source   ONNX, onnx.reference
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    ValueInfoProto,
    helper,
    numpy_helper,
    shape_inference,
)

from lairmake.stages.network.onnx.corrected import evaluator
from lairmake.stages.network.operators.draft import Array, Shape

PLAIN_WEIGHTS = 4
"""The version of files from which on weights need not be inputs as well."""

MOST_ELEMENTS = 2**27
"""How many elements of known values may be computed; more than that is no weight."""


def shape_of(node: NodeProto, shape: Shape) -> Array:
    """Return what Shape gives for an operand of a known shape."""
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    start, end = given.get("start", 0), given.get("end", len(shape))
    return np.array(shape[slice(start, end)], np.int64)


def fold(
    node: NodeProto, model: ModelProto, constants: Mapping[str, Array], shapes: Sequence[Shape]
) -> dict[str, Array] | None:
    """Return the results of a node whose operands are all known.

    None where the results would be too large. Raises what the reference does.
    """
    if any(math.prod(shape) > MOST_ELEMENTS for shape in shapes):
        return None
    graph = helper.make_graph(
        [node], "fold",
        [helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(node.input) if name],
        [helper.make_empty_tensor_value_info(name) for name in node.output if name],
    )
    alone = _alone(graph, model)
    given = {name: constants[name] for name in node.input if name}
    names = [name for name in node.output if name]
    with np.errstate(all="ignore"):
        found = evaluator(alone).run(None, given)
    return {name: np.asarray(each) for name, each in zip(names, found, strict=True)}


def infer(
    node: NodeProto, model: ModelProto, constants: Mapping[str, Array],
    operands: Mapping[str, ValueInfoProto],
) -> list[ValueInfoProto]:
    """Return what ONNX infers of the results of a node, some operands of which are known.

    `operands` says what the others are.
    """
    names = list(dict.fromkeys(name for name in node.input if name))
    graph = helper.make_graph(
        [node], "infer", [operands[name] for name in names if name not in constants],
        [helper.make_empty_tensor_value_info(name) for name in node.output if name],
        [numpy_helper.from_array(constants[name], name) for name in names if name in constants],
    )
    alone = _alone(graph, model)
    return list(shape_inference.infer_shapes(alone, strict_mode=True, data_prop=True).graph.output)


def _alone(graph: GraphProto, model: ModelProto) -> ModelProto:
    """Return a model of a graph, with the operators of another one."""
    version = max(model.ir_version, PLAIN_WEIGHTS)
    return helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=version)
