"""Values of the inputs of a kernel: given, or made from `data:`."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Source, Span
from lairmake.stages.lair.layer import Layer, Tensor
from lairmake.stages.mapping.kernel_yaml import Kernel
from lairmake.stages.parts.evaluation import extents
from lairmake.stages.reference.data import generate, read_inputs
from lairmake.stages.reference.strided import (
    Array,
)
from lairmake.stages.volumes.operation import VolumeProgram

NOWHERE = Span(source=Source(path="", text=""), start=0, end=0)


def make_kernel_values(
    program: VolumeProgram,
    volumes: Mapping[str, isl.Set],
    kernel: Kernel,
    given: Mapping[str, Array],
) -> dict[str, Array]:
    """Return every input, constant tensor and counting volume, in its type and shape.

    Raises UserErrors for a file that does not fit its input.
    """
    tensors = tuple(
        Tensor(name=each.name, type=program.types[each.name], span=NOWHERE,
               shape=extents(volumes[each.name], {}))
        for each in program.operations if each.kind == "input"
    )
    layer = Layer(name=program.name, inputs=tensors, outputs=(), statements=())
    data = kernel.data
    made, _ = generate(layer, data.seed, data.kind, data.density, ())
    read = {name: values[0] for name, values in read_inputs(dict(given), layer).items()}
    return {**made[0], **read, **_constants(program, volumes)}


def _constants(program: VolumeProgram, volumes: Mapping[str, isl.Set]) -> dict[str, Array]:
    found = {}
    for each in program.operations:
        shape = extents(volumes[each.name], {}) if each.name in volumes else ()
        if isinstance(each.constant, list):
            values = np.asarray(each.constant, program.types[each.name])
            found[each.name] = values.reshape(shape)
        elif each.kind == "index":
            found[each.name] = np.arange(*shape).astype(program.types[each.name])
    return found
