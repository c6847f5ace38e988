"""What workers are told, and what the executive does, of small programs."""

import itertools
import textwrap
from pathlib import Path

import pytest

from lairmake.stages.program import exchange, section
from lairmake.stages.program.sections.calls import join_axes
from lairmake.stages.program.sections.program import share_calls
from lairmake.stages.program.sections.sections_yaml import write_sections
from tests.program.counted import count_calls
from tests.program.given import Given
from tests.program.sectioned import read_files, section_program
from tests.program.test_exchanges import SIZES
from tests.program.test_running_sections import HEAD

PROJECTS = Path(__file__).resolve().parents[2] / "projects"


@pytest.mark.parametrize("name", SIZES)
def test_what_is_read_is_what_was_written(name):
    files = section_program((PROJECTS / name / f"{name}.py").read_text("utf-8"), **SIZES[name])
    _, sections = read_files(files)
    assert write_sections(sections) == files["sections.yaml"]


def test_listing_1_is_two_sections_and_nine_states():
    files = section_program((PROJECTS / "listing1/listing1.py").read_text("utf-8"))
    assert files["sections.yaml"].partition("sections:\n")[2] == """\
  0:
    shares: [1, 1]
    calls:
    - n4: ar_copyii_float32_east(24, 0, 7, 0, 1, 1, 2)
    - n4: ar_ar_addiii_float32_center(2, 2, 24, 7, 0)
  1:
    shares: [1, 2]
    calls:
    - n5: ar_reduceGlobalSumii_float32_center(1, 0, 8, 2)
    - n5: special_reduceBroadcast_float32(16)
    - special_halt()
states:
  0: {begin: fl_0}
  1: {next: fl_0, otherwise: 7}
  2: {compute: 2}
  3: {go_unless: 3, to: 5}
  4: {go: 7}
  5: {send_section: 0}
  6: {go: 1}
  7: {send_section: 1}
  8: {stop: true}
"""


STATEMENTS = """
for i in range({count}):
    a[1:, 1:] = a[:-1, :-1] * (i % 7 + 0.5) + b[1:, 1:]
    b[...] = b + g
    g[...] = np.sum(b, controller=True)
    v: MACHScalar = np.sum(a)
    b[...] = b * v
"""


@pytest.mark.wide
def test_work_grows_as_statements_do():
    """The vectors are also spread over more response PEs as they grow."""
    def prepare(count):
        head = HEAD.replace("field(6, 5)", "field(12, 5)")
        source = head + textwrap.dedent(STATEMENTS).format(count=count)
        return Given(section_program(source, "machine: {profile: wse2, memory: 4000}\n"))

    counts = []
    for count in (30, 60, 120):
        files = prepare(count)
        counts.append(count_calls(exchange.run, files) + count_calls(section.run, files))
    assert counts[2] - counts[1] < 2.1 * (counts[1] - counts[0])
    _, sections = read_files(files.files)
    assert sections.responses == 3 and max(sections.shares[0]) - min(sections.shares[0]) == 1


def test_each_part_has_as_many_calls_and_the_emptiest_have_those_left():
    shares, filled = share_calls([[10] * 7, [20] * 3, [4] * 8], 4)
    assert shares == [(2, 2, 2, 1), (1, 1, 0, 1), (2, 2, 2, 2)]
    assert filled == [24 + 20 + 20 + 8, 24 + 20 + 20 + 8, 24 + 20 + 0 + 8, 24 + 10 + 20 + 8]


@pytest.mark.parametrize(("sizes", "strides", "expected"), [
    ((3, 4), [(4, 1), (4, 1)], (0, (12,), ())),
    ((3, 4), [(8, 1), (4, 1)], (2, (3, 4), ((8, 1), (4, 1)))),
    ((3, 1, 4), [(8, 9, 2), (8, 5, 2)], (1, (12,), ((2,), (2,)))),
    ((2, 3, 4), [(12, 4, 1), (24, 8, 1)], (2, (6, 4), ((4, 1), (8, 1)))),
    ((2, 3), [(-3, -1)], (1, (6,), ((-1,),))),
    ((2, 3), [(0, 1), (3, 1)], (2, (2, 3), ((0, 1), (3, 1)))),
    ((1, 1), [(7, 7)], (0, (1,), ())),
    ((), [()], (0, (1,), ())),
])
def test_axes_are_joined_where_all_operands_go_on(sizes, strides, expected):
    runs = join_axes(sizes, strides)
    assert (runs.rank, runs.sizes, runs.strides) == expected


def list_calls(body, field="6, 5"):
    """Return the calls of the first section of a program, without their nodes."""
    files = section_program(HEAD.replace("field(6, 5)", f"field({field})") + body)
    lines = files["sections.yaml"].partition("    calls:\n")[2].splitlines()
    calls = itertools.takewhile(lambda line: line.startswith("    - "), lines)
    return [line.removeprefix("    - ").partition("(")[0].rpartition(" ")[2] for line in calls]


@pytest.mark.parametrize(("body", "expected"), [
    ("a[1:] = b[:-1]", ["ar_copyii_float32_west", "special_halt"]),
    ("a[1:] = a[:-1]", ["ar_copyii_float32_west", "ar_copyii_float32_center", "special_halt"]),
    ("b[1:] = b[1:] - a[:-1]", ["ar_copyii_float32_west", "ar_ar_subiii_float32_center",
                                "special_halt"]),
    ("b[:, 1:] = a[:, :-1] - b[:, 1:]", ["ar_ar_subiii_float32_north0", "special_halt"]),
    ("a[:, :, 2] = np.max(a[:, :, 2:3], axis=2)",
     ["ar_copyii_float32_center", "ar_accumulateMaxii_float32_center", "special_halt"]),
    ("b[1:-1] = a[2:] + a[:-2]", ["ar_copyii_float32_west", "ar_ar_addiii_float32_east0",
                                  "special_halt"]),
    ("b[:, :-1] = l[:, 1:]", ["ar_copyii_float32_south", "sc_copyii_float32_center",
                              "special_halt"]),
    ("u[...] = np.sum(a)\nv: MACHScalar = np.max(b)\nb[...] = b + u",
     ["ar_reduceGlobalSumii_float32_center", "ar_reduceGlobalMaxii_float32_center",
      "special_reduceBroadcast_float32", "ar_sc_addiii_float32_center",
      "special_reduceBroadcast_float32", "special_halt"]),
    ("b[...] = b + g\na[...] = a * g\ng[...] = g + 1.0\nl[...] = l + g",
     ["special_globalBroadcast_float32", "ar_sc_addiii_float32_center",
      "ar_sc_muliii_float32_center", "special_globalBroadcast_float32",
      "ar_sc_addiii_float32_center", "special_halt"]),
])
def test_nodes_become_calls(body, expected):
    assert list_calls(f"{body}\n") == expected
