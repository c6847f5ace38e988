"""What a graph gives, by ONNX's own reference.

Source   ONNX, onnx.reference
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import ModelProto, helper
from onnx.reference import ReferenceEvaluator

from stages.diagnose import UserError
from stages.network.extraction.draft import Array
from stages.network.onnx.model import list_inputs


def run_reference(model: ModelProto, inputs: Mapping[str, Array], file: str) -> dict[str, Array]:
    """Return the outputs of a model by their names, of inputs by theirs.

    Raises UserError where the reference cannot compute them.
    """
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    given = {
        name: inputs[name].astype(helper.tensor_dtype_to_np_dtype(types[name]))
        for name in list_inputs(model)
    }
    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(None, given)
    except Exception as error:  # the reference raises what it likes
        said = " ".join(str(error).split())
        raise UserError(f"{file}: ONNX's reference cannot run it: {said}") from error
    names = [value.name for value in model.graph.output]
    return {name: np.asarray(each) for name, each in zip(names, found, strict=True)}
