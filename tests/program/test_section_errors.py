"""What exchange and section refuse, and what readers of their texts do."""

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.program import exchange, section
from tests.program.given import Given, listing_files
from tests.program.sectioned import read_files, section_graph, section_program
from tests.program.test_running_sections import HEAD

FIELD = 'from lairmake.objects import LocalArray, field\nfield(%d, 2)\n'
ARRAY = FIELD + 'a = LocalArray("a", 1.0, shape=(4, 2, %d), dtype="%s", output=True)\n'
LARGE = "machine: {profile: wse2, memory: 200000}\n"
PROGRAMS = {
    "a field without room for the control row": (
        FIELD % 3 + 'a = LocalArray("a", 1.0, shape=(3, 2, 4), output=True)\na[...] = a + 1.0\n',
        "", """\
program.py:2:1: error: the field has 3 columns: the row that controls it needs 4, for the \
executive, the merge PE, and a response PE on each side
  field(3, 2)
  ^^^^^^^^^^^
hint: write `field(4, 2)` once, before sums: arrays may be smaller than it"""),
    "objects without room for the control row": (
        FIELD.replace("field(%d, 2)", 'a = LocalArray("a", 1.0, shape=(2, 3, 1))'), "", """\
program.py:2:5: error: the field has 2 columns: the row that controls it needs 4, for the \
executive, the merge PE, and a response PE on each side
  a = LocalArray("a", 1.0, shape=(2, 3, 1))
      ^^^^^^^^^^^^^^
hint: write `field(4, 3)` once, before sums: arrays may be smaller than it"""),
    "more response PEs than the row has": (
        HEAD, "control: {responses: 3}\n", """\
program.yaml:1:22: error: 3 response PEs on each side: the control row of 6 PEs has 2
  control: {responses: 3}
                       ^
hint: at most 2, or a wider field"""),
    "fewer response PEs than hold the program": (
        HEAD + "for i in range(700):\n    a[1:] = b[:-1] * (a[1:] + 2.0)\n",
        "machine: {profile: wse2, memory: 9000}\ncontrol: {responses: 1}\n", """\
program.yaml:2:22: error: calls and arguments of 1 section take 21002 bytes, and 8 on each \
response PE to find them: 1 on each side do not hold them, with room for 7208 bytes each
  control: {responses: 1}
                       ^
hint: more, at most 2, or none given: the fewest that do"""),
    "more than the row holds": (
        HEAD + "for i in range(1200):\n    a[1:] = b[:-1] * (a[1:] + 2.0)\n",
        "machine: {profile: wse2, memory: 9000}\n", """\
program.py:14:1: error: calls and arguments of 1 section take 36002 bytes, and 8 on each response \
PE to find them: the control row has 2 on each side, with room for 7208 bytes each
  field(6, 5)
  ^^^^^^^^^^^
hint: a wider field: each 2 columns more are one more on each side; or a shorter program: loops \
over `global_range(n)` stay loops"""),
    "less memory than code takes, on workers": (
        ARRAY % (4, 5, "int16") + "a[...] = a + 1\n",
        "machine: {profile: wse2, memory: 100}\n", """\
program.py:3:5: error: a worker needs 16 bytes, with what lands on it, constants and 1 filters, \
and has 0 beside its code
  a = LocalArray("a", 1.0, shape=(4, 2, 5), dtype="int16", output=True)
      ^^^^^^^^^^^^^^
hint: the largest: a (10 bytes), constant_0 (2 bytes); a machine with more `memory`"""),
    "less memory than code takes, on response PEs": (
        ARRAY % (4, 5, "int16") + "a[...] = a + 1\n",
        "machine: {profile: wse2, memory: 1700}\n", """\
program.py:2:1: error: calls and arguments of 1 section take 14 bytes, and 8 on each response PE \
to find them: wse2 has 0 beside code
  field(4, 2)
  ^^^^^^^^^^^
hint: a machine with more `memory`"""),
    "a size beyond 16 bits": (
        ARRAY % (4, 40000, "int16") + "a[...] = a + 1\n", LARGE, """\
program.py:3:5: error: n0 of the graph has the argument 40000, and workers are told numbers of 16 \
bits, at most 32767: sizes and strides, and addresses in words of 2 bytes
  a = LocalArray("a", 1.0, shape=(4, 2, 40000), dtype="int16", output=True)
      ^^^^^^^^^^^^^^
hint: fewer elements on each PE, by smaller arrays or a larger field; the largest is a"""),
    "no room for what lands": (
        ARRAY % (4, 7000, "float32") + "a[1:] = a[:-1] + a[1:]\n", "", """\
program.py:3:5: error: a worker needs 56004 bytes, with what lands on it, constants and 2 \
filters, and has 48128 beside its code
  a = LocalArray("a", 1.0, shape=(4, 2, 7000), dtype="float32", output=True)
      ^^^^^^^^^^^^^^
hint: the largest: a (28000 bytes), landing_0 (28000 bytes); fewer elements on each PE, by \
smaller arrays or a larger field"""),
}


