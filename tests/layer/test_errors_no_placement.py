"""Errors where no placement would do: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from tests.layer.test_errors_placement import PLACED


@pytest.mark.wide
def test_no_placement_fits_in_memory(layer: Any) -> None:
    layer.edit("layer.yaml", PLACED, "(j, i)")
    layer.edit("layer.yaml", "target", "machine: {profile: wse2, memory: 16}\ntarget")
    assert layer.error() == """\
layer.yaml:4:12: error: no placement is found that works; the nearest one: needs 32 bytes on a PE \
(W 32), wse2 has 16; a target of some 12 PEs would have room
  placement: (j, i)
             ^^^^^^
hint: it is { ff[i, j] -> PE[j//4, 1 + i//4] : 0 <= i <= 7 and 0 <= j <= 7 }; make the target \
larger; candidates.yaml has all 16
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
hint: it is { ff[i, j] -> PE[1, 0] : 0 <= i <= 7 and 0 <= j <= 7 }; let x arrive anywhere, \
`arrives: true`, or make the target larger; candidates.yaml has all 6
"""


@pytest.mark.wide
def test_no_program_fits_in_memory(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "target", "machine: {profile: wse2, memory: 3360}\ntarget")
    assert layer.error() == """\
layer.yaml:3:1: error: none of the 8 placements that were tried works; the smallest: render: a PE \
of role compute needs 3364 bytes, wse2 has 3360
  target: "{ PE[2, 3] }"
  ^^^^^^
hint: code 3328, W_local 32, y_local 4; a target of some 12 PEs would have room; it is \
{ ff[i, j] -> PE[i//2 - 2*(i//4), 1 + i//4] : 0 <= i <= 7 and 0 <= j <= 7 }
"""


def test_what_was_thought_of_is_told_where_none_of_it_works(layer: Any) -> None:
    layer.edit("layer.yaml", PLACED, "(j, i)")
    layer.edit("layer.yaml", "target", "machine: {profile: wse2, memory: 16}\ntarget")
    folder = open_folder(layer.path)
    for stage in ("parse", "choose"):
        run_stage(stage, folder)
    found = yaml.safe_load((folder.cache / "candidates.yaml").read_text(encoding="utf-8"))
    assert len(found["candidates"]) == 16
    assert all("refused" in each and "slot" not in each for each in found["candidates"])


def test_whatever_the_placement_a_port_is_wrong(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "PE[0, -1]", "PE[0, -2]")
    assert layer.error() == """\
layer.yaml:4:17: error: x arrives from PE[0, -2], which is not adjacent to the target
    x: {arrives: "{ x[i] -> [PE[0, -2] -> index[i]] }", sparse: true}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is PE[0:1, 0:2]; external PEs stand one step outside it
"""


@pytest.mark.wide
def test_what_all_candidates_meet_is_told_at_its_place(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "tensors", 'schedule: "{ ff[i, j] -> [j] : i > 1 }"\ntensors')
    assert layer.error() == """\
layer.yaml:3:12: error: schedule gives no time to ff[0, 0]
  schedule: "{ ff[i, j] -> [j] : i > 1 }"
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: give a time to every instance of a statement, or to none; it is so with all 8 placements \
that were tried
"""


GRAPH = """lair a<T=float16>(N): T x[N] -> T y[N] { all (i) in (N) y[i] = x[i] * 2 }
lair b<T=float16>(N): T x[N] -> T y[N] { all (k) in (N) y[k] = x[k] + 1 }
graph g<T=float16>(N): T x[N] -> T z[N] { y = a<T>(N)(x) z = b<T>(N)(y) }
"""
WRONG = {
    "same_node": (
        'placement: "{ a[i] -> PE[0, i//4] }"\nsearch: [b, a]', """\
layer.yaml:4:13: error: placement says where a runs, and search is to
  search: [b, a]
              ^
hint: leave it out of one of them
""",
    ),
    "no_statement": (
        'placement: "{ a[i] -> PE[0, i//4] }"\nsearch: [c]', """\
layer.yaml:4:10: error: search names c, which is no statement
  search: [c]
           ^
hint: statements: a, b
""",
    ),
    "all_of_it": (
        "placement: search\nsearch: [a]", """\
layer.yaml:4:1: error: search names statements, and placement says of no other one where it runs
  search: [a]
  ^^^^^^
hint: leave `search` out to find places for all, or give a placement for the others
""",
    ),
    "no_list": (
        "search: true", """\
layer.yaml:3:9: error: search must be a list
  search: true
          ^^^^
hint: it is names of statements, `[a, b]`; `placement: search` finds places for all
""",
    ),
    "misspelt": (
        "placement: serach", """\
layer.yaml:3:12: error: placement says not where instances run
  placement: serach
             ^^^^^^
hint: it is `{ f[i, j] -> PE[j, i] }`, the directions `(j, i)`, or `search`
""",
    ),
    "three_directions": (
        "placement: (i, j, k)", """\
layer.yaml:3:12: error: placement says not where instances run
  placement: (i, j, k)
             ^^^^^^^^^
hint: it is `{ f[i, j] -> PE[j, i] }`, the directions `(j, i)`, or `search`
""",
    ),
    "goal": (
        "goal: speed", """\
layer.yaml:3:7: error: goal must be 'cycles', 'memory' or 'area'
  goal: speed
        ^^^^^
""",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_asked_of_a_search_is_wrong(layer: Any, name: str) -> None:
    said, text = WRONG[name]
    layer.write("ff.lair", GRAPH)
    layer.write("layer.yaml", f'sizes: {{N: 8}}\ntarget: "{{ PE[2, 3] }}"\n{said}\n')
    assert layer.error() == text


def test_a_target_that_no_machine_has_is_wrong_before_anything_is_tried(layer: Any) -> None:
    layer.edit("layer.yaml", f"placement: {PLACED}\n", "")
    layer.edit("layer.yaml", "PE[2, 3]", "PE[2, 3000]")
    assert layer.error() == """\
layer.yaml:2:9: error: the target is 2 x 3000 PEs, wse2 has 750 x 994
  target: "{ PE[2, 3000] }"
          ^^^^^^^^^^^^^^^^^
hint: make the target smaller, or take a machine with a larger grid
"""
