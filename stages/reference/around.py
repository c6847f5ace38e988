"""Elements that never arrive: where a tensor has them, and what they are.

Source   layer.yaml, `otherwise`: the padding of a convolution is there from the start
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.layer import Layer, Tensor
from lairmake.stages.mapping.isl_texts import parse_map
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.poly.functions import evaluate_set
from lairmake.stages.reference.strided import Array, blocks
from lairmake.stages.reference.unroll import Samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the elements of a tensor are that never arrive, and where they lie: in `mask`."""

    value: float
    mask: Array


def find_around(mapping: LayerMapping, layer: Layer) -> dict[str, Around]:
    """Return where elements of inputs never arrive, by tensor."""
    found = {}
    for tensor in layer.inputs:
        given = mapping.tensors.get(tensor.name)
        if given is not None and given.otherwise is not None and given.arrives is not None:
            arriving = parse_map(given.arrives).domain()
            found[tensor.name] = Around(value=given.otherwise, mask=~_inside(arriving, tensor))
    return found


def _inside(arriving: isl.UnionSet, tensor: Tensor) -> Array:
    """Return which elements of a tensor are in { T[e] }."""
    names = [f"i{k}" for k in range(len(tensor.shape))]
    element = isl.MultiId(f"[{', '.join(names)}] -> {{ {tensor.name}[{', '.join(names)}] }}")
    elements = isl.Set.from_union_set(arriving).bind(element)
    inside = np.zeros(tensor.shape, bool)
    for block in blocks(tensor.shape, ()):
        axes = np.ix_(*(np.arange(each.start, each.stop) for each in block))
        values = dict(zip(names, axes, strict=True))
        where: Any = (..., *(slice(each.start, each.stop) for each in block))
        inside[where] = evaluate_set(elements, values)
    return inside


def surround(samples: Samples, around: Mapping[str, Around]) -> Samples:
    """Return the inputs of each invocation, with what is there where nothing arrives.

    What is the same array in several invocations stays so.
    """
    known: dict[tuple[str, int], Array] = {}
    for sample in samples:
        for name in around.keys() & sample.keys():
            array = sample[name]
            if (name, id(array)) not in known:
                known[name, id(array)] = _filled(array, around[name])
    return [{k: known.get((k, id(v)), v) for k, v in sample.items()} for sample in samples]


def _filled(array: Array, around: Around) -> Array:
    return np.where(around.mask, array.dtype.type(around.value), array)


def check_around(name: str, values: Array, around: Around) -> None:
    """Raise UserError for a file that has another value where nothing arrives."""
    wrong = np.argwhere(around.mask & (values != values.dtype.type(around.value)))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        index = "".join(f"[{k}]" for k in place)
        message = f"inputs/{name}.npy holds {values[place]} at {name}{index}, which never arrives"
        hint = f"elements that never arrive are {around.value:g} there, as layer.yaml says"
        raise UserError(message, hint=hint)
