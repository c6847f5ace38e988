"""Weights as small integers, so that a whole network is computed without rounding.

Source   design, Arithmetic: with `kind: integers` every order of evaluation gives the same bits
"""

from __future__ import annotations

import zlib

import numpy as np

from lairmake.stages.network.extraction.draft import Array, Shape

GROWTH = 2.0**19
"""By how much all sums together may grow what the inputs are: small integers, in float32."""


def draw_weights(name: str, shape: Shape, terms: float, sums: int, seed: int) -> Array:
    """Return -1, 0 and 1 for weights, drawn from a seed and their name.

    Of `terms` that are summed so many are not zero that a chain of `sums` remains exact.
    """
    draw = np.random.default_rng([seed, zlib.crc32(name.encode())])
    most = GROWTH ** (1 / max(sums, 1))
    signs = draw.choice([-1, 1], shape)
    found: Array = signs * (draw.random(shape) < most / terms)
    return found
