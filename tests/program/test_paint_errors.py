"""What is said of a paint.isl that was edited, and where."""

import pytest

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.paint_isl import check_painting, read_painting
from tests.program.laid_out import ALL, paint_text

KEPT = "hint: paint writes paint.isl; what it wrote is in the store of the build\n"
ANEW = "hint: paint writes paint.isl anew once it is deleted\n"
LEFT = "geo_upper_left := { PE[1, 1] };"
MERGE, TURNED = "role_merge := { PE[1, 2] };", "args_dist_1 := { [PE[1, 2] -> W[]] -> ramp[] };"
EDITS = {
    "another name": (MERGE, "role_middle := { PE[1, 2] };", """\
:25:1: error: the virtual machine has no role_middle
  role_middle := { PE[1, 2] };
  ^^^^^^^^^^^
""" + KEPT + """
error: paint.isl has no role_merge
""" + KEPT),
    "two roles": (MERGE, "role_merge := { PE[2, 2] };", """\
:25:1: error: PE[2, 2] has another role, too
  role_merge := { PE[2, 2] };
  ^^^^^^^^^^
""" + KEPT),
    "a role elsewhere": (MERGE, "role_merge := { PE[1, 6] };", """\
error: role_merge of paint.isl is not that of the field at PE[1, 6]
""" + ANEW),
    "no PEs": (MERGE, "role_merge := { P[1, 2] };", """\
:25:1: error: role_merge has something else than PEs: { P[1, 2] }
  role_merge := { P[1, 2] };
  ^^^^^^^^^^
hint: write `{ PE[x, y] : ... }`
"""),
    "no isl": (MERGE, "role_merge := { PE[1, 2 };", """\
:25:25: error: isl: syntax error: unexpected '}'
  role_merge := { PE[1, 2 };
                          ^
hint: the text has 1 `[` and 0 `]`
"""),
    "a quote": (TURNED, TURNED.replace("}", '"}'), """\
:46:1: error: args_dist_1 has a `"`
  args_dist_1 := { [PE[1, 2] -> W[]] -> ramp[] "};
  ^^^^^^^^^^^
hint: names of PEs and sides have none
"""),
    "a side that there is not": (TURNED, TURNED.replace("W[]", "X[]"), """\
:46:1: error: args_dist_1 has something else than routes: { [PE[1, 2] -> X[]] -> ramp[] }
  args_dist_1 := { [PE[1, 2] -> X[]] -> ramp[] };
  ^^^^^^^^^^^
hint: write `{ [PE[x, y] -> W[]] -> ramp[] }`; sides: N, E, S, W, ramp
"""),
    "a position without the one before": (TURNED, TURNED.replace("_1", "_2"), """\
error: paint.isl has no args_dist_1
""" + KEPT + """
paint.isl:46:1: error: args_dist_2 is a position, and one before it is missing
  args_dist_2 := { [PE[1, 2] -> W[]] -> ramp[] };
  ^^^^^^^^^^^
""" + KEPT),
    "a condition elsewhere": (LEFT, LEFT.replace("[1", "[0"), """\
error: geo_upper_left of paint.isl is not that of the field at PE[0, 1]
""" + ANEW),
    "a condition less": (LEFT, "", """\
error: paint.isl has no geo_upper_left
""" + ANEW),
}


@pytest.mark.wide_after(7)
@pytest.mark.parametrize("name", EDITS)
def test_what_was_edited_is_said_with_its_place(name):
    old, new, said = EDITS[name]
    text = paint_text(5, 3)
    assert text.count(old) == 1
    with pytest.raises((UserError, UserErrors)) as error:
        painting = read_painting(Source(path="paint.isl", text=text.replace(old, new)))
        check_painting(painting, Geometry(width=5, height=3, responses=1), ALL, "paint.isl")
    assert str(error.value).removeprefix("paint.isl") == said
