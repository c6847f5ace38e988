"""Scripts of NumPy that make no object, and names whose hints say another kind: one error each."""

import pytest

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.store.folders import LayerFolder
from lairmake.stages.program import capture, translate
from lairmake.stages.program.il.run import record_program
from lairmake.stages.program.source.translation import translate_source
from lairmake.stages.program.values.forms import ProgramError

PLAIN = """\
import numpy as np
T = np.ones((8, 8))
for _ in range(10):
    T[1:-1, 1:-1] = 0.25 * (T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2])
"""
KINDS = """\
from lairmake.objects import LocalArray, LocalScalar

S = LocalScalar("S", 1.0, shape=(6, 6))
A: LocalArray = S + 1.0
B = LocalArray("B", 0.0, shape=(6, 6, 3), output=True)
B[...] += A[:, :, :1]
"""
OURS = 'hint: `from lairmake.objects import LocalArray`, then `x = LocalArray("x", 0.0, ' \
    "shape=(8, 8, 4))`\n"


class Folder:
    """A program folder whose first stages run in this process."""

    def __init__(self, path):
        self.path = path
        (path / "program.yaml").write_text("machine: wse2\nprogram: p.py\n", encoding="utf-8")

    def run(self, stage, source=None):
        """Return the text of the error that a stage ends with, without paths of this machine."""
        if source is not None:
            (self.path / "p.py").write_text(source, encoding="utf-8")
        below = {name: self.path / name for name in ("build", "cache")}
        folder = LayerFolder(name="p", path=self.path, home=self.path, **below)
        try:
            found = stage.run(FolderInputs(folder, (*stage.READS, "*.py")))
        except (UserError, UserErrors) as error:
            return str(error).replace(f"{self.path}/", "")
        for name, text in found.items():
            if isinstance(text, str):
                file = self.path / ("cache" if name == "program.il" else "") / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        return ""


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_script_of_numpy_is_told_of_at_its_first_array(folder):
    assert folder.run(translate, PLAIN) == """\
p.py:2:5: error: np.ones gives an array of NumPy, which is no object: nothing runs on PEs
  T = np.ones((8, 8))
      ^^^^^^^^^^^^^^^
hint: `from lairmake.objects import LocalScalar`, then `T = LocalScalar("T", 1.0, shape=(8, 8), \
output=True)`
"""


@pytest.mark.long
def test_a_script_of_numpy_with_the_remedy_is_captured(folder):
    typed = PLAIN.replace("T = np.ones((8, 8))", "from lairmake.objects import LocalScalar\n"
                          'T = LocalScalar("T", 1.0, shape=(8, 8), output=True)')
    assert folder.run(translate, typed) == folder.run(capture) == ""


def test_an_empty_program_is_told_of_at_once(folder):
    assert folder.run(translate, "") == (
        f"error: p.py makes no object: nothing runs on PEs\n{OURS}")


REMEDIES = {
    "T = np.zeros((4, 5, 6))": 'T = LocalArray("T", 0.0, shape=(4, 5, 6), output=True)',
    "T = np.zeros(8, dtype=int)": 'T = GlobalArray("T", 0, shape=(8,), output=True)',
    "T = np.full((4, 4), 2.5)": 'T = LocalScalar("T", 2.5, shape=(4, 4), output=True)',
    "T = np.arange(8.0).reshape(8, 1)":
        'T = LocalArray("T", init_data=np.arange(8.0).reshape(8, 1).astype("float32"), '
        "output=True)",
    "rng = np.random.default_rng(0)\nT = np.ones((n, n))":
        'T = LocalScalar("T", 1.0, shape=(n, n), output=True)',
    "def f():\n    return 2 * np.ones((4, 4, 4))": 'x = LocalArray("x", 1.0, shape=(4, 4, 4), '
    "output=True)",
}


