"""Evaluate a layer directly with NumPy: the reference that every result is compared with.

No isl takes part. Floats are computed in float64 and rounded once to the tensor's type; every call
and quotient is a float32. Integers wrap (design, Arithmetic).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.machine.types import find_integers
from lairmake.stages.reference.accumulate import accumulate, value
from lairmake.stages.reference.strided import Array
from lairmake.stages.reference.unroll import Arrays, Samples, unroll


def evaluate_all(layer: Layer, samples: Samples) -> list[Arrays]:
    """Return all tensors, inputs included, in each invocation."""

    def defined(statement: Statement, tensors: Arrays) -> Array:
        types = [layer.tensors[a.tensor].type for a in (statement.target, *statement.reads)]
        meaning = partial(value, whole=find_integers(types))
        return accumulate(statement, layer, tensors, meaning).astype(types[0])

    with np.errstate(all="ignore"):
        return unroll(layer, samples, defined)
