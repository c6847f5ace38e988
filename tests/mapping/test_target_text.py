"""The target in layer.yaml: what it is, and errors that point to the place in the YAML."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.mapping.layer_yaml import read_mapping
from tests.mapping.test_mapping_text import text_of

TARGETS = {
    "row": (
        '{ PE[4] }',
        """\
layer.yaml:1:10: error: target is not the size of a rectangle of PEs
  target: "{ PE[4] }"
           ^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "other_tuple": (
        '{ A[4,5] }',
        """\
layer.yaml:1:10: error: target is not the size of a rectangle of PEs
  target: "{ A[4,5] }"
           ^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "range": (
        '{ PE[i,5] : 0<i<3 }',
        """\
layer.yaml:1:10: error: target is not one size
  target: "{ PE[i,5] : 0<i<3 }"
           ^^^^^^^^^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "two": (
        '{ PE[4,5]; PE[3,5]}',
        """\
layer.yaml:1:10: error: target is not one size
  target: "{ PE[4,5]; PE[3,5]}"
           ^^^^^^^^^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "none": (
        '{ }',
        """\
layer.yaml:1:10: error: target is not the size of a rectangle of PEs
  target: "{ }"
           ^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "parameter": (
        '[n] -> { PE[n,2] }',
        """\
layer.yaml:1:11: error: isl: n is a symbolic constant, and has no value
  target: "[n] -> { PE[n,2] }"
            ^
hint: write the number: sizes of the .lair have no names here
""",
    ),
    "unbounded": (
        '{ PE[i,5] }',
        """\
layer.yaml:1:10: error: target is not one size
  target: "{ PE[i,5] }"
           ^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
    "zero": (
        '{ PE[4,0] }',
        """\
layer.yaml:1:10: error: target is 4 by 0 PEs
  target: "{ PE[4,0] }"
           ^^^^^^^^^^^
hint: both sizes are positive
""",
    ),
    "syntax": (
        '{ PE[4, }',
        """\
layer.yaml:1:18: error: isl: syntax error: unexpected '}'
  target: "{ PE[4, }"
                   ^
hint: the text has 1 `[` and 0 `]`
""",
    ),
    "relation": (
        '{ PE[4,5] -> X[] }',
        """\
layer.yaml:1:10: error: isl: this is a relation, not a set
  target: "{ PE[4,5] -> X[] }"
           ^^^^^^^^^^^^^^^^^^
""",
    ),
    "other_too": (
        '{ PE[4, 5];  B[2] }',
        """\
layer.yaml:1:10: error: target is not the size of a rectangle of PEs
  target: "{ PE[4, 5];  B[2] }"
           ^^^^^^^^^^^^^^^^^^^
hint: write `target: "{ PE[4, 5] }"`: four PEs wide, five high
""",
    ),
}


@pytest.mark.parametrize("error", TARGETS)
def test_error_in_the_target(error: str) -> None:
    value, expected = TARGETS[error]
    with pytest.raises(UserError) as caught:
        parse_target(read_mapping(Source(path="layer.yaml", text=f'target: "{value}"')).target)
    assert str(caught.value) == expected


def test_a_target() -> None:
    assert parse_target(text_of('"{ PE[4, 5] }"')) == (4, 5)
