"""Errors in the target of layer.yaml: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest

TARGETS = {
    "three_dimensions": (
        '"{ PE[2, 3, 4] }"',
        """\
layer.yaml:2:10: error: target is not the size of a rectangle of PEs
  target: "{ PE[2, 3, 4] }"
           ^^^^^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "no_pe": (
        '"{ P[2, 3] }"',
        """\
layer.yaml:2:10: error: target is not the size of a rectangle of PEs
  target: "{ P[2, 3] }"
           ^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "zero": (
        '"{ PE[0, 3] }"',
        """\
layer.yaml:2:10: error: target is 0 by 3 PEs
  target: "{ PE[0, 3] }"
           ^^^^^^^^^^^^
hint: both sizes are positive
""",
    ),
    "negative": (
        '"{ PE[2, -3] }"',
        """\
layer.yaml:2:10: error: target is 2 by -3 PEs
  target: "{ PE[2, -3] }"
           ^^^^^^^^^^^^^
hint: both sizes are positive
""",
    ),
    "unbounded": (
        '"{ PE[x, y] }"',
        """\
layer.yaml:2:10: error: target is not one size
  target: "{ PE[x, y] }"
           ^^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "several": (
        '"{ PE[x, 3] : 1 <= x <= 2 }"',
        """\
layer.yaml:2:10: error: target is not one size
  target: "{ PE[x, 3] : 1 <= x <= 2 }"
           ^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "none": (
        '"{ }"',
        """\
layer.yaml:2:10: error: target is not the size of a rectangle of PEs
  target: "{ }"
           ^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "relation": (
        '"{ PE[2, 3] -> PE[2, 3] }"',
        """\
layer.yaml:2:10: error: isl: this is a relation, not a set
  target: "{ PE[2, 3] -> PE[2, 3] }"
           ^^^^^^^^^^^^^^^^^^^^^^^^
""",
    ),
    "constant": (
        '"[n] -> { PE[n, 3] }"',
        """\
layer.yaml:2:11: error: isl: n is a symbolic constant, and has no value
  target: "[n] -> { PE[n, 3] }"
            ^
hint: write the number: sizes of the .lair have no names here
""",
    ),
    "list": (
        "[2, 3]",
        """\
layer.yaml:2:9: error: target must be a text in isl syntax
  target: [2, 3]
          ^^^^^^
""",
    ),
    "fraction": (
        '"{ PE[5/2, 3] }"',
        """\
layer.yaml:2:10: error: target is not the size of a rectangle of PEs
  target: "{ PE[5/2, 3] }"
           ^^^^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "syntax": (
        '"{ PE[2, 3 }"',
        """\
layer.yaml:2:20: error: isl: syntax error: unexpected '}'
  target: "{ PE[2, 3 }"
                     ^
hint: the text has 1 `[` and 0 `]`
""",
    ),
}


@pytest.mark.parametrize("case", TARGETS)
def test_target(layer: Any, case: str) -> None:
    target, expected = TARGETS[case]
    layer.edit("layer.yaml", '"{ PE[2, 3] }"', target)
    assert layer.error() == expected
