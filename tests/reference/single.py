"""One invocation of a layer: its outputs, and how far correct ones may lie from them."""

from __future__ import annotations

from lairmake.stages.lair import Layer
from lairmake.stages.reference.error_bound import magnitudes
from lairmake.stages.reference.evaluate import Arrays, evaluate_all
from lairmake.stages.reference.strided import Array


def evaluate(layer: Layer, inputs: Arrays) -> dict[str, Array]:
    (tensors,) = evaluate_all(layer, [inputs])
    return {tensor.name: tensors[tensor.name] for tensor in layer.outputs}


def magnitude(layer: Layer, inputs: Arrays) -> dict[str, Array]:
    return magnitudes(layer, evaluate_all(layer, [inputs]))[0]
