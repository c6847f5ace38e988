"""isl texts in layer.yaml: errors point to the place in the YAML."""

from __future__ import annotations

import os

import islpy as isl
import pytest

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.mapping.isl_texts import IslText, parse_map, parse_set
from lairmake.stages.mapping.layer_yaml import read_mapping
from lairmake.stages.mapping.yaml_text import read_document

ERRORS = {
    "closing_brace": (
        '"{ x[i=0:15] -> [PE[0, -1] -> index[i] }"',
        """\
layer.yaml:2:51: error: isl: syntax error: unexpected '}'
  placement: "{ x[i=0:15] -> [PE[0, -1] -> index[i] }"
                                                    ^
hint: the text has 4 `[` and 3 `]`
""",
    ),
    "in_a_block": (
        '|\n  { ff[i,j] -> PE[j//4,\n      1 + k//8] }',
        """\
layer.yaml:4:11: error: isl: syntax error: unknown identifier at 'k'
        1 + k//8] }
            ^
hint: names come on the left of `->`; sizes of the .lair are numbers here
""",
    ),
    "folded": (
        '>-\n  { ff[i,j]\n    -> PE[q q] }',
        """\
layer.yaml:4:13: error: isl: syntax error: unexpected 'q'
      -> PE[q q] }
              ^
hint: isl writes `{ a[i, j] -> b[i//2, j mod 4] : i < 8; c[k] -> d[-k] }`
""",
    ),
    "single_quoted": (
        "'{ ff[i] -> PE[''a'', }'",
        """\
layer.yaml:2:27: error: isl: syntax error
  placement: '{ ff[i] -> PE[''a'', }'
                            ^
hint: the text has 2 `[` and 1 `]`
""",
    ),
    "set": (
        '"{ PE[4,5] }"',
        """\
layer.yaml:2:13: error: isl: this is a set, not a relation `{ a[...] -> b[...] }`
  placement: "{ PE[4,5] }"
              ^^^^^^^^^^^
""",
    ),
    "modulo_zero": (
        '"{ x[i] -> y[i mod 0] }"',
        """\
layer.yaml:2:32: error: isl: factor needs to be positive
  placement: "{ x[i] -> y[i mod 0] }"
                                 ^
hint: isl writes `{ a[i, j] -> b[i//2, j mod 4] : i < 8; c[k] -> d[-k] }`
""",
    ),
    "empty": (
        '""',
        """\
layer.yaml:2:12: error: isl: syntax error: unexpected end of the text
  placement: ""
             ^
hint: isl writes `{ a[i, j] -> b[i//2, j mod 4] : i < 8; c[k] -> d[-k] }`
""",
    ),
    "product": (
        '"{ x[i] -> y[i*i] }"',
        """\
layer.yaml:2:27: error: isl: syntax error: expecting constant value at 'i'
  placement: "{ x[i] -> y[i*i] }"
                            ^
hint: multiply and divide by numbers only, also in `mod` and `//`
""",
    ),
    "end": (
        '"{ x[i] -> y[ "',
        """\
layer.yaml:2:26: error: isl: syntax error: unexpected end of the text
  placement: "{ x[i] -> y[ "
                           ^
hint: the text has 2 `[` and 1 `]`
""",
    ),
    "letter_of_another_alphabet": (
        '"{ x[ä] -> y[ä+1 }"',
        """\
layer.yaml:2:17: error: isl: syntax error
  placement: "{ x[ä] -> y[ä+1 }"
                  ^
hint: the text has 2 `[` and 1 `]`
""",
    ),
    "condition_in_a_sum": (
        '"{ x[i] -> y[1 + (i < 5 ? 0 : 1)] }"',
        """\
layer.yaml:2:32: error: isl: syntax error: unexpected '<'
  placement: "{ x[i] -> y[1 + (i < 5 ? 0 : 1)] }"
                                 ^
hint: `condition ? a : b` is a whole coordinate, and no part of a sum
""",
    ),
    "choice_within_a_choice": (
        '"{ x[i] -> y[(i < 5 ? (i < 2 ? 0 : 1) : 2), i] }"',
        """\
layer.yaml:2:37: error: isl: syntax error: unexpected '<'
  placement: "{ x[i] -> y[(i < 5 ? (i < 2 ? 0 : 1) : 2), i] }"
                                      ^
hint: a choice within a choice stands in no brackets: `i < 4 ? 0 : i < 8 ? 1 : 2`
""",
    ),
    "new_name_before_an_operator": (
        '"{ x[i] -> y[q//6] }"',
        """\
layer.yaml:2:25: error: isl: syntax error: unknown identifier at 'q'
  placement: "{ x[i] -> y[q//6] }"
                          ^
hint: names come on the left of `->`; sizes of the .lair are numbers here
""",
    ),
    "known_name_before_an_operator": (
        '"{ x[i] -> y[i+//6] }"',
        """\
layer.yaml:2:27: error: isl: syntax error: unexpected '//'
  placement: "{ x[i] -> y[i+//6] }"
                            ^^
hint: isl writes `{ a[i, j] -> b[i//2, j mod 4] : i < 8; c[k] -> d[-k] }`
""",
    ),
    "tuple_in_parentheses": (
        '"{ x(i) -> y[i] }"',
        """\
layer.yaml:2:15: error: isl: syntax error: unknown identifier at 'x'
  placement: "{ x(i) -> y[i] }"
                ^
hint: what is in a tuple stands in square brackets: `a[i, j]`
""",
    ),
    "direction": (
        '(j, i)',
        """\
layer.yaml:2:12: error: isl: syntax error: expecting '{' at '('
  placement: (j, i)
             ^
hint: an isl text stands in braces: `{ a[i, j] -> b[j, i] }`
""",
    ),
    "rest": (
        '"{ a[i] -> PE[i,0] }; { b[i] -> PE[i,0] } # x"',
        """\
layer.yaml:2:32: error: isl: the text goes on after its closing brace
  placement: "{ a[i] -> PE[i,0] }; { b[i] -> PE[i,0] } # x"
                                 ^^^^^^^^^^^^^^^^^^^^^
hint: write one pair of braces, with `;` between its parts
""",
    ),
    "rest_in_a_block": (
        '|\n  { a[i] -> PE[i, 0] }\n\n  { b[i] -> PE[i,0] } # abc\n',
        """\
layer.yaml:5:3: error: isl: the text goes on after its closing brace
    { b[i] -> PE[i,0] } # abc
    ^^^^^^^^^^^^^^^^^^^
hint: write one pair of braces, with `;` between its parts
""",
    ),
    "invalid": (
        '"{ [i] -> { [j] } }"',
        """\
layer.yaml:2:22: error: isl: syntax error: unexpected '{'
  placement: "{ [i] -> { [j] } }"
                       ^
hint: isl writes `{ a[i, j] -> b[i//2, j mod 4] : i < 8; c[k] -> d[-k] }`
""",
    ),
}


