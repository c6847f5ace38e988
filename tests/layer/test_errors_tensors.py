"""Errors in what layer.yaml says of tensors: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest


def test_output_that_arrives(layer: Any) -> None:
    layer.edit("layer.yaml", "leaves", "arrives")
    assert layer.error() == """\
layer.yaml:6:3: error: y is an output and cannot arrive
    y: {arrives: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}
    ^
hint: outputs leave
"""


@pytest.mark.parametrize("type_", ["float32", "int32"])
def test_sparse_tensor_of_32_bits(layer: Any, type_: str) -> None:
    layer.edit("ff.lair", "T=float16", f"T={type_}")
    assert layer.error() == f"""\
layer.yaml:5:55: error: x is sparse, and {type_}
    x: {{arrives: "{{ x[i] -> [PE[0, -1] -> index[i]] }}", sparse: true}}
                                                        ^^^^^^
hint: a sparse wavelet holds 16 bits of value and 16 of index: use float16 or int16
"""


def test_next(layer: Any) -> None:
    layer.edit("layer.yaml", "sparse: true}", "sparse: true, next: y}")
    assert layer.error() == """\
layer.yaml:5:75: error: x arrives, and has a next
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true, next: y}
                                                                            ^
hint: leave one of them out: what arrives is given for every invocation
"""


def test_unknown_tensors(layer: Any) -> None:
    layer.edit("layer.yaml", "  x:", "  X:")
    layer.edit("layer.yaml", "  y:", "  out:")
    assert layer.error() == """\
layer.yaml:5:3: error: unknown tensor X
    X: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
    ^
hint: did you mean x?

layer.yaml:6:3: error: unknown tensor out
    out: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}
    ^^^
hint: tensors of ff: W, x, y
"""
