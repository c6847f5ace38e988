"""Errors in the placement of layer.yaml: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest

PLACED = '"{ ff[i,j] -> PE[j//4, 1 + i//4] }"'

PLACEMENTS = {
    "not_total": (
        '"{ ff[i,j] -> PE[j//4, 1 + i//4] : i < 5 }"',
        """\
layer.yaml:3:13: error: placement is not total: ff[5, 0] has no PE
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4] : i < 5 }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: every instance of every statement needs one PE
""",
    ),
    "empty": (
        '"{ }"',
        """\
layer.yaml:3:13: error: placement is not total: ff[0, 0] has no PE
  placement: "{ }"
              ^^^
hint: every instance of every statement needs one PE
""",
    ),
    "not_a_whole_number": (
        '"{ ff[i,j] -> PE[j/4, 1 + i//4] }"',
        """\
layer.yaml:3:13: error: placement is not total: ff[0, 1] has no PE
  placement: "{ ff[i,j] -> PE[j/4, 1 + i//4] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: every instance of every statement needs one PE; `/` gives whole numbers only, `//` rounds down
""",
    ),
    "twice": (
        '"{ ff[i,j] -> PE[j//4, 1 + i//4]; ff[0,j] -> PE[1,1] }"',
        """\
layer.yaml:3:13: error: placement is not single-valued: ff[0, 0] runs on PE[0, 1] and on PE[1, 1]
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4]; ff[0,j] -> PE[1,1] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: each instance runs on one PE
""",
    ),
    "everywhere": (
        '"{ ff[i,j] -> PE[x, 1 + i//4] }"',
        """\
layer.yaml:3:13: error: placement is not single-valued: ff[0, 0] runs on PE[-1, 1] and on PE[0, 1]
  placement: "{ ff[i,j] -> PE[x, 1 + i//4] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: each instance runs on one PE

layer.yaml:3:13: error: placement leaves the target: ff[0, 0] runs on PE[-1, 1]
  placement: "{ ff[i,j] -> PE[x, 1 + i//4] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is 2 by 3 PEs
""",
    ),
    "not_total_and_twice": (
        '"{ ff[i,j] -> PE[0:1, 1 + i//4] : j > 0 }"',
        """\
layer.yaml:3:13: error: placement is not total: ff[0, 0] has no PE
  placement: "{ ff[i,j] -> PE[0:1, 1 + i//4] : j > 0 }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: every instance of every statement needs one PE

layer.yaml:3:13: error: placement is not single-valued: ff[0, 1] runs on PE[0, 1] and on PE[1, 1]
  placement: "{ ff[i,j] -> PE[0:1, 1 + i//4] : j > 0 }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: each instance runs on one PE
""",
    ),
    "outside": (
        '"{ ff[i,j] -> PE[j//2, 1 + i//4] }"',
        """\
layer.yaml:3:13: error: placement leaves the target: ff[0, 4] runs on PE[2, 1]
  placement: "{ ff[i,j] -> PE[j//2, 1 + i//4] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is 2 by 3 PEs
""",
    ),
    "negative": (
        '"{ ff[i,j] -> PE[j//4, i//4 - 1] }"',
        """\
layer.yaml:3:13: error: placement leaves the target: ff[0, 0] runs on PE[0, -1]
  placement: "{ ff[i,j] -> PE[j//4, i//4 - 1] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is 2 by 3 PEs
""",
    ),
    "far_outside": (
        '"{ ff[i,j] -> PE[9999999999999999999999*j, 1 + i//4] }"',
        """\
layer.yaml:3:13: error: placement leaves the target: ff[0, 1] runs on PE[9999999999999999999999, 1]
  placement: "{ ff[i,j] -> PE[9999999999999999999999*j, 1 + i//4] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is 2 by 3 PEs
""",
    ),
    "unknown_statement": (
        '"{ ff[i,j] -> PE[j//4, 1 + i//4]; fg[i] -> PE[0,0] }"',
        """\
layer.yaml:3:46: error: placement names fg, which is no statement
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4]; fg[i] -> PE[0,0] }"
                                               ^^
hint: did you mean ff?
""",
    ),
    "statement_without_name": (
        '"{ [i,j] -> PE[j//4, 1 + i//4] }"',
        """\
layer.yaml:3:13: error: placement names [i, j], which is no statement
  placement: "{ [i,j] -> PE[j//4, 1 + i//4] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: statements: ff
""",
    ),
    "wrapped_statement": (
        '"{ [ff[i,j] -> A[]] -> PE[j//4, 0] }"',
        """\
layer.yaml:3:13: error: placement names [ff[i, j] -> A[]], which is no statement
  placement: "{ [ff[i,j] -> A[]] -> PE[j//4, 0] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: statements: ff
""",
    ),
    "number_of_iterators": (
        '"{ ff[i] -> PE[0, 1 + i//4] }"',
        """\
