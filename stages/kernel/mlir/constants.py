"""Constants of MLIR: their numbers, and the volumes that they are."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Operation

from lairmake.stages.kernel.mlir.draft import Draft


def constant(draft: Draft, operation: Operation) -> None:
    """Add arith.constant: one value, or a dense tensor of them."""
    assert isinstance(operation, ConstantOp)
    value, type_ = operation.value, operation.result.type
    if isinstance(type_, TensorType) and 0 in type_.get_shape():
        raise draft.error(operation, f"{type_} has no elements", "sizes are at least 1")
    if isinstance(value, DenseIntOrFPElementsAttr):
        values = [read_number(each) for each in value.get_attrs()]
        found = values[0] if value.is_splat() else values
    elif isinstance(value, FloatAttr | IntegerAttr):
        found = read_number(value)
    else:
        raise draft.error(operation, f"{value} has no values here", "give them: dense<...>")
    draft.define(operation.result, {"kind": "constant", "constant": found}, operation,
                 operation.name)


def read_number(value: FloatAttr[AnyFloat] | IntegerAttr) -> int | float:
    """Return a constant; of a float the shortest decimal that its type rounds to it."""
    if isinstance(value, IntegerAttr):
        return int(value.value.data)
    types = {16: np.float16, 32: np.float32}
    return float(str(types.get(value.type.bitwidth, np.float64)(value.value.data)))
