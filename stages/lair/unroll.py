"""Go through the invocations of a layer: what changes from one to the next.

Source   Verdoolaege et al., IMPACT 2020, Sec. 4.1.2: "delays between different parts of the LAIR
         graph"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from stages.lair.layer import Layer, Statement
from stages.lair.strided import Array

Arrays = Mapping[str, Array]
"""Tensors by name."""

Meaning = Callable[[Statement, Arrays], Array]
"""What a statement defines, from all that is known in an invocation."""


def unroll(layer: Layer, inputs: Arrays, invocations: int, meaning: Meaning) -> list[Arrays]:
    """Return all tensors in each invocation, from the inputs of the first one.

    What is delayed is zero at first; what is carried changes afterwards. Where nothing is, all
    invocations are the same arrays.
    """
    found: list[Arrays] = []
    zeros = {tensor.name: np.zeros(tensor.shape, tensor.type) for tensor in layer.delayed}
    tensors: dict[str, Array] = {**inputs, **zeros}
    for _ in range(invocations if layer.carries else 1):
        tensors = dict(tensors)
        for statement in layer.statements:
            tensors[statement.target.tensor] = meaning(statement, tensors)
        found.append(tensors)
        tensors = tensors | {c.tensor: tensors[c.source] for c in layer.carries}
    return found if layer.carries else found * invocations
