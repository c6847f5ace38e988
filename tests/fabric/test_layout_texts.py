"""What is wrong in the isl texts of a layout.yaml is said with its line and column."""

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.fabric.grid import check_texts, find_place
from lairmake.stages.fabric.layout import read_layout

HEAD = """\
grid: "{ PE[x, 0] : 0 <= x <= 2 }"
roles: {}
colours:
  x:
    number: 0
    positions:
    - "{ [PE[x, 0] -> W[]] -> ramp[] }"
    - "{ [PE[x, 0] -> W[]] -> E[] : x < 2 }"
"""
TAIL = "arrivals: {}\ndepartures: {}\n"
ROUTES = "hint: write `{ [PE[x, y] -> W[]] -> ramp[] }`; sides: N, E, S, W, ramp\n"


def wrong(text):
    source = Source(path="build/layout.yaml", text=f"{text}{TAIL}")
    try:
        check_texts(read_layout(source), source)
    except UserErrors as errors:
        return str(errors)
    return ""


def test_what_the_compiler_writes_is_not_wrong():
    counts, ring = '"{ PE[x, 0] -> [1 + x mod 2] }"', '"{ PE[x, y] -> [0] }"'
    assert wrong(f'{HEAD}    counts: {counts}\n    ring: {ring}\n    pop: {ring}\n') == ""


@pytest.mark.parametrize(("line", "fault"), [
    ('counts: "{ PE[x, y] -> [1 + x] }"',
     "9:13: error: counts is 3 at PE[2, 0]; it is from 1 to 2\n"
     '      counts: "{ PE[x, y] -> [1 + x] }"\n'
     "              ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
     "hint: write `{ PE[x, y] -> [2] }`: 1 to 2\n"),
    ('ring: "{ PE[1, y] -> [0]; PE[x, y] -> [1] }"',
     "9:11: error: ring has several numbers for one PE\n"
     '      ring: "{ PE[1, y] -> [0]; PE[x, y] -> [1] }"\n'
     "            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
     "hint: write `{ PE[x, y] -> [1] }`: 0 to 1\n"),
    ('pop: "{ PE[x, y] -> [1] "',
     "9:29: error: isl: syntax error: unexpected end of the text\n"
     '      pop: "{ PE[x, y] -> [1] "\n'
     "                              ^\n"
     "hint: the text has 1 `{` and 0 `}`\n"),
    ('pop: "{ PE[x] -> [1] }"',
     "9:10: error: pop is no number of each PE: { PE[x] -> [1] }\n"
     '      pop: "{ PE[x] -> [1] }"\n'
     "           ^^^^^^^^^^^^^^^^^^\n"
     "hint: write `{ PE[x, y] -> [3] }`: 0 to 3\n"),
    ('- "{ [PE[x, y] -> W[]] -> up[] }"',
     "9:7: error: this is no route: { [PE[x, y] -> W[]] -> up[] }\n"
     '      - "{ [PE[x, y] -> W[]] -> up[] }"\n'
     "        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n" + ROUTES),
    ('- "{ }"\n    - "{ }"\n    - "{ }"',
     "7:5: error: colour x has 5 positions\n"
     '      - "{ [PE[x, 0] -> W[]] -> ramp[] }"\n'
     "      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
     "hint: a switch has 4 at most\n"),
    ('routes: "{ }"',
     "7:5: error: colour x has routes and positions\n"
     '      - "{ [PE[x, 0] -> W[]] -> ramp[] }"\n'
     "      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
     "hint: write the routes as the first position\n"),
])
def test_a_wrong_text_is_said_with_its_place(line, fault):
    assert wrong(f"{HEAD}    {line}\n").strip("\n") == f"build/layout.yaml:{fault}".strip("\n")


def test_a_fault_of_routes_has_a_place_too():
    source = Source(path="build/layout.yaml", text=f"{HEAD}{TAIL}")
    places = [find_place(source, ("colours", "x", *keys)) for keys in (("positions", 1), ("pop",))]
    assert [(place.line, place.column) for place in places] == [(8, 7), (5, 5)]
