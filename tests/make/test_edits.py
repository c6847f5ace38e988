"""A text that was edited by hand fits what the stage wrote, or the error says where it does not."""

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.make.core.edits import check_edit

HULLS = """# Boxes.

hull := [PE_X, PE_Y] -> { [i0] : PE_X <= i0 <= PE_Y };

reads := [PE_X] -> { [x] -> W[x, PE_X] };

extra := { };
"""
SIMD = "on_x:\n  by: hull\nsend_y:\n  by: exact\n"


def check(name, edited, original):
    check_edit(Source(path=name, text=edited), original)


@pytest.mark.parametrize(("old", "new"), [
    ("[i0] : PE_X <= i0 <= PE_Y", "[j] : 0 <= j <= 7"),
    ("{ [i0] : PE_X <= i0 <= PE_Y }", "{ }"),
    ("extra := { }", "extra := [PE_Y] -> { A[PE_Y]; B[] }"),
    ("# Boxes.\n", ""),
    ("W[x, PE_X] }", "W[x, 2]; [x] -> W[x, 3] : x > 2 }  # two\n"),
])
def test_an_edit_in_the_same_spaces_fits(old, new):
    assert old in HULLS
    check("hulls.isl", HULLS.replace(old, new), HULLS)


@pytest.mark.parametrize(("old", "new", "text"), [
    ("{ [i0] :", "{ A[i0] :", """hulls.isl:3:9: error: { A[i0] } is another space
  hull := [PE_X, PE_Y] -> { A[i0] : PE_X <= i0 <= PE_Y };
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: hull is in { [i0] }
"""),
    ("W[x, PE_X]", "W[x]", """hulls.isl:5:10: error: { [x] -> W[o0] } is another space
  reads := [PE_X] -> { [x] -> W[x] };
           ^^^^^^^^^^^^^^^^^^^^^^^^^
hint: reads is in { [x] -> W[o0, o1] }
"""),
    ("{ [x] -> W[x, PE_X] }", "{ [x] }", """hulls.isl:5:10: error: isl: this is a set, not a \
relation `{ a[...] -> b[...] }`
  reads := [PE_X] -> { [x] };
           ^^^^^^^^^^^^^^^^^
"""),
    ("PE_X <= i0 <= PE_Y", "PE_X <= i0 <= N", """hulls.isl:3:48: error: isl: syntax error: \
unknown identifier at 'N'
  hull := [PE_X, PE_Y] -> { [i0] : PE_X <= i0 <= N };
                                                 ^
hint: names come on the left of `->`; sizes of the .lair are numbers here
"""),
    ("[PE_X, PE_Y] -> { [i0]", "[PE_X, PE_Y, N] -> { [i0]", """hulls.isl:3:9: error: N is no \
symbolic constant of this file
  hull := [PE_X, PE_Y, N] -> { [i0] : PE_X <= i0 <= PE_Y };
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: there are PE_X, PE_Y
"""),
    ("reads :=", "read :=", """hulls.isl:5:1: error: unknown object read
  read := [PE_X] -> { [x] -> W[x, PE_X] };
  ^^^^
hint: did you mean reads?

hulls.isl:7:14: error: reads is missing
  extra := { };
               ^
"""),
    ("extra := { };", "extra = { };", """hulls.isl:7:1: error: expected `name := { ... };`
  extra = { };
  ^^^^^^^^^^^^
"""),
    ("extra", "hull", """hulls.isl:7:1: error: hull is defined twice
  hull := { };
  ^^^^^^^^^^^^
"""),
])
def test_an_edit_that_does_not_fit_is_an_error(old, new, text):
    assert old in HULLS
    with pytest.raises(UserErrors) as caught:
        check("hulls.isl", HULLS.replace(old, new), HULLS)
    assert str(caught.value) == text


@pytest.mark.parametrize(("old", "new", "text"), [
    ("send_y", "send", """simd.yaml:3:1: error: unknown key send
  send:
  ^^^^
hint: did you mean send_y?

simd.yaml:4:12: error: send_y is missing
    by: exact
             ^
"""),
    ("by: hull", "by: [hull", """simd.yaml:3:7: error: YAML: found `:`, expected `,` or `]`
  send_y:
        ^
hint: isl texts stand in quotes, or below `|`
"""),
    (SIMD, "- on_x\n", """simd.yaml:1:1: error: the text is no mapping
  - on_x
  ^
"""),
])
def test_an_edit_of_yaml_has_the_same_keys(old, new, text):
    check("simd.yaml", SIMD.replace("hull", "loops"), SIMD)
    with pytest.raises(UserErrors) as caught:
        check("simd.yaml", SIMD.replace(old, new), SIMD)
    assert str(caught.value) == text
