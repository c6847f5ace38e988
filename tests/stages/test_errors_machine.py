"""Errors in the machine, and limits of it that a layer passes: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest


MACHINES = {
    "unknown": (
        "wse4",
        """\
layer.yaml:4:10: error: unknown profile wse4: known are ideal, paper, wse1, wse2, wse3; did you mean wse3?
  machine: wse4
           ^^^^
""",
    ),
    "unknown_far_from_all": (
        "tpu",
        """\
layer.yaml:4:10: error: unknown profile tpu: known are ideal, paper, wse1, wse2, wse3
  machine: tpu
           ^^^
""",
    ),
    "missing_file": (
        "wafer.yaml",
        """\
layer.yaml:4:10: error: wafer.yaml does not exist
  machine: wafer.yaml
           ^^^^^^^^^^
hint: a path starts from the layer folder
""",
    ),
    "unknown_figure": (
        "{profile: wse2, lane: 8}",
        """\
layer.yaml:4:10: error: unknown figure lane: known are grid, memory, lanes, vector_start_up, configuration, live_configurations, dimensions, loop, scalar, address, dispatch, hop, ramp, link_width, queue_depth, instruction_queue, colours, positions, filters, multicast, code_base, code_task; did you mean lanes?
  machine: {profile: wse2, lane: 8}
           ^^^^^^^^^^^^^^^^^^^^^^^^
""",
    ),
    "unknown_type": (
        "{profile: wse2, lanes: {float64: 1}}",
        """\
layer.yaml:4:10: error: unknown type float64: known are float16, float32, int16, int32; did you mean float16?
  machine: {profile: wse2, lanes: {float64: 1}}
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    ),
    "no_lanes": (
        "{profile: wse2, lanes: 0}",
        """\
layer.yaml:4:10: error: profile wse2: lanes is {'float16': 0, 'float32': 0, 'int16': 0, 'int32': 0}, not positive
  machine: {profile: wse2, lanes: 0}
           ^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    ),
    "no_whole_number": (
        "{profile: wse2, memory: 1.5}",
        """\
layer.yaml:4:10: error: profile wse2: memory is 1.5, not a whole number
  machine: {profile: wse2, memory: 1.5}
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    ),
    "out_of_range": (
        "{profile: wse2, hop: 0}",
        """\
layer.yaml:4:10: error: profile wse2: hop is 0, not 1 to 1000
  machine: {profile: wse2, hop: 0}
           ^^^^^^^^^^^^^^^^^^^^^^^
""",
    ),
    "without_profile": (
        "{lanes: 8}",
        """\
layer.yaml:4:10: error: machine must be a profile's name, a path, or a mapping with `profile`
  machine: {lanes: 8}
           ^^^^^^^^^^
""",
    ),
    "number": (
        "3",
        """\
layer.yaml:4:10: error: machine must be a profile's name, a path, or a mapping with `profile`
  machine: 3
           ^
""",
    ),
    "columns_and_rows": (
        "{profile: wse2, grid: [1, 1]}",
        """\
layer.yaml:2:9: error: the target is 2 x 3 PEs, wse2 has 1 x 1
  target: "{ PE[2, 3] }"
          ^^^^^^^^^^^^^^
""",
    ),
    "colours": (
        "{profile: wse2, colours: 3}",
        """\
layer.yaml:5:1: error: the routes need 4 colours, wse2 has 3
  tensors:
  ^^^^^^^
hint: let fewer tensors arrive and leave apart
""",
    ),
    "memory": (
        "{profile: wse2, memory: 3000}",
        """\
layer.yaml:2:9: error: a PE with role compute needs 3368 bytes (W_local 32, y_local 8, code 3328), wse2 has 3000
  target: "{ PE[2, 3] }"
          ^^^^^^^^^^^^^^
hint: spread the layer over more PEs
""",
    ),
}

