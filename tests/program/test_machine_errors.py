"""What a machine, or its control row, must have for a program; all that is said where it has not.

Other such errors are in test_lower.py and test_section_errors.py, beside what they protect.
"""

import pytest

from lairmake.stages.diagnose import UserError
from tests.program.run_on_fabric import lower_program
from tests.program.test_lower import HEAD, PROGRAMS

IMPORTS = "from lairmake.objects import GlobalArray, GlobalScalar, LocalArray, field\n"
ARRAY = IMPORTS + """\
field(%d, %d)
a = LocalArray("a", 1.0, shape=(4, 2, 4), output=True)
a[1:] = a[:-1] + a[1:]
"""
GLOBAL = IMPORTS + """\
from lairmake import numpy as np
field(4, 2)
g = GlobalArray("g", 1.0, shape=(12000,), dtype="float32")
s = GlobalScalar("s", 0.0, output=True)
s[...] = np.sum(g) + s
"""
SUMS = HEAD + PROGRAMS["sums"]
NEEDS = {
    "routers that copy": (ARRAY % (4, 2), "{profile: wse2, multicast: false}", """\
routers of wse2 send to one side only; the virtual machine needs some that copy
hint: a machine with `multicast: true`, such as wse2
"""),
    "rows": (ARRAY % (4, 6), "{profile: wse2, grid: [8, 8]}", """\
a field of 4 x 6 workers takes 4 x 9 PEs, and wse2 has 8 x 8
hint: at most 8 x 5 workers, or a larger machine
"""),
    "columns": (ARRAY % (751, 5), "wse2", """\
a field of 751 x 5 workers takes 751 x 8 PEs, and wse2 has 750 x 994
hint: at most 750 x 991 workers, or a larger machine
"""),
    "columns of the row that controls": (
        ARRAY % (4, 2), "{profile: wse2, grid: [3, 16]}", """\
wse2 has 3 x 16 PEs: the row that controls workers takes 4 columns, and 3 rows have no workers
hint: a machine with at least 4 x 4 PEs: `grid`
"""),
    "rows for workers": (ARRAY % (4, 2), "{profile: wse2, grid: [16, 3]}", """\
wse2 has 16 x 3 PEs: the row that controls workers takes 4 columns, and 3 rows have no workers
hint: a machine with at least 4 x 4 PEs: `grid`
"""),
    "positions": (ARRAY % (4, 2), "{profile: wse2, positions: 1}", """\
args_dist has up to 2 positions, and switches of wse2 have 1
hint: a machine with `positions: 2`
"""),
    "colours": (SUMS, "{profile: wse2, colours: 8}", """\
the virtual machine needs 10 colours, and wse2 has 8:
  ctrl_coord: the number of a section, from the executive to the response PEs
  args_dist: arguments, from the response PEs to the merge PE
  ctrl_dist: procedures, from the response PEs to the merge PE
  args: arguments, from the merge PE to all workers and reduction PEs
  ctrl: procedures, from the merge PE to all workers and reduction PEs
  reduction_1: sums, along columns to the strips
  reduction_2: sums, along strips to the inner PEs
  reduction_3: sums, from the upper right inner PE to the executive
  reduction_4: sums, from the inner PEs to the upper right one
  global_broadcast: scalars, from the executive to all workers
hint: a machine with `colours: 10`, or a program without sums
"""),
    "colours that turn": (ARRAY % (4, 2), f"{{profile: wse2, unswitched: {[*range(1, 24)]}}}", """\
the virtual machine needs 4 colours whose switches turn, and wse2 has 1:
  args_dist: arguments, from the response PEs to the merge PE
  ctrl_dist: procedures, from the response PEs to the merge PE
  C0: between neighbours, from odd workers to even ones
  C1: between neighbours, from even workers to odd ones
hint: a machine with fewer colours `unswitched`
"""),
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_a_machine_lacks_is_said_at_its_name(name):
    source, machine, expected = NEEDS[name]
    said, hint = expected.split("hint: ")
    with pytest.raises(UserError) as error:
        lower_program(source, f"machine: {machine}\n")
    marks = "^" * len(machine)
    assert str(error.value) == (
        f"program.yaml:1:10: error: {said}  machine: {machine}\n           {marks}\nhint: {hint}")


def test_global_arrays_beyond_the_executive_are_refused_with_its_code():
    with pytest.raises(UserError) as error:
        lower_program(GLOBAL, "")
    assert str(error.value) == """\
program.py:4:5: error: a PE of role executive needs 49564 bytes, wse2 has 49152
  g = GlobalArray("g", 1.0, shape=(12000,), dtype="float32")
      ^^^^^^^^^^^^^^^
hint: code 1536, g 48000, s 4, t0 4; GlobalArrays lie on one PE, the executive: smaller ones, or a \
LocalArray, which lies on all workers
"""


def test_more_response_pes_than_the_row_has_are_refused_where_they_are_asked_for():
    with pytest.raises(UserError) as error:
        lower_program(ARRAY % (4, 2), "machine: wse2\ncontrol: {responses: 2}\n")
    assert str(error.value) == """\
program.yaml:2:22: error: 2 response PEs on each side: the control row of 4 PEs has 1
  control: {responses: 2}
                       ^
hint: at most 1, or a wider field
"""
