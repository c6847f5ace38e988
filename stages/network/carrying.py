"""Carry what parts give into the inputs of the parts that take it, by the maps of what crosses."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import numpy as np

from lairmake.stages.lair.layer import Tensor
from lairmake.stages.reference.strided import IN, OUT, Array, move


def carry(tensor: Tensor, otherwise: float, given: Sequence[tuple[isl.Map, Array]]) -> Array:
    """Return an input, in its type, made of outputs by { output[e] -> input[e'] }.

    Outputs with an axis more have one value for each invocation, the same number of them: so has
    the input then, and others are the same in each. What nothing gives is `otherwise`.
    """
    counts = {a.shape[:1] for each, a in given if a.ndim > each.dim(IN)} or {()}
    (count,) = counts
    made = np.full((*count, *tensor.shape), otherwise, tensor.type)
    for each, array in given:
        back = each.reverse()
        values = np.broadcast_to(array, (*count, *array.shape[array.ndim - each.dim(IN):]))
        move(_at_each(back) if count else back, made, values, {})
    return made


def _at_each(back: isl.Map) -> isl.Map:
    """Return { input[n, e'] -> output[n, e] } of { input[e'] -> output[e] }."""
    names = [(kind, back.get_tuple_name(kind)) for kind in (IN, OUT)]
    for kind, _ in names:
        back = back.insert_dims(kind, 0, 1)
    for kind, name in names:
        back = back.set_tuple_name(kind, name)
    return back.equate(IN, 0, OUT, 0)
