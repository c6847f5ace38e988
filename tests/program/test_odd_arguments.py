"""Whatever a program gives to what Lairmake offers it, no exception is raised in our own code.

Where one is, the program takes the blame, or we do; both are wrong: an argument is refused in
words, with what to write, by the source on x86 and by the graph alike.
"""

import pytest

from lairmake.stages.program.sandbox.faults import describe
from lairmake.stages.program.sandbox.limits import FileWatch
from lairmake.stages.program.values.api import set_parameters
from lairmake.stages.program.values.forms import ProgramError
from tests.program.captured import capture
from tests.program.fronted import run

GIVEN = [
    "5", "None", "[]", "{}", "numpy", "numpy.zeros(3)", "numpy.zeros(0)", r"'\ud800'", "int",
    "numpy.array([None])", "lambda: 1", "numpy.float32",
]
CALLS = [
    "parameter(ODD, 1)", "parameter('p', ODD)", "field(9, ODD)", "global_range(ODD)",
    "strict(ODD)", "holds_objects(ODD)", "LocalArray(ODD, 1.0, shape=(3, 2, 4))",
    "LocalArray('q', ODD)", "LocalArray('q', 1.0, shape=ODD)", "LocalArray('q', 1.0, shape=(ODD,))",
    "LocalArray('q', ODD, shape=(3, 2, 4), dtype=ODD)", "GlobalScalar('q', 1.0, output=ODD)",
    "u.astype(ODD)", "np.sum(ls, controller=ODD)", "np.max(ls, ODD)", "ls[ODD]", "ls + ODD",
    "np.where(ls > 0, ls, ODD)",
]
OBJECTS = "u = UniformLocalScalar('u', 0.5)\nls = LocalScalar('ls', 1.5, shape=(3, 2))\n"


@pytest.mark.parametrize("call", CALLS)
def test_what_is_given_is_taken_or_refused_in_words(call, tmp_path):
    for given in GIVEN:
        for run_it in (run, capture_it):
            try:
                run_it(call.replace("ODD", given))
            except Exception as error:
                assert describe(error, FileWatch(str(tmp_path), [])).bug is None, (call, given)


def capture_it(text):
    set_parameters({})
    capture(text, OBJECTS)


@pytest.mark.parametrize(("call", "said"), [
    ("parameter(1, 200)", "a parameter's name is 1\nhint: `parameter(\"n\", 16)`"),
    ("strict(5)", "`strict` of what is no class of the program\nhint: it stands above one: "
     "`@strict`"),
    ("holds_objects(int)", "`holds_objects` of what is no class of the program\nhint: it stands "
     "above one: `@holds_objects`"),
    ("np.sum(ls, controller=1)", "controller is a int\nhint: `controller=True`"),
])
def test_what_is_refused_is_said_with_what_to_write(call, said):
    for run_it in (run, capture_it):
        with pytest.raises(ProgramError) as error:
            run_it(call)
        assert str(error.value) == said
