"""Errors where no placement would do: the whole text of each."""

from __future__ import annotations

from typing import Any

from tests.layer.test_errors_placement import PLACED


def test_no_room_for_adapters(layer: Any) -> None:
    layer.edit("layer.yaml", PLACED, "(j, i)")
    layer.edit("layer.yaml", "PE[2, 3]", "PE[2, 1]")
    layer.edit("layer.yaml", "1 + i//4", "0")
    layer.edit("layer.yaml", "i mod 4", "i")
    assert layer.error() == """\
layer.yaml:2:9: error: the target { PE[2, 1] } has no room for adapters
  target: "{ PE[2, 1] }"
          ^^^^^^^^^^^^^^
hint: make it larger
"""


def test_no_placement_could_be_chosen(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "{ PE[2, 3] }", "{ PE[1, 3] }")
    layer.edit("layer.yaml", "PE[2, 1 + i//4] -> index[i mod 4]", "PE[1, i mod 3] -> index[i//3]")
    assert layer.error() == """\
layer.yaml:2:9: error: the target { PE[1, 3] } has no room for adapters
  target: "{ PE[1, 3] }"
          ^^^^^^^^^^^^^^
hint: make it larger
"""


def test_whatever_the_placement_a_port_is_wrong(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "PE[0, -1]", "PE[0, -2]")
    assert layer.error() == """\
layer.yaml:4:17: error: x arrives from PE[0, -2], which is not adjacent to the target
    x: {arrives: "{ x[i] -> [PE[0, -2] -> index[i]] }", sparse: true}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is PE[0:1, 0:2]; external PEs stand one step outside it
"""