@pytest.mark.parametrize("text", REMEDIES)
def test_the_remedy_has_the_kind_and_the_values_of_the_array(folder, text):
    said = folder.run(translate, f"import numpy as np\nn = 4\n{text}\n")
    assert f"`{REMEDIES[text]}`" in said.splitlines()[-1]


@pytest.mark.parametrize(("source", "place"), [
    ("# only a comment\n", "p.py:1:1: error: p.py makes"),
    ('"""A text."""\nimport math\n', "p.py:1:1: error: p.py makes"),
    ("import numpy as np\n", "p.py:1:1: error: p.py makes"),
    ("import pandas as pd\n\nframe = pd.read_csv('x')\n", "p.py:3:1: error: the program makes"),
    ("from scipy import sparse\nm = sparse.eye(3)\n", "p.py:2:1: error: the program makes"),
    ("from lairmake.objects import LocalArray, Run_On_Host\nwith Run_On_Host():\n    import numpy\n"
     "    a = numpy.ones(3)\nb = 3\n", "p.py:5:1: error: the program makes"),
    ("n = 3\nfor i in range(n):\n    print(i)\n", "p.py:1:1: error: the program makes"),
])
def test_a_program_without_objects_is_told_of_by_its_first_stage(folder, source, place):
    said = folder.run(translate, source)
    assert said.startswith(f"{place} no object: nothing runs on PEs\n") and said.endswith(OURS)


@pytest.mark.parametrize("source", [
    "from lairmake.objects import LocalArray as Made\n",
    "import lairmake.objects as ours\nx = ours.LocalArray('x', 1.0, shape=(4, 4, 4))\n",
    "import helper\nhelper.solve()\n", "from .helper import solve\n",
])
def test_what_may_make_objects_is_left_to_the_run(folder, source):
    assert folder.run(translate, source) == ""


@pytest.mark.long
def test_a_run_that_makes_no_object_is_told_of_when_it_ends(folder):
    (folder.path / "helper.py").write_text("def solve():\n    return 3\n", encoding="utf-8")
    source = "import helper\nfrom lairmake.objects import LocalArray\n\nhelper.solve()\n"
    assert folder.run(translate, source) == ""
    assert folder.run(capture) == (
        "p.py:4:1: error: the program makes no object: nothing runs on PEs\n  helper.solve()\n"
        f"  ^^^^^^^^^^^^^^\n{OURS}")


def test_a_field_without_room_for_its_control_is_told_of_by_capture(folder):
    source = 'from lairmake.objects import LocalArray\nx = LocalArray("x", 1.0, shape=(1, 3, 2))\n'
    assert folder.run(translate, source) == ""
    assert folder.run(capture) == """\
p.py:2:5: error: the field has 1 column: the row that controls it needs 4, for the executive, the \
merge PE, and a response PE on each side
  x = LocalArray("x", 1.0, shape=(1, 3, 2))
      ^^^^^^^^^^^^^^
hint: write `field(4, 3)` once, before sums: arrays may be smaller than it
"""


def record(source):
    il = translate_source(Source(path="p.py", text=source)).text
    with pytest.raises(ProgramError) as caught:
        record_program(il, "p.py")
    return str(caught.value)


FUNCTIONS = """\
from lairmake import numpy as np
from lairmake.objects import GlobalScalar, LocalArray, LocalScalar, MACHScalar
x, s = LocalArray("x", 1.0, shape=(4, 4, 4)), LocalScalar("s", 1.0, shape=(4, 4))
"""
HINTED = {
    "def f(p: LocalArray):\n    p[...] = 0.0\nf(s)\n":
        "p is given a LocalScalar, and its hint says LocalArray\nhint: `p: LocalScalar`, or pass a "
        "LocalArray",
    "def f(p: 'LocalScalar') -> None:\n    p[...] = 0.0\nf(x)\n":
        "p is given a LocalArray, and its hint says LocalScalar\nhint: `p: LocalArray`, or pass a "
        "LocalScalar",
    "def f(p: LocalArray) -> LocalArray:\n    return np.sum(p, axis=2)\nz: LocalScalar = f(x)\n":
        "f returns a LocalScalar, and its hint says LocalArray\n"
        "hint: `def f(...) -> LocalScalar:`",
    "def f(p: MACHScalar):\n    s[...] = p\nf(np.sum(x, axis=2))\nf(np.sum(x))\nf(x)\n":
        "p is given a LocalArray, and its hint says MACHScalar\nhint: `p: LocalArray`, or pass a "
        "MACHScalar",
}


