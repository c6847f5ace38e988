"""The types of elements that MLIR and LAIR both have, and which of them every stage takes."""

from __future__ import annotations

ELEMENTS = {"f16": "float16", "f32": "float32", "i16": "int16", "i32": "int32"}
"""What LAIR calls the types that every stage takes."""

UNCUT = {"f64": "float64", "i64": "int64"}
"""Those of kernels of which only the maps are wanted: no machine computes in them."""

KNOWN = f"elements are {', '.join(ELEMENTS)}"
HINT = f"{KNOWN}; without `facts` and `tiles` {', '.join(UNCUT)}, too"
VALUES = (
    "values are tensors, as tensor<8x4xf32>; sizes are numbers, or `?` where `sizes` of "
    "kernel.yaml says them"
)
"""The remedy where something else than a tensor has a shape."""
