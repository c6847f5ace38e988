"""Errors where no placement would do: the whole text of each."""

from __future__ import annotations

from typing import Any

from tests.layer.test_errors_placement import PLACED


def test_no_placement_fits_in_memory(layer: Any) -> None:
    layer.edit("layer.yaml", PLACED, "(j, i)")
    layer.edit("layer.yaml", "target", "machine: {profile: wse2, memory: 16}\ntarget")
    assert layer.error() == """\
layer.yaml:4:12: error: no placement is found that works; the nearest one: needs 32 bytes on a PE \
(W 32), wse2 has 16; a target of some 12 PEs would have room
  placement: (j, i)
             ^^^^^^
hint: it is { ff[i, j] -> PE[j//4, 1 + i//4] : 0 <= i <= 7 and 0 <= j <= 7 }; make the target larger
"""


def test_no_placement_satisfies_the_ports(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "PE[2, 3]", "PE[2, 1]")
    layer.edit("layer.yaml", "PE[2, 1 + i//4] -> index[i mod 4]", "PE[1, 1] -> index[i]")
    assert layer.error() == """\
layer.yaml:4:17: error: no placement is found that works; the nearest one: adapters must spread x \
on the north row of the target, where ff[0, 0] runs
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: it is { ff[i, j] -> PE[1, 0] : 0 <= i <= 7 and 0 <= j <= 7 }; make the target larger
"""


def test_no_program_fits_in_memory(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "target", "machine: {profile: wse2, memory: 1024}\ntarget")
    assert layer.error() == """\
layer.yaml:3:1: error: none of the 8 placements that were tried works; the best: render: a PE of \
role compute needs 3368 bytes, wse2 has 1024
  target: "{ PE[2, 3] }"
  ^^^^^^
hint: candidates.yaml has what was tried; give a placement, or a larger target
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
