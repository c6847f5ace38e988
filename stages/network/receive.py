"""Make the inputs of a part of what the parts before it gave, where elements move on the way.

Paper    V Sec. 1: a network is broken up into parts
Reads    layer.yaml, *.lair, crossed.isl, given/*.npy
Writes   build/inputs/*.npy
Assumes  each element of such an input is given once, or is what layer.yaml says, `otherwise`
         (connect).
Ensures  the same inputs give the same bytes.
"""

from __future__ import annotations

import io
import typing
from collections.abc import Iterator
from itertools import count, takewhile

import islpy as isl
import numpy as np

from lairmake.stages.network.maps import carry

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs
    from lairmake.stages.poly.text import Objects
    from lairmake.stages.reference.strided import Array

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors.*.otherwise",
    "*.lair",
    "crossed.isl",
    "given/*.npy",
)
WRITES = ("build/inputs/*.npy",)


def run(inputs: LayerInputs) -> dict[str, str | bytes]:
    """Return the inputs that are made of outputs of other parts."""
    moves, mapping = inputs.objects("crossed.isl"), inputs.mapping()
    written: dict[str, str | bytes] = {}
    for tensor in inputs.lair().inputs:
        given = list(_given(inputs, tensor.name, moves))
        if given:
            said = mapping.tensors.get(tensor.name)
            otherwise = 0.0 if said is None or said.otherwise is None else said.otherwise
            written[f"build/inputs/{tensor.name}.npy"] = _npy(carry(tensor, otherwise, given))
    return written


def _given(
    inputs: LayerInputs, tensor: str, moves: Objects
) -> Iterator[tuple[isl.Map, Array]]:
    """Yield { output[e] -> input[e'] } and the values of each output that an input is made of."""
    for name in takewhile(moves.__contains__, (f"{tensor}_{n}" for n in count())):
        yield isl.Map.from_union_map(moves[name]), inputs.array(f"given/{name}.npy")


def _npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
