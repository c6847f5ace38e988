"""Errors of vector instructions with too many dimensions or configurations: the whole text."""

from __future__ import annotations

from typing import Any

FIVE_DIMENSIONS = """\
lair f(): float16 x[2][2][2][2][2] -> float16 y[2][2][2][2][2]
{
  all (a, b, c, d, e) in (2, 2, 2, 2, 2)
    y[a][b][c][d][e] = x[e][d][c][b][a]
}
"""

FIVE_DIMENSIONS_PLACED = """\
target: "{ PE[1, 1] }"
placement: "{ f[a,b,c,d,e] -> PE[0, 0] }"
simd: {prefer: hull}
"""

CONVOLUTION = """\
lair c(): float16 w[20], float16 x[40] -> float16 y[21]
{
  all (i, j) in (21, 20)
    y[i] += w[j] * x[i + j]
}
"""

CONVOLUTION_PLACED = """\
target: "{ PE[1, 1] }"
placement: "{ c[i,j] -> PE[0, 0] }"
simd: {prefer: enumerate}
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
"""


def test_five_dimensions(layer: Any) -> None:
    layer.write("ff.lair", FIVE_DIMENSIONS)
    layer.write("layer.yaml", FIVE_DIMENSIONS_PLACED)
    assert layer.error() == """\
layer.yaml:3:7: error: compute_f needs 5 dimensions, a vector instruction has 4
  simd: {prefer: hull}
        ^^^^^^^^^^^^^^
hint: leave `prefer` out
"""


def test_too_many_configurations(layer: Any) -> None:
    layer.write("ff.lair", CONVOLUTION)
    layer.write("layer.yaml", CONVOLUTION_PLACED)
    assert layer.error() == """\
layer.yaml:3:7: error: on_x needs 20 configurations of vector instructions, 15 of 16 \
descriptors are free (not published)
  simd: {prefer: enumerate}
        ^^^^^^^^^^^^^^^^^^^
hint: leave `prefer` out
"""


def test_streams_need_too_many_configurations(layer: Any) -> None:
    layer.edit("layer.yaml", "sparse: true", "sparse: false")
    layer.edit(
        "layer.yaml", "tensors:", "machine: {profile: wse2, descriptors: 1}\ntensors:"
    )
    assert layer.error() == """\
layer.yaml:5:1: error: spread_x needs 1 configuration of vector instructions, 0 of 1 \
descriptors are free
  tensors:
  ^^^^^^^
hint: let fewer tensors arrive and leave
"""


def test_sequences_that_leave_need_a_configuration_of_their_own(layer: Any) -> None:
    layer.edit("layer.yaml", "index[i mod 4]] }\"", "index[i mod 4]] }\", sparse: true")
    layer.edit(
        "layer.yaml", "tensors:", "machine: {profile: wse2, descriptors: 1}\ntensors:"
    )
    assert layer.error() == """\
layer.yaml:5:1: error: pack_y needs 1 configuration of vector instructions, 0 of 1 \
descriptors are free
  tensors:
  ^^^^^^^
hint: let fewer tensors arrive and leave
"""
