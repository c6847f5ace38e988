"""The table of a network or a kernel, whole."""

from lairmake.stages.make.report.summary import are_parts_right, line_of_parts, table

PART = {
    "like": "first",
    "cycles": {"simd": 136, "loops": 235},
    "speedup": 1.728,
    "memory": {"bytes_per_pe": 3408, "of": 49152},
    "tasks": {"init_y": {"by": "exact", "sizes": [8]}, "on_x": {"by": "loops", "sizes": []}},
    "right": True,
    "exact": True,
}
RESULTS = {
    "parts": {"first": PART, "narrow": PART | {"like": "narrow", "exact": False}},
    "crossings": {},
    "one_after_another": {"simd": 272, "loops": 470},
    "data": {"first.x": "inputs/x.npy", "first.W": "integers, seed 0"},
    "check": {"narrow.y": {"exact": True, "right": True, "max_abs_error": 0.0}},
}
TAIL = """\
  272 cycles one after another, 470 with loops
  inputs  first.x from inputs/x.npy; first.W generated (integers, seed 0)
  narrow.y right from end to end, bit for bit
"""


def last_line(**found):
    return table("mlp", RESULTS | {"check": {"narrow.y": found}}).splitlines()[-1]


def part(like, simd=136, **more):
    return PART | {"like": like, "cycles": {"simd": simd, "loops": 235}} | more


def kernel(parts):
    """Return the results of a kernel: nothing crosses between its tiles."""
    return {name: found for name, found in RESULTS.items() if name != "crossings"} | {
        "parts": parts
    }


def columns(text, count=4):
    return [line.split()[:count] for line in text.splitlines()]


def test_a_network_has_a_line_for_each_part():
    assert table("mlp", RESULTS) == """\
mlp: 2 parts
  part    values                  cycles  with loops  speed-up  memory         vector instructions
  first   right, bit for bit      136     235         1.73      3408 of 49152  init_y exact [8], \
on_x loops
  narrow  right, within rounding  136     235         1.73      3408 of 49152  init_y exact [8], \
on_x loops
""" + TAIL


def test_equal_parts_are_one_line_and_what_their_inputs_change_is_a_range():
    parts = {"a": part("a"), "b": part("b"), "c": part("a", 139), "d": part("a", 120)}
    assert table("mlp", RESULTS | {"parts": parts}) == """\
mlp: 2 of 4 parts are distinct
  part       values              cycles    with loops  speed-up  memory         vector instructions
  a     x 3  right, bit for bit  120..139  235         1.73      3408 of 49152  init_y exact [8], \
on_x loops
  b          right, bit for bit  136       235         1.73      3408 of 49152  init_y exact [8], \
on_x loops
""" + TAIL


def test_lines_of_parts_with_many_tasks_fit_on_a_screen_unless_everything_is_wanted():
    tasks = {f"t{k}": {"by": "hull" if k else "loops", "sizes": [8]} for k in range(7)}
    results = RESULTS | {"parts": {"averagepool1": part("a", exact=False, tasks=tasks)}}
    lines = table("g", results).splitlines()
    assert lines[1:3] == [
        "  part          values                  cycles  with loops  speed-up  memory  vectors",
        "  averagepool1  right, within rounding  136     235         1.73      7 %     6 of 7",
    ]
    assert "t6 hull [8]" in table("g", results, everything=True)


def test_all_tiles_may_be_equal():
    text = table("k", kernel({"a": part("a"), "b": part("a")}))
    assert text.splitlines()[0] == "k: 1 of 2 tiles is distinct"


def test_everything_has_a_line_for_each_part():
    parts = {f"t{k}": part("t0") for k in range(100)}
    folded, full = (table("k", kernel(parts), everything) for everything in (False, True))
    assert folded.splitlines()[0] == full.splitlines()[0] == "k: 1 of 100 tiles is distinct"
    assert (folded.count("\n  t"), full.count("\n  t")) == (1, 100)


def test_the_slowest_five_of_more_are_named():
    parts = {f"t{k}": part(f"t{k}", 100 + 7 * k % 9) for k in range(7)}
    found = [line for line in table("k", kernel(parts)).splitlines() if "slowest" in line]
    assert found == ["  slowest t5 108, t1 107, t6 106, t2 105, t3 103"]


def test_of_very_many_distinct_parts_only_the_slowest_five_have_a_line():
    parts = {f"t{k}": part(f"t{k}", 100 + k) for k in range(60)}
    text = table("k", kernel(parts))
    assert [row[0] for row in columns(text)][2:8] == ["t59", "t58", "t57", "t56", "t55", "the"]
    assert "  the slowest 5 of 60; the others with -v\n" in text
    assert len(text.splitlines()) < 40
    assert len(table("k", kernel(parts), everything=True).splitlines()) > 60


def test_what_is_wrong_among_equal_parts_is_named():
    parts = {"a": part("a"), "b": part("a", right=False), "c": part("a")}
    text = table("k", kernel(parts))
    assert columns(text, 6)[2] == ["a", "x", "3", "WRONG", "in", "1"]
    assert "  WRONG: b\n" in text


def test_one_of_many_networks_is_a_line():
    said = "2 parts, 272 cycles one after another, 470 with loops\n"
    assert line_of_parts("mlp", RESULTS) == f"mlp: right, {said}"
    wrong = RESULTS | {"parts": RESULTS["parts"] | {"first": PART | {"right": False}}}
    assert line_of_parts("mlp", wrong) == f"mlp: WRONG, {said}"


def test_a_part_that_is_wrong_makes_the_network_wrong():
    wrong = RESULTS | {"parts": {"first": PART | {"right": False}}}
    assert table("mlp", wrong).splitlines()[2].split()[:2] == ["first", "WRONG"]
    assert (are_parts_right(RESULTS), are_parts_right(wrong)) == (True, False)


def test_an_output_that_is_wrong_makes_the_network_wrong():
    found = {"exact": True, "right": False, "max_abs_error": 2.5}
    assert last_line(**found) == "  narrow.y WRONG from end to end, by up to 2.5"
    assert not are_parts_right(RESULTS | {"check": {"narrow.y": found}})


def test_what_is_to_be_known_of_a_whole_is_told():
    assert "  nobody knows\n" in table("g", RESULTS | {"note": "nobody knows"})


def test_what_rounding_did_along_the_network_is_told():
    assert last_line(exact=False, right=True, max_abs_error=0.25) == (
        "  narrow.y 0.25 at most from the values of the whole, each part within rounding"
    )


def test_parts_that_take_more_cycles_than_they_may_are_named():
    over = {
        "conv2": {"cycles": 11210, "expected": 8415}, "mine": {"cycles": 9001, "expected": None},
    }
    lines = table("mlp", {**RESULTS, "limit": {"cycles": 9000, "over": over}}).splitlines()
    assert "  more than 9000 cycles: conv2 11210 (8415 expected), mine 9001" in lines
    lines = table("mlp", {**RESULTS, "limit": {"cycles": 9000, "over": {}}}).splitlines()
    assert "  no part takes more than 9000 cycles" in lines
