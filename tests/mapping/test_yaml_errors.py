"""Errors in the YAML of a layer.yaml: the whole text of each."""

from __future__ import annotations

import pytest

from tests.mapping.test_mapping_errors import TARGET, errors_of

ERRORS = {
    "open_bracket": (
        TARGET + 'a: [1',
        """\
layer.yaml:2:6: error: YAML: found the end of the text, expected `,` or `]`
  a: [1
       ^
hint: a `]` closes it
""",
    ),
    "key_twice": (
        TARGET + TARGET,
        """\
layer.yaml:2:1: error: target is given twice
  target: "{ PE[4, 5] }"
  ^^^^^^
hint: keep one
""",
    ),
    "key_is_no_name": (
        TARGET + '? [a]\n: 1',
        """\
layer.yaml:2:3: error: YAML: a key is a name
  ? [a]
    ^^^
""",
    ),
    "unknown_alias": (
        'a: *b',
        """\
layer.yaml:1:4: error: YAML: `*b` is the name of no anchor
  a: *b
     ^
hint: quote a text that begins with `*`
""",
    ),
    "isl_without_quotes": (
        TARGET + 'placement: [n] -> { a[i] -> PE[i, 0] }',
        """\
layer.yaml:2:16: error: YAML: found a text, expected a key, or the end of the line
  placement: [n] -> { a[i] -> PE[i, 0] }
                 ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
    "endless": (
        '&a [*a]',
        """\
layer.yaml:1:1: error: YAML: this contains itself
  &a [*a]
  ^
hint: say less
""",
    ),
    "tab": (
        TARGET + '\tx: 3',
        """\
layer.yaml:2:1: error: YAML: found a tab, which begins no value
  \tx: 3
  ^
hint: YAML indents with spaces, not with tabs
""",
    ),
    "missing_quote": (
        'target: "{ PE[4, 5] }\nplacement: "{ ff[i] -> PE[i, 0] }"',
        """\
layer.yaml:2:13: error: YAML: found `{`, expected a key, or the end of the line
  placement: "{ ff[i] -> PE[i, 0] }"
              ^
hint: line 1 has a `\"` too few: a text ends with the quote that it begins with
""",
    ),
    "text_without_end": (
        'placement: "{ ff[i] -> PE[i, 0] }\nsizes: {M: 3}',
        """\
layer.yaml:1:12: error: YAML: this text has no end
  placement: "{ ff[i] -> PE[i, 0] }
             ^
hint: line 1 has a `\"` too few: a text ends with the quote that it begins with
""",
    ),
    "control_character": (
        'a: \x01',
        """\
layer.yaml:1:4: error: YAML: a character that no text may hold
  a: ?
     ^
""",
    ),
    "unknown_tag": (
        TARGET + 'top: !!foo x',
        """\
layer.yaml:2:6: error: YAML: an unknown tag, `!!foo`
  top: !!foo x
       ^
hint: quote a text that begins with `!`
""",
    ),
    "no_date": (
        TARGET + 'lair: 2020-99-99',
        """\
layer.yaml:2:7: error: YAML: `2020-99-99` reads as a date, and is none
  lair: 2020-99-99
        ^^^^^^^^^^
hint: quote the text
""",
    ),
    "no_truth": (
        TARGET + 'lair: !!bool x',
        """\
layer.yaml:2:7: error: YAML: `x` reads as a truth value, and is none
  lair: !!bool x
        ^^^^^^^^
hint: quote the text
""",
    ),
    "no_number": (
        TARGET + 'lair: !!int ""',
        """\
layer.yaml:2:7: error: YAML: an empty text reads as an integer, and is none
  lair: !!int ""
        ^^^^^^^^
hint: quote the text
""",
    ),
    "no_timestamp": (
        TARGET + 'lair: !!timestamp x',
        """\
layer.yaml:2:7: error: YAML: `x` reads as a date, and is none
  lair: !!timestamp x
        ^^^^^^^^^^^^^
hint: quote the text
""",
    ),
    "no_base64": (
        TARGET + 'lair: !!binary "é"',
        """\
layer.yaml:2:7: error: YAML: this is no base64
  lair: !!binary "é"
        ^
hint: quote a text that begins with `!`
""",
    ),
    "date": (
        TARGET + 'lair: 2020-01-01',
        """\
layer.yaml:2:7: error: lair must be a text
  lair: 2020-01-01
        ^^^^^^^^^^
""",
    ),
    "a_key_without_a_colon": (
        'sizes {M: 8, N: 8}',
        """\
layer.yaml:1:15: error: YAML: found `:` behind what is no key
  sizes {M: 8, N: 8}
                ^
hint: a line is `key: value`; a text that has a `:` itself stands in quotes
""",
    ),
    "colon_in_a_value": (
        'a: b: c',
        """\
layer.yaml:1:5: error: YAML: found `:` behind what is no key
  a: b: c
      ^
hint: a line is `key: value`; a text that has a `:` itself stands in quotes
""",
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_error_in_yaml(error: str) -> None:
    text, expected = ERRORS[error]
    assert errors_of(text) == expected
