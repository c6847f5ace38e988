"""Graphs in ONNX that tests write, and their values as operations on volumes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx.parser
from onnx import ModelProto, TensorProto, helper, numpy_helper, shape_inference

from lairmake.stages.network.onnx.model import load_model
from lairmake.stages.network.onnx.reader import Extracted, extract
from lairmake.stages.parts.evaluation import evaluate

FILE = "g.onnx"


def make_model(
    text: str, inputs: Mapping[str, tuple], known: Mapping[str, np.ndarray], opset: int = 21,
    outputs: str = "y", name: str = "g",
) -> ModelProto:
    """Return a model of nodes as ONNX's parser reads them, one a line."""
    nodes = [onnx.parser.parse_node(line) for line in text.strip().splitlines()]
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_empty_tensor_value_info(n) for n in outputs.split()],
        [numpy_helper.from_array(values, n) for n, values in known.items()],
    )
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    model = shape_inference.infer_shapes(model, data_prop=True)
    for output in model.graph.output:
        if not output.type.HasField("tensor_type"):
            shape = next(iter(inputs.values()))
            output.CopyFrom(helper.make_tensor_value_info(output.name, TensorProto.FLOAT, shape))
    return model


def extracted(model: ModelProto, sizes: Mapping[str, int] | None = None) -> Extracted:
    """Return what is extracted of a model, through its bytes."""
    return extract(load_model(model.SerializeToString(), FILE, sizes or {}), FILE, "float32")


def values(found: Extracted, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return the outputs of what was extracted, in their order."""
    program = found.draft.program("g", list(found.outputs.values()))
    volumes = found.draft.volumes([operation.name for operation in program.operations])
    given = {found.inputs[name]: array for name, array in inputs.items()}
    got = evaluate(program, volumes, {**given, **found.draft.weights})
    return [got[name] for name in found.outputs.values()]