@pytest.mark.parametrize("text", HINTED)
def test_an_argument_or_a_result_of_another_kind_than_its_hint_is_refused(text):
    assert record(FUNCTIONS + text) == HINTED[text]


def test_hints_of_several_kinds_and_arguments_that_are_no_objects_are_as_they_were():
    text = "def f(p: LocalArray | LocalScalar, q: LocalArray | None = None, n: int = 3) -> " \
        "LocalArray | None:\n    p[...] = 0.0\n    return q\nf(x)\nf(s, x)\n"
    il = translate_source(Source(path="p.py", text=FUNCTIONS + text)).text
    assert len(record_program(il, "p.py").graph.items) == 2


@pytest.mark.long
def test_a_hint_of_another_kind_is_told_of_where_it_stands(folder):
    assert folder.run(translate, KINDS) == ""
    assert folder.run(capture) == """\
p.py:4:17: error: A is a LocalScalar, and its hint says LocalArray
  A: LocalArray = S + 1.0
                  ^^^^^^^
hint: `A: LocalScalar = ...`
"""


def test_a_hint_of_another_kind_is_refused():
    assert record(KINDS) == (
        "A is a LocalScalar, and its hint says LocalArray\nhint: `A: LocalScalar = ...`")


def test_what_a_function_returns_that_is_no_object_has_no_hint_of_a_kind():
    head = 'from lairmake.objects import LocalArray\nx = LocalArray("x", 1.0, shape=(4, 4, 4))\n'
    assert record(f"{head}def f(n):\n    return n * 2\nz: LocalArray = f(3)\n") == (
        "z is an int of the host, and no LocalArray\nhint: `z = LocalArray(\"z\", ...)` makes one")


ASKS = """\
from lairmake.objects import LocalArray, parameter
n, width = parameter("n", 6), parameter("width", 4)
x = LocalArray("x", 1.0, shape=(n, width, 4))
"""


def test_parameters_that_are_none_are_told_of_before_the_program_runs(folder):
    (folder.path / "program.yaml").write_text(
        "program: p.py\nparameters: {m: 3, wdith: 3, n: 2}\n", encoding="utf-8")
    assert folder.run(translate, ASKS) == """\
program.yaml:2:14: error: the program has no parameter 'm'
  parameters: {m: 3, wdith: 3, n: 2}
               ^
hint: it asks for n, width

program.yaml:2:20: error: the program has no parameter 'wdith'
  parameters: {m: 3, wdith: 3, n: 2}
                     ^^^^^
hint: did you mean width?
"""


@pytest.mark.parametrize("line", ["import helper", "k = 'm'\nparameter(k, 3)", "ask = parameter"])
def test_parameters_that_a_run_may_ask_for_are_left_to_it(folder, line):
    (folder.path / "program.yaml").write_text(
        "program: p.py\nparameters: {m: 3}\n", encoding="utf-8")
    assert folder.run(translate, f"{ASKS}{line}\n") == ""


def test_a_machine_that_is_none_is_told_of_before_the_program_runs(folder):
    (folder.path / "program.yaml").write_text(
        "program: p.py\nmachine: {profile: wse2, lanez: 3}\n", encoding="utf-8")
    assert folder.run(translate, ASKS) == """\
program.yaml:2:26: error: unknown figure lanez
  machine: {profile: wse2, lanez: 3}
                           ^^^^^
hint: did you mean lanes?
"""