layer.yaml:3:15: error: ff has 2 iterators, the placement gives it 1
  placement: "{ ff[i] -> PE[0, 1 + i//4] }"
                ^^
hint: write ff[i, j]
""",
    ),
    "no_pe": (
        '"{ ff[i,j] -> P[j//4, 1 + i//4] }"',
        """\
layer.yaml:3:26: error: placement gives P[i0, i1], which is no PE
  placement: "{ ff[i,j] -> P[j//4, 1 + i//4] }"
                           ^
hint: write PE[x, y]
""",
    ),
    "one_coordinate": (
        '"{ ff[i,j] -> PE[j//4] }"',
        """\
layer.yaml:3:26: error: placement gives PE[i0], which is no PE
  placement: "{ ff[i,j] -> PE[j//4] }"
                           ^^
hint: write PE[x, y]
""",
    ),
    "no_tuple_name": (
        '"{ ff[i,j] -> [j//4, 1 + i//4] }"',
        """\
layer.yaml:3:13: error: placement gives [i0, i1], which is no PE
  placement: "{ ff[i,j] -> [j//4, 1 + i//4] }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write PE[x, y]
""",
    ),
    "everything": (
        '"{ fg[i,j] -> PE[j//4, 1]; ff[i] -> P[0] }"',
        """\
layer.yaml:3:15: error: placement names fg, which is no statement
  placement: "{ fg[i,j] -> PE[j//4, 1]; ff[i] -> P[0] }"
                ^^
hint: did you mean ff?

layer.yaml:3:39: error: ff has 2 iterators, the placement gives it 1
  placement: "{ fg[i,j] -> PE[j//4, 1]; ff[i] -> P[0] }"
                                        ^^
hint: write ff[i, j]

layer.yaml:3:48: error: placement gives P[i0], which is no PE
  placement: "{ fg[i,j] -> PE[j//4, 1]; ff[i] -> P[0] }"
                                                 ^
hint: write PE[x, y]
""",
    ),
    "set": (
        '"{ ff[i,j] }"',
        """\
layer.yaml:3:13: error: isl: this is a set, not a relation `{ a[...] -> b[...] }`
  placement: "{ ff[i,j] }"
              ^^^^^^^^^^^
""",
    ),
    "symbolic_constant": (
        '"[M] -> { ff[i,j] -> PE[j//4, 1 + i//4] : i < M }"',
        """\
layer.yaml:3:14: error: isl: M is a symbolic constant, and has no value
  placement: "[M] -> { ff[i,j] -> PE[j//4, 1 + i//4] : i < M }"
               ^
hint: write the number: sizes of the .lair have no names here
""",
    ),
    "size_of_the_lair": (
        '"{ ff[i,j] -> PE[j//4, 1 + i//4] : i < M }"',
        """\
layer.yaml:3:51: error: isl: syntax error: unknown identifier at 'M'
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4] : i < M }"
                                                    ^
hint: names come on the left of `->`; sizes of the .lair are numbers here
""",
    ),
    "syntax": (
        '"{ ff[i,j] -> PE[j//4, 1 + i//4 }"',
        """\
layer.yaml:3:44: error: isl: syntax error: unexpected '}'
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4 }"
                                             ^
hint: the text has 2 `[` and 1 `]`
""",
    ),
    "syntax_in_a_block": (
        """\
|
  { ff[i,j] ->
      PE[j//4, 1 + k//4] }""",
        """\
layer.yaml:5:20: error: isl: syntax error: unknown identifier at 'k'
        PE[j//4, 1 + k//4] }
                     ^
hint: names come on the left of `->`; sizes of the .lair are numbers here
""",
    ),
    "goes_on": (
        '"{ ff[i,j] -> PE[j//4, 1 + i//4] } + 1"',
        """\
layer.yaml:3:47: error: isl: the text goes on after its closing brace
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4] } + 1"
                                                ^^^
hint: write one pair of braces, with `;` between its parts
""",
    ),
    "number": (
        "5",
        """\
layer.yaml:3:12: error: placement must be a text in isl syntax
  placement: 5
             ^
""",
    ),
    "iterator": (
        "(j, k)",
        """\
layer.yaml:3:16: error: ff has no iterator k
  placement: (j, k)
                 ^
hint: its iterators are i, j
""",
    ),
    "second iterator": (
        "(i, ii)",
        """\
layer.yaml:3:16: error: ff has no iterator ii
  placement: (i, ii)
                 ^^
hint: its iterators are i, j
""",
    ),
}


@pytest.mark.parametrize("case", PLACEMENTS)
def test_placement(layer: Any, case: str) -> None:
    placement, expected = PLACEMENTS[case]
    layer.edit("layer.yaml", PLACED, placement)
    assert layer.error() == expected
