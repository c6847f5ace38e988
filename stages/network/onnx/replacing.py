"""Weights of a graph as small integers, so that the whole is computed without rounding.

Source   design, Arithmetic: with `kind: integers` every order of evaluation gives the same bits
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator

import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper

from stages.network.extraction.draft import Array

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
SUMS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
GROWTH = 2.0**19
"""By how much all sums together may grow what the inputs are: small integers, in float32."""


def replace_weights(model: ModelProto, seed: int) -> None:
    """Replace the weights of a model by -1, 0 and 1, drawn from a seed.

    Of the terms of each sum so many are not zero that all sums of a chain remain exact. Single
    numbers, and what statistics are, stay as they are.
    """
    sums = sum(node.op_type in SUMS for node in model.graph.node)
    most = GROWTH ** (1 / max(sums, 1))
    kept = set(_statistics(model))
    for tensor in model.graph.initializer:
        size = math.prod(tensor.dims)
        if tensor.data_type in FLOATS and size > 1 and tensor.name not in kept:
            drawn = _draw(tensor, seed, most).astype(numpy_helper.to_array(tensor).dtype)
            tensor.CopyFrom(numpy_helper.from_array(drawn, tensor.name))


def _statistics(model: ModelProto) -> Iterator[str]:
    """Yield what normalisations scale by: their results are no integers in any case."""
    for node in model.graph.node:
        if node.op_type.endswith("Normalization"):
            yield from node.input


def _draw(tensor: TensorProto, seed: int, most: float) -> Array:
    """Return values of which a sum over all dimensions but one has at most about `most`."""
    draw = np.random.default_rng([seed, zlib.crc32(tensor.name.encode())])
    shape = tuple(tensor.dims)
    terms = math.prod(shape) / min(shape[0], shape[-1]) if len(shape) > 1 else 1
    signs = draw.choice([-1, 1], shape)
    found: Array = signs * (draw.random(shape) < most / terms)
    return found