FILES = {
    "syntax": (
        "memory: [1",
        """\
layer.yaml:4:10: error: wafer.yaml is not YAML: line 1: expected ',' or ']', but got '<stream end>'
  machine: wafer.yaml
           ^^^^^^^^^^
""",
    ),
    "list": (
        "- memory",
        """\
layer.yaml:4:10: error: wafer.yaml is not a mapping from figures to values
  machine: wafer.yaml
           ^^^^^^^^^^
""",
    ),
    "unknown_figure": (
        "memry: 1",
        """\
layer.yaml:4:10: error: unknown figure memry: known are grid, memory, lanes, vector_start_up, configuration, live_configurations, dimensions, loop, scalar, address, dispatch, hop, ramp, link_width, queue_depth, instruction_queue, colours, positions, filters, multicast, code_base, code_task; did you mean memory?
  machine: wafer.yaml
           ^^^^^^^^^^
""",
    ),
}

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


@pytest.mark.parametrize("case", MACHINES)
def test_machine(layer: Any, case: str) -> None:
    machine, expected = MACHINES[case]
    layer.edit("layer.yaml", "tensors:", f"machine: {machine}\ntensors:")
    assert layer.error() == expected


@pytest.mark.parametrize("case", FILES)
def test_file_of_a_machine(layer: Any, case: str) -> None:
    figures, expected = FILES[case]
    layer.write("wafer.yaml", figures)
    layer.edit("layer.yaml", "tensors:", "machine: wafer.yaml\ntensors:")
    assert layer.error() == expected


def test_file_of_a_machine_that_is_no_text(layer: Any) -> None:
    (layer.path / "wafer.yaml").write_bytes(b"\xff\xfe")
    layer.edit("layer.yaml", "tensors:", "machine: wafer.yaml\ntensors:")
    assert layer.error() == "error: wafer.yaml is not UTF-8 text: byte 0 is damaged\n"


def test_sparse_tensor_whose_zeros_matter_and_cannot_be_stored(layer: Any) -> None:
    layer.edit("ff.lair", " * x[j]", " + x[j]")
    layer.edit("layer.yaml", "tensors:", "machine: {profile: wse2, memory: 3400}\ntensors:")
    assert layer.error() == """\
layer.yaml:2:9: error: a PE with role compute needs 3888 bytes (W_local 32, x_local 8, y_local 8, code 3840), wse2 has 3400
  target: "{ PE[2, 3] }"
          ^^^^^^^^^^^^^^
hint: x is sparse but its zeros matter, so that it must be stored: store less of it per PE, or let statements react to it
"""


def test_five_dimensions(layer: Any) -> None:
    layer.write("ff.lair", FIVE_DIMENSIONS)
    layer.write("layer.yaml", FIVE_DIMENSIONS_PLACED)
    assert layer.error() == """\
layer.yaml:3:7: error: init_y needs 5 dimensions, a vector instruction has 4
  simd: {prefer: hull}
        ^^^^^^^^^^^^^^
hint: use `simd: {prefer: loops}`
"""


def test_too_many_configurations(layer: Any) -> None:
    layer.write("ff.lair", CONVOLUTION)
    layer.write("layer.yaml", CONVOLUTION_PLACED)
    assert layer.error() == """\
layer.yaml:3:7: error: on_x needs 20 configurations of vector instructions, of 16 on a PE 15 are free
  simd: {prefer: enumerate}
        ^^^^^^^^^^^^^^^^^^^
hint: use `simd: {prefer: loops}`
"""


def test_streams_need_too_many_configurations(layer: Any) -> None:
    layer.edit("layer.yaml", "sparse: true", "sparse: false")
    layer.edit(
        "layer.yaml", "tensors:", "machine: {profile: wse2, live_configurations: 1}\ntensors:"
    )
    assert layer.error() == """\
layer.yaml:5:1: error: spread_x needs 1 configuration of vector instructions, of 1 on a PE 0 are free
  tensors:
  ^^^^^^^
hint: let fewer tensors arrive and leave
"""
