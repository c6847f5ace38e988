"""The table, the values and the plot of several builds."""

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from lairmake.stages.make.report import colour
from lairmake.stages.make.report.comparison import (
    csv_of,
    data_of,
    front_of,
    row_of,
    scatter,
    sort_rows,
    table,
)

LONG = "{ ff[i,j] -> PE[j//4, 1 + i//8] }"


def results(cycles, pes, right=True):
    return {
        "cycles": {"simd": cycles, "loops": 2 * cycles}, "speedup": 2.0,
        "bound": {"cycles": 9, "by": "operations"}, "memory": {"bytes_per_pe": 49, "of": 490},
        "pes": {"compute": pes, "of": 99}, "check": {"y": {"right": right}},
    }


def row(cycles, pes, refused="", right=True, **keys):
    found = None if refused else results(cycles, pes, right)
    return row_of({key.replace("__", "."): str(value) for key, value in keys.items()},
                  f"at/{cycles}", found, refused)


ROWS = [
    row(140, 16, sizes__M=32, machine="wse2"),
    row(90, 8, right=False, sizes__M=32, machine="wse3"),
    row(1168, 8, sizes__M=64, machine="wse2"),
    row(150, 16, sizes__M=64, machine="wse3"),
    row(0, 0, "a.yaml:1:2: error: placement leaves the target: ff[32, 0] runs on PE[0, 5], which "
        "is outside\n  placement\n", sizes__M=128, machine="wse2"),
]


def test_a_table_fits_on_eighty_columns_and_says_why_a_row_has_no_figures():
    assert table("fc", ROWS) == (
        "fc: 5 combinations, 1 refused, 1 WRONG\n"
        "  * no other of the same M takes fewer cycles on as few PEs, or as few on fewer\n"
        "     M    machine  cycles  loops  speed-up  bound  memory  PEs\n"
        "  *  32   wse2        140    280      2.00      9    10 %   16\n"
        "     32   wse3     WRONG: y\n"
        "  *  64   wse2       1168   2336      2.00      9    10 %    8\n"
        "  *  64   wse3        150    300      2.00      9    10 %   16\n"
        "     128  wse2     placement leaves the target: ff[32, 0] runs on PE[0, 5], w...\n"
    )


def test_long_values_are_cut():
    rows = [row(1, 2, placement=LONG, a__seed=1, b__seed="x\ny"), row(1, 3, placement="search",
                                                                     a__seed=1, b__seed="x")]
    text = table("fc", rows)
    assert text == (
        "fc: 2 combinations\n"
        "  * no other takes fewer cycles on as few PEs, or as few on fewer\n"
        "     placement       a.seed  b.seed  cycles  loops  speed-up  bound  memory  PEs\n"
        "  *  { ff[i,j] -...  1       x y          1      2      2.00      9    10 %    2\n"
        "     search          1       x            1      2      2.00      9    10 %    3\n"
    )
    assert max(map(len, text.splitlines())) == 80
    assert LONG in table("fc", rows, 120)


def test_on_a_terminal_the_front_is_bold_and_what_is_wrong_red(monkeypatch):
    monkeypatch.setattr(colour, "is_terminal", lambda: True)
    lines = table("fc", ROWS).splitlines()
    assert [line[:5] for line in lines[3:]] == [
        "\x1b[1m ", "\x1b[31m", "\x1b[1m ", "\x1b[1m ", "\x1b[31m"]


def test_where_pes_are_not_known_the_fewest_cycles_are_the_front():
    parts = {"parts": {"a": {"right": True, "memory": {"bytes_per_pe": 1, "of": 2}}},
             "one_after_another": {"simd": 10, "loops": 20}, "check": {}}
    whole = {**parts, "fabric": {"pes": [2, 3], "cycles": 10}}
    rows = [row_of({"run": name}, "", found, "") for name, found in (("a", whole), ("b", parts))]
    assert [each.figures.pes for each in rows] == [6, None]
    assert front_of(rows) == {0, 1}
    assert "\n  * no other takes fewer cycles\n" in table("net", rows)