@pytest.mark.wide_after(1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_has_no_room_is_refused(name):
    source, settings, expected = PROGRAMS[name]
    with pytest.raises(UserError) as caught:
        section_program(source, settings)
    assert str(caught.value) == f"{expected}\n"


ACCESSES = {
    "a source on one PE": (
        "myLA[1 + x, y, z - 1]", "myLA[2, y, z - 1]",
        "n4_src1 is not as far from each PE that computes"),
    "addresses that depend on the PE": (
        "n4[x, y, z] -> myLA[1 + x, y, z - 1] : 1 <= x <= 4 and 1 <= y <= 4 and 1 <= z <= 7",
        "n4[x, y, z] -> myLA[3, 3, x] : 1 <= x <= 4 and 1 <= y <= 4 and 1 <= z <= 7",
        "n4_src1 has other addresses on other PEs"),
}


@pytest.mark.parametrize("name", ACCESSES)
def test_operands_that_no_hops_bring_are_refused(name):
    old, new, expected = ACCESSES[name]
    files = listing_files()
    assert old in files["accesses.isl"]
    files["accesses.isl"] = files["accesses.isl"].replace(old, new)
    with pytest.raises(UserError, match=expected) as caught:
        exchange.run(Given(files))
    assert caught.value.span.source.path == "accesses.isl"


TEXTS = [
    ("exchanges.isl", "PE[1 + x, y]", "PE[2 + x, y]",
     "n4_src1_0 is not from a box of PEs to their neighbours on one side"),
    ("exchanges.isl", "PE[1 + x, y]", "PE[x, 1 + y]",
     "n4_src1_0 is from other PEs than those that have the operand by then"),
    ("exchanges.isl", "1 <= x <= 4", "1 <= x <= 5",
     "n4_src1_0 leaves the field, 6 x 6 PEs"),
    ("exchanges.isl", "n4_src1_0 :=", "n4_src0_0 :=",
     "n4_src0_0: graph.yaml has no such operand that lies on other PEs"),
    ("exchanges.isl", "n4_src1_0 :=", "n4_src1_1 :=",
     "n4_src1_1 is hop 1, and comes after 0 others"),
    ("exchanges.isl", "n4_src1_0 :=", "east :=", "east is no hop of an operand"),
    ("exchanges.isl", "n4_src1_0 := { PE[x, y] -> PE[1 + x, y] : 1 <= x <= 4 and 1 <= y <= 4 };",
     "", "exchanges.isl has no n4_src1_0"),
    ("exchanges.isl", " };", " ;", "expected `name := { ... };`"),
    ("filters.isl", "2 <= x <= 5", "2 <= x <= 6",
     "filter_1 is no box of PEs of the field, 6 x 6 PEs"),
    ("filters.isl", "2 <= x <= 5", "1 <= x <= 4", "filter_1 has the PEs of filter_0"),
    ("filters.isl", "2 <= x <= 5", "2 <= x <= 4",
     "filters.isl has no filter of columns 2 to 5, rows 1 to 4"),
    ("filters.isl", "filter_1", "filter_3", "filter_3 where filter_1 is wanted"),
    ("filters.isl", "2 <= x <= 5", "2 <= x <= 5 and x + y != 4",
     "filter_1 is no box of PEs of the field, 6 x 6 PEs"),
]


@pytest.mark.parametrize(("file", "old", "new", "expected"), TEXTS)
def test_hops_and_filters_that_were_edited_are_checked(file, old, new, expected):
    files = section_graph(listing_files())
    assert old in files[file]
    files[file] = files[file].replace(old, new, 1)
    with pytest.raises(UserError) as caught:
        section.run(Given(files))
    assert caught.value.message == expected
    assert caught.value.span is None or caught.value.span.source.path == file


def test_an_operand_may_go_another_way():
    files = section_program(HEAD + "a[1:, 1:] = b[:-1, :-1]\n")
    before = files["exchanges.isl"]
    hop = "n0_src0_{} := {{ PE[x, y] -> PE[{}] : 1 <= x <= 5 and {} <= y <= {} }};\n"
    files["exchanges.isl"] = f'{hop.format(0, "x - 1, y", 0, 3)}{hop.format(1, "x, y - 1", 1, 4)}'
    assert [each for each in before.splitlines() if ":=" in each] == files[
        "exchanges.isl"].splitlines()
    other = hop.replace("1 <= x <= 5", "0 <= x <= 4")
    files["exchanges.isl"] = f'{other.format(0, "x, y - 1", 1, 4)}{hop.format(1, "x - 1, y", 1, 4)}'
    more = "filter_{} := {{ PE[x, y] : 0 <= x <= 4 and {} <= y <= {} }};\n"
    files["filters.isl"] += more.format(3, 1, 4)
    assert "north" in section.run(Given(files))["sections.yaml"].partition("_west")[0]


SECTIONS = [
    ("responses: 1", "responses: 3", "responses is 3, no integer from 1 to 2"),
    ("24, 7, 0)", "24, 7, 3)", "ar_ar_addiii_float32_center has a filter beyond the 3 that are "
     "there"),
    ("address: 48", "address: 50", "landing_0 is not in the 76 bytes of workers, at its type's "
     "bytes"),
    ("count: 7", "count: 5", "ar_copyii_float32_east is called ar_copyii_float32_east, and has "
     "7 arguments"),
    ("sources: [ar, ar]", "sources: [ar, sc]", "ar_ar_addiii_float32_center is called "
     "ar_sc_addiii_float32_center, and has 5 arguments"),
    ("sources: [ar, ar]", "sources: [ar]", "ar_ar_addiii_float32_center: sources, types and "
     "sides do not go together"),
    ("shares: [1, 1]", "shares: [2, 1]", "the shares are 2 of 3 calls: 2 response PEs share 2"),
    ("(24, 0, 7, 0, 1, 1, 2)", "(24, 0, 7, 0, 1, 1)", "6 arguments of ar_copyii_float32_east, "
     "which has 7"),
    ("(24, 0, 7, 0, 1, 1, 2)", "(38, 0, 7, 0, 1, 1, 2)", "an address of ar_copyii_float32_east is "
     "not in the 76 bytes of workers"),
    ("(24, 0, 7, 0, 1, 1, 2)", "(24, 0, 7, 0, 3, 1, 2)", "ar_copyii_float32_east has a filter "
     "beyond the 3 that are there"),
    ("(24, 0, 7, 0, 1, 1, 2)", "(24, 0, 7, 0, 1, 2, 2)", "call 0 turns the ring 2 times: from west "
     "to east it is 1"),
    ("(24, 0, 7, 0, 1, 1, 2)", "(24, 0, 0, 0, 1, 1, 2)", "a size of ar_copyii_float32_east is not "
     "positive"),
    ("(24, 0, 7, 0, 1, 1, 2)", "(24, 0, 7, 0, 1, 1, 0)",
     "the section ends with the ring at north, and begins at west"),
    ("(1, 0, 8, 2)", "(2, 0, 8, 2)", "ar_reduceGlobalSumii_float32_center is for all (1), or for "
     "the executive (0)"),
    ("n4: ar_copyii", "n6: ar_copyii", "a call for n6, which is no node of workers"),
    ("{next: fl_0, otherwise: 7}", "{next: fl_0, otherwise: 9}", "a state is 9, no integer from 0 "
     "to 8"),
    ("{next: fl_0, otherwise: 7}", "{next: fl_0, to: 7}", "a state is one of send_section, "
     "send_global, take_sum, compute, begin, next, go_unless, go, stop"),
    ("{go_unless: 3, to: 5}", "{go_unless: 2, to: 5}", "2 is no item with a condition"),
    ("{compute: 2}", "{compute: 4}", "4 is no node of the executive"),
    ("{compute: 2}", "{take_sum: 5}", "5 is no sum over workers that is global"),
    ("{send_section: 1}", "{send_section: 2}", "a section is 2, no integer from 0 to 1"),
    ("  8: {stop: true}\n", "  8: {send_section: 1}\n", "the last state neither stops nor goes to "
     "another"),
]


@pytest.mark.parametrize(("old", "new", "expected"), SECTIONS)
def test_sections_that_were_edited_are_checked(old, new, expected):
    files = section_graph(listing_files())
    assert old in files["sections.yaml"]
    files["sections.yaml"] = files["sections.yaml"].replace(old, new, 1)
    with pytest.raises(UserError) as caught:
        read_files(files)
    assert caught.value.message == expected and caught.value.span is not None
