"""Evaluate a layer directly with NumPy: the reference that every result is compared with.

No isl takes part. Floats are computed in float64 and rounded once to the output's type; every call
and quotient is a float32. Integers wrap (design, Arithmetic).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stages.lair.accumulate import accumulate, value
from stages.lair.layer import Layer
from stages.lair.magnitude import magnitude
from stages.lair.strided import Array

__all__ = ["evaluate", "magnitude"]


def evaluate(layer: Layer, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return every output, in its type and shape, from inputs in theirs."""
    with np.errstate(all="ignore"):
        return {
            statement.target.tensor: accumulate(statement, layer, inputs, value).astype(
                layer.tensors[statement.target.tensor].type
            )
            for statement in layer.statements
        }