def text_of(value: str) -> IslText:
    text = 'target: "{ PE[4, 5] }"\nplacement: ' + value
    placement = read_mapping(Source(path="layer.yaml", text=text)).placement
    assert placement is not None
    return placement


@pytest.mark.parametrize("error", ERRORS)
def test_error_in_a_relation(error: str) -> None:
    value, expected = ERRORS[error]
    with pytest.raises(UserError) as caught:
        parse_map(text_of(value))
    assert str(caught.value) == expected


def test_a_relation() -> None:
    parsed = parse_map(text_of('"{ x[i=0:15] -> [PE[i//4, -1] -> index[i mod 4]] }"'))
    expected = "{ x[i] -> [PE[a, -1] -> index[i - 4a]] : 0 <= i <= 15 and 4a <= i <= 4a + 3 }"
    assert parsed.is_equal(isl.UnionMap(expected))


def test_a_relation_with_comments_and_parts() -> None:
    parsed = parse_map(text_of("|\n  { a[i] -> PE[i, 0]; # }\n    b[i] -> PE[0, i] } # end\n"))
    assert parsed.is_equal(isl.UnionMap("{ a[i] -> PE[i, 0]; b[i] -> PE[0, i] }"))


def test_a_set() -> None:
    assert parse_set(text_of('"{ PE[1:2, 3] }"')).is_equal(isl.UnionSet("{ PE[1, 3]; PE[2, 3] }"))


def test_of_a_set_that_is_never_closed_the_braces_are_told() -> None:
    """Of this isl says nothing, not even where it is."""
    with pytest.raises(UserError) as caught:
        parse_set(text_of('"{ PE[x, 0] "'))
    assert str(caught.value).startswith("layer.yaml:2:13: error: isl: invalid input\n")
    assert str(caught.value).endswith("hint: the text has 1 `{` and 0 `}`\n")


def test_an_error_prints_nothing_and_closes_its_files(capfd: pytest.CaptureFixture[str]) -> None:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with pytest.raises(UserError):
        parse_map(text_of('"{ x["'))
    after = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    assert len(after) == len(before)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("text", "value", "offsets"), [
    ("a: |", "", (4,)), ("a: >-", "", (5,)), ("a: |  # empty", "", (13,)),
    ("a: |\r  b", "b", (7, 8)), ("a: >\u2028  b", "b", (7, 8)),
])
def test_a_block_begins_behind_any_end_of_a_line_or_has_none(text, value, offsets):
    document = read_document(Source(path="layer.yaml", text=text))
    assert (document.value, document.offsets["a",]) == ({"a": value}, offsets)
