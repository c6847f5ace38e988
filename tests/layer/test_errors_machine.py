"""Errors in the machine, and limits of it that a layer passes: the whole text of each."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from lairmake.stages.machine.profile import PROFILES

MACHINES = {
    "unknown": (
        "wse4",
        """\
layer.yaml:4:10: error: unknown profile wse4
  machine: wse4
           ^^^^
hint: profiles: ideal, paper, systolic, wse1, wse2, wse3
""",
    ),
    "unknown_far_from_all": (
        "tpu",
        """\
layer.yaml:4:10: error: unknown profile tpu
  machine: tpu
           ^^^
hint: profiles: ideal, paper, systolic, wse1, wse2, wse3
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
layer.yaml:4:26: error: unknown figure lane
  machine: {profile: wse2, lane: 8}
                           ^^^^
hint: did you mean lanes?
""",
    ),
    "unknown_type": (
        "{profile: wse2, lanes: {float64: 1}}",
        """\
layer.yaml:4:26: error: unknown type float64
  machine: {profile: wse2, lanes: {float64: 1}}
                           ^^^^^
hint: types: float16, float32, int16, int32
""",
    ),
    "no_lanes": (
        "{profile: wse2, lanes: 0}",
        """\
layer.yaml:4:26: error: profile wse2: lanes of float16 is 0, not a positive whole number
  machine: {profile: wse2, lanes: 0}
                           ^^^^^
hint: wse2 has 1 to 4 for float16, 1 to 2 for float32, 1 to 4 for int16, 1 to 2 for int32
""",
    ),
    "no_whole_number": (
        "{profile: wse2, memory: 1.5}",
        """\
layer.yaml:4:26: error: profile wse2: memory is 1.5, not a whole number
  machine: {profile: wse2, memory: 1.5}
                           ^^^^^^
hint: wse2 has 49152
""",
    ),
    "out_of_range": (
        "{profile: wse2, hop: 0}",
        """\
layer.yaml:4:26: error: profile wse2: hop is 0, not 1 to 1000
  machine: {profile: wse2, hop: 0}
                           ^^^
hint: wse2 has 1
""",
    ),
    "a_link_that_carries_no_whole_wavelets": (
        "{profile: wse2, link_width: 24}",
        """\
layer.yaml:4:26: error: profile wse2: link_width is 24, not 16, or a multiple of 32 up to 1024
  machine: {profile: wse2, link_width: 24}
                           ^^^^^^^^^^
hint: wse2 has 32
""",
    ),
    "no_depths_of_queues": (
        "{profile: wse2, input_queues: [4, 0]}",
        """\
layer.yaml:4:26: error: profile wse2: input_queues is [4, 0], not the words of 16 bits, 2 to 8192, \
that each of up to 32 queues holds: [6, 4], or []
  machine: {profile: wse2, input_queues: [4, 0]}
                           ^^^^^^^^^^^^
hint: wse2 has [6, 6, 4, 4, 2, 2, 2, 2]
""",
    ),
    "queues_one_way_only": (
        "{profile: wse2, input_queues: []}",
        """\
layer.yaml:4:26: error: profile wse2: input_queues is [], as many as are wanted, and output_queues \
is not
  machine: {profile: wse2, input_queues: []}
                           ^^^^^^^^^^^^
hint: give input_queues depths, or let output_queues be [], too
""",
    ),
    "fewer_threads_than_queues": (
        "{profile: wse2, threads: 4}",
        """\
layer.yaml:4:26: error: profile wse2: threads is 4, and each of 8 input_queues needs one while it \
is in use
  machine: {profile: wse2, threads: 4}
                           ^^^^^^^
hint: raise threads, or give input_queues fewer depths; []: as many as are wanted
""",
    ),
    "data_tasks_without_queues": (
        "{profile: ideal, data_tasks: queues}",
        """\
