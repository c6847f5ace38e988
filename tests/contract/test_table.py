"""The table of a network, whole."""

from stages.make.table import is_right, table

PART = {
    "cycles": {"simd": 136, "loops": 235},
    "speedup": 1.728,
    "memory": {"bytes_per_pe": 3408, "of": 49152},
    "tasks": {"init_y": {"by": "exact", "sizes": [8]}, "on_x": {"by": "loops", "sizes": []}},
    "right": True,
    "exact": True,
}
RESULTS = {
    "parts": {"first": PART, "narrow": PART | {"exact": False}},
    "one_after_another": {"simd": 272, "loops": 470},
    "check": {"narrow.y": {"exact": True, "right": True, "max_abs_error": 0.0}},
}


def last_line(**found):
    return table("mlp", RESULTS | {"check": {"narrow.y": found}}).splitlines()[-1]


def test_a_network_has_a_line_for_each_part():
    assert table("mlp", RESULTS) == """\
mlp: 2 parts
  part    values                  cycles  with loops  speed-up  memory         vector instructions
  first   right, bit for bit      136     235         1.73      3408 of 49152  init_y exact [8], \
on_x loops
  narrow  right, within rounding  136     235         1.73      3408 of 49152  init_y exact [8], \
on_x loops
  272 cycles one after another, 470 with loops
  narrow.y right from end to end, bit for bit
"""


def test_a_part_that_is_wrong_makes_the_network_wrong():
    wrong = RESULTS | {"parts": {"first": PART | {"right": False}}}
    assert table("mlp", wrong).splitlines()[2].split()[:2] == ["first", "WRONG"]
    assert (is_right(RESULTS), is_right(wrong)) == (True, False)


def test_an_output_that_is_wrong_makes_the_network_wrong():
    found = {"exact": True, "right": False, "max_abs_error": 2.5}
    assert last_line(**found) == "  narrow.y WRONG from end to end, by up to 2.5"
    assert not is_right(RESULTS | {"check": {"narrow.y": found}})


def test_what_rounding_did_along_the_network_is_told():
    assert last_line(exact=False, right=True, max_abs_error=0.25) == (
        "  narrow.y 0.25 at most from the values of the whole, each part within rounding"
    )
