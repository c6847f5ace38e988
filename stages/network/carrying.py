"""Carry what parts give into the inputs of the parts that take it, by the maps of what crosses."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import numpy as np

from stages.lair.layer import Tensor
from stages.reference.indexing import IN, OUT, move
from stages.reference.strided import Array


def carry(tensor: Tensor, otherwise: float, given: Sequence[tuple[isl.Map, Array]]) -> Array:
    """Return an input, in its type, made of outputs by { output[e] -> input[e'] }.

    Outputs with an axis more have one value for each invocation, the same number of them: so has
    the input then. What nothing gives is `otherwise`.
    """
    moves, arrays = zip(*given, strict=True)
    several = arrays[0].ndim > moves[0].dim(IN)
    counts = arrays[0].shape[:1] if several else ()
    made = np.full((*counts, *tensor.shape), otherwise, tensor.type)
    for each, array in zip(moves, arrays, strict=True):
        back = each.reverse()
        move(_at_each(back) if several else back, made, array, {})
    return made


def _at_each(back: isl.Map) -> isl.Map:
    """Return { input[n, e'] -> output[n, e] } of { input[e'] -> output[e] }."""
    names = [(kind, back.get_tuple_name(kind)) for kind in (IN, OUT)]
    for kind, _ in names:
        back = back.insert_dims(kind, 0, 1)
    for kind, name in names:
        back = back.set_tuple_name(kind, name)
    return back.equate(IN, 0, OUT, 0)
