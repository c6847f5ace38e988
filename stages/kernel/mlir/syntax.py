"""Syntax of MLIR in kernels: the types of elements, and remedies for other spellings."""

from __future__ import annotations

# --- Forms of operations --------------------------------------------------------------------------
#
# Source   MLIR, dialects arith, func, linalg, math, tensor: the syntax of each operation

BODY = "{ ^bb0(%u: f32, %v: f32): linalg.yield %u : f32 }"
IDENTITY = "affine_map<(i) -> (i)>"
SAME = "%x : tensor<4x8xf32>"
ROW = "%r : tensor<8xf32>"
FORMS = {
    "func.func": (
        "func.func @name(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }"
    ),
    "func.return": "return %x : tensor<4x8xf32>",
    "return": "return %x : tensor<4x8xf32>",
    "arith.constant": "%y = arith.constant 1.0 : f32",
    "arith.cmpf": "%y = arith.cmpf olt, %x, %x : tensor<4x8xf32>",
    "arith.cmpi": "%y = arith.cmpi slt, %i, %i : index",
    "arith.select": "%y = arith.select %t, %x, %x : tensor<4x8xi1>, tensor<4x8xf32>",
    "arith.index_cast": "%y = arith.index_cast %i : index to i32",
    "affine.apply": "%y = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)",
    "tensor.empty": "%y = tensor.empty() : tensor<8xf32>",
    "tensor.dim": "%y = tensor.dim %x, %i : tensor<4x8xf32>",
    "tensor.cast": "%y = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>",
    "tensor.splat": "%y = tensor.splat %c : tensor<8xf32>",
    "tensor.extract": "%y = tensor.extract %x[%i, %i] : tensor<4x8xf32>",
    "tensor.pad": (
        "%y = tensor.pad %r low[1] high[0] { ^bb0(%k: index): tensor.yield %c : f32 } : "
        "tensor<8xf32> to tensor<9xf32>"
    ),
    "tensor.extract_slice": (
        "%y = tensor.extract_slice %x[0, 2] [4, 3] [1, 1] : tensor<4x8xf32> to tensor<4x3xf32>"
    ),
    "tensor.insert_slice": (
        "%y = tensor.insert_slice %r into %x[1, 0] [1, 8] [1, 1] : "
        "tensor<8xf32> into tensor<4x8xf32>"
    ),
    "tensor.concat": (
        "%y = tensor.concat dim(0) %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>"
    ),
    "tensor.collapse_shape": (
        "%y = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>"
    ),
    "tensor.expand_shape": (
        "%y = tensor.expand_shape %r [[0, 1]] output_shape [2, 4] : "
        "tensor<8xf32> into tensor<2x4xf32>"
    ),
    "linalg.generic": (
        f"%y = linalg.generic {{indexing_maps = [{IDENTITY}, {IDENTITY}], "
        f'iterator_types = ["parallel"]}} ins({ROW}) outs({ROW}) {BODY} -> tensor<8xf32>'
    ),
    "linalg.index": "%k = linalg.index 0 : index",
    "linalg.yield": "linalg.yield %u : f32",
    "linalg.fill": "%y = linalg.fill ins(%c : f32) outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>",
    "linalg.map": f"%y = linalg.map {{ math.exp }} ins({SAME}) outs({SAME})",
    "linalg.reduce": (
        f"%y = linalg.reduce {{ arith.addf }} ins({SAME}) outs({ROW}) dimensions = [0]"
    ),
    "linalg.broadcast": f"%y = linalg.broadcast ins({ROW}) outs({SAME}) dimensions = [0]",
    "linalg.transpose": (
        f"%y = linalg.transpose ins({SAME}) outs(%z : tensor<8x4xf32>) permutation = [1, 0]"
    ),
    "linalg.matmul": (
        "%y = linalg.matmul ins(%x, %z : tensor<4x8xf32>, tensor<8x4xf32>) "
        "outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>"
    ),
}
"""An example of each operation, on values of its kind."""

OTHERS = {
    "arith": "%y = arith.addf %x, %x : tensor<4x8xf32>",
    "math": "%y = math.exp %x : tensor<4x8xf32>",
    "linalg": (
        "%y = linalg.add ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) "
        "outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>"
    ),
}
"""An example for each dialect, for operations without one of their own."""


def show_form(name: str) -> str | None:
    """Return an example of an operation, as a remedy; None for an unknown one."""
    form = FORMS.get(name) or OTHERS.get(name.partition(".")[0])
    return None if form is None else f"it is written as `{form}`"

# --- Types of elements ----------------------------------------------------------------------------

ELEMENTS = {"f16": "float16", "f32": "float32", "i16": "int16", "i32": "int32"}
"""LAIR's names of the types that every stage takes."""

UNCUT = {"f64": "float64", "i64": "int64"}
"""Types of kernels of which only the maps are wanted: no machine computes in them."""

KNOWN = f"elements are {', '.join(ELEMENTS)}"
HINT = f"{KNOWN}; without `facts` and `tiles` {', '.join(UNCUT)}, too"
VALUES = (
    "values are tensors, as tensor<8x4xf32>; sizes are numbers, or `?` where `sizes` of "
    "kernel.yaml says them"
)
"""The remedy for a shape of anything but a tensor."""