def test_rows_are_compared_with_those_that_have_as_much_to_do():
    """Of 64 rows no combination takes as few cycles as of 32; of each some are the best."""
    rows = [row(140, 16, sizes__M=32), row(150, 16, sizes__M=64), row(160, 16, sizes__M=64),
            row(150, 8, sizes__M=32)]
    assert front_of(rows) == {0, 1, 3}
    assert front_of([row(1, 2, machine=name) for name in ("wse2", "wse3")]) == {0, 1}
    assert front_of([row(1, 2, machine="wse2"), row(2, 2, machine="wse3")]) == {0}
    lines = ET.fromstring(scatter(rows)).iter("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.get("points").split()) for line in lines] == [2, 1]


def test_a_network_on_one_fabric_has_the_cycles_of_that():
    """Those of its parts one after another are not what so many PEs take."""
    found = {"parts": {"a": {"right": True, "memory": {"bytes_per_pe": 1, "of": 2}}},
             "one_after_another": {"simd": 10, "loops": 20}, "check": {},
             "fabric": {"pes": [2, 3], "cycles": 9}}
    figures = row_of({"run": "whole"}, "", found, "").figures
    assert (figures.cycles, figures.pes, figures.loops, figures.speedup) == (9, 6, None, None)


def test_programs_have_cycles_and_memory_of_a_worker():
    found = {"outputs": {"u": {"right": True}}, "cycles": 7, "field": [2, 4],
             "memory": {"workers": 5, "of": 10}}
    assert table("heat", [row_of({"parameters.n": "8"}, "", found, "")]) == (
        "heat: 1 combination\n"
        "  * no other of the same n takes fewer cycles on as few PEs, or as few on fewer\n"
        "     n  cycles  memory  PEs\n"
        "  *  8       7    50 %    8\n"
    )


@pytest.mark.parametrize(("column", "expected"), [
    ("", [0, 1, 2, 3, 4]), ("cycles", [1, 0, 3, 2, 4]), ("pes", [1, 2, 0, 3, 4]),
])
def test_rows_are_sorted_as_asked_and_those_without_figures_stay_last(column, expected):
    assert [ROWS.index(each) for each in sort_rows(ROWS, column)] == expected


def test_csv_and_json_have_all_figures():
    found = list(csv.DictReader(io.StringIO(csv_of(ROWS))))
    assert found[0] == {
        "sizes.M": "32", "machine": "wse2", "cycles": "140", "loops": "280", "speedup": "2.0",
        "bound": "9", "by": "operations", "bytes": "49", "of": "490", "pes": "16", "pareto": "1",
        "error": "", "folder": "at/140",
    }
    assert (found[4]["cycles"], found[4]["error"]) == ("", ROWS[4].error)
    data = data_of(ROWS)
    assert data[0]["figures"]["cycles"] == 140 and data[0]["error"] is None
    assert [each["right"] for each in data] == [True, False, True, True, False]
    assert [each["pareto"] for each in data] == [True, False, True, True, False]
    assert data[4]["error"].endswith("outside\n  placement") and data[4]["figures"] is None


def test_a_plot_has_a_point_for_each_row_that_is_right_and_escapes_texts():
    rows = [*ROWS, row(100, 20, sizes__M="<b>&", machine='"')]
    tree = ET.fromstring(scatter(rows))
    name = "{http://www.w3.org/2000/svg}"
    titles = [each.find(f"{name}title").text for each in tree.iter(f"{name}circle")
              if each.find(f"{name}title") is not None]
    assert titles[0] == (
        "sizes.M 32, machine wse2: cycles 140, loops 280, speed-up 2.00, bound 9, memory 10 %, "
        "PEs 16"
    )
    assert len(titles) == 4 and titles[3].startswith('sizes.M <b>&, machine ": cycles 100')
    assert '<b>& "' in [each.text for each in tree.iter(f"{name}text")]
    fronts = [[float(point.split(",")[0]) for point in line.get("points").split()]
              for line in tree.iter(f"{name}polyline")]
    assert fronts == list(map(sorted, fronts)) and list(map(len, fronts)) == [1, 2, 1]


def test_labels_do_not_cover_each_other():
    rows = [row(1000 + at % 3, 10, seed=at) for at in range(40)]
    tree = ET.fromstring(scatter(rows))
    name = "{http://www.w3.org/2000/svg}text"
    places = [(each.get("x"), each.get("y")) for each in tree.iter(name) if each.get("stroke")]
    assert len(set(places)) == len(places) < 10


def test_a_plot_of_nothing_is_a_picture():
    assert ET.fromstring(scatter(ROWS[4:])) is not None


def test_marks_of_a_plot_are_whole_and_the_front_is_on_top():
    """Fifteen PEs are no six steps of 2.5; what is drawn last is on top."""
    rows = [row(cycles, 15, seed=seed) for seed, cycles in enumerate((165, 168, 170))]
    tree = ET.fromstring(scatter(rows))
    name = "{http://www.w3.org/2000/svg}"
    marks = [each.text for each in tree.iter(f"{name}text") if each.get("y") == "386"]
    assert marks == ["0", "5", "10", "15"]
    titles = [each.text for each in tree.iter(f"{name}title")]
    assert titles[-1].startswith("seed 0: cycles 165")
