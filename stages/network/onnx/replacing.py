"""Weights of a graph as small integers, so that the whole is computed without rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator

from onnx import ModelProto, TensorProto, numpy_helper

from lairmake.stages.network.operators.node import draw_weights

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
SUMS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


def replace_weights(model: ModelProto, seed: int) -> None:
    """Replace the weights of a model by -1, 0 and 1, drawn from a seed.

    Of the terms of each sum so many are not zero that all sums of a chain remain exact. Single
    numbers, and what statistics are, stay as they are.
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
    """Yield what normalisations scale by: their results are no integers in any case."""
    for node in model.graph.node:
        if node.op_type.endswith("Normalization"):
            yield from node.input