layer.yaml:4:27: error: profile ideal: data_tasks is queues, and input_queues is []
  machine: {profile: ideal, data_tasks: queues}
                            ^^^^^^^^^^
hint: give input_queues depths, or let data_tasks be colours
""",
    ),
    "more_colours_than_task_ids": (
        "{profile: wse2, colours: 32}",
        """\
layer.yaml:4:26: error: profile wse2: task_ids is 31, and data_tasks take those of 32 colours
  machine: {profile: wse2, colours: 32}
                           ^^^^^^^
hint: raise task_ids, or lower colours; task_ids 0: as many as are wanted
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
hint: make the target smaller, or take a machine with a larger grid
""",
    ),
    "colours": (
        "{profile: wse2, colours: 2}",
        """\
layer.yaml:5:1: error: the routes need 3 colours, wse2 has 2: on PE[1, 1] meet x, y_even, y_odd
  tensors:
  ^^^^^^^
hint: let fewer tensors arrive and leave there
""",
    ),
    "memory": (
        "{profile: wse2, memory: 3350}",
        """\
layer.yaml:2:9: error: a PE of role compute needs 3368 bytes, wse2 has 3350
  target: "{ PE[2, 3] }"
          ^^^^^^^^^^^^^^
hint: code 3328, W_local 32, y_local 8; spread the layer over more PEs
""",
    ),
    "memory_for_code": (
        "{profile: wse2, memory: 3000}",
        """\
layer.yaml:2:9: error: a PE of role compute needs 3368 bytes, wse2 has 3000
  target: "{ PE[2, 3] }"
          ^^^^^^^^^^^^^^
hint: code 3328, W_local 32, y_local 8; the code alone is too large: take a machine with more memory
""",
    ),
}

FILES = {
    "syntax": (
        "memory: [1",
        """\
layer.yaml:4:10: error: wafer.yaml is not YAML: line 1: found the end of the text, expected `,` \
or `]`
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
wafer.yaml:1:1: error: unknown figure memry
  memry: 1
  ^^^^^
hint: did you mean memory?
""",
    ),
}


@pytest.mark.wide_after(11)
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


def test_a_figure_in_the_file_of_a_machine_is_shown_there(layer: Any) -> None:
    figures = yaml.safe_load((PROFILES / "wse2.yaml").read_text(encoding="utf-8"))
    narrow = "link_width: {value: 24, source: ours, grade: M}"
    lines = [narrow if k == "link_width" else f"{k}: {json.dumps(v)}" for k, v in figures.items()]
    layer.write("wafer.yaml", "\n".join(lines))
    layer.edit("layer.yaml", "tensors:", "machine: wafer.yaml\ntensors:")
    line = 1 + list(figures).index("link_width")
    assert layer.error() == f"""\
wafer.yaml:{line}:1: error: profile wafer: link_width is 24, not 16, or a multiple of 32 up to 1024
  {narrow}
  ^^^^^^^^^^
"""


def test_file_of_a_machine_that_is_no_text(layer: Any) -> None:
    (layer.path / "wafer.yaml").write_bytes(b"\xff\xfe")
    layer.edit("layer.yaml", "tensors:", "machine: wafer.yaml\ntensors:")
    assert layer.error() == "error: wafer.yaml is not UTF-8 text: byte 0 is damaged\n"


def test_sparse_tensor_whose_zeros_matter_and_cannot_be_stored(layer: Any) -> None:
    layer.edit("ff.lair", " * x[j]", " + x[j]")
    layer.edit("layer.yaml", "tensors:", "machine: {profile: wse2, memory: 3880}\ntensors:")
    assert layer.error() == """\
layer.yaml:2:9: error: a PE of role compute needs 3888 bytes, wse2 has 3880
  target: "{ PE[2, 3] }"
          ^^^^^^^^^^^^^^
hint: code 3840, W_local 32, x_local 8, y_local 8; the zeros of x matter, so that it is stored
"""
