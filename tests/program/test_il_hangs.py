"""A program that hangs while it is captured is shown at its line of the source.

It hangs on one line of program.il, too: of a loop either line may be the one that runs.
"""

from functools import partial

import pytest

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.program.capture import find_place
from lairmake.stages.program.il.run import capture_program
from lairmake.stages.program.sandbox.limits import ChildLimits
from lairmake.stages.program.sandbox.parent import run_apart
from lairmake.stages.program.source.translation import translate_source
from tests.program.started import Folder

SOURCE = """\
from lairmake.objects import LocalArray, Run_On_Host
# a comment, which program.il does not have

x = LocalArray("x", 1.0, shape=(3, 2, 4), output=True)
with Run_On_Host():
    n = 1

    n = any(iter(int, 1))
"""


@pytest.mark.wide
def test_what_hangs_is_at_its_line_of_the_source(tmp_path):
    folder = Folder(tmp_path)
    folder.write("heat.py", SOURCE)
    il = translate_source(Source(path="heat.py", text=SOURCE)).text
    with pytest.raises(UserError) as error:
        run_apart(capture_program, folder.inputs(), {"il": il}, limits=ChildLimits(seconds=1.0),
                  find=partial(find_place, il))
    assert str(error.value).replace(f"{tmp_path}/", "") == (
        "heat.py:8:5: error: the program takes more than 1 s of a processor\n"
        "      n = any(iter(int, 1))\n      ^^^^^^^^^^^^^^^^^^^^^\n"
        "hint: a loop that ends, fewer steps or a smaller field; or more, "
        "in program.yaml: `limits: {seconds: 10}`\n")
