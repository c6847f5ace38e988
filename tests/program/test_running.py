"""capture and rehearse: what a program reads is their input, and what it does wrong its own."""

import re
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages import PROGRAM
from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import build
from lairmake.stages.make.core.layers import open_folder
from tests.program.started import Folder

HEAT = """from lairmake.objects import LocalArray, Run_On_Host, parameter
from inside.shapes import stretch

with Run_On_Host():
    import numpy
    try:
        extra = len(open("extra.txt").read())
    except FileNotFoundError:
        extra = 0
    start = stretch(numpy.load("mesh.npy"))
a = LocalArray("a", init_data=start, output=True)
a[...] = a * parameter("scale", 2.0) + float(extra)
"""
SHAPES = """import numpy

def stretch(x):
    return numpy.full((4, 2, 3), x, "float32")
"""


@pytest.fixture
def folder(tmp_path):
    found = Folder(tmp_path)
    found.write("heat.py", HEAT)
    found.write("inside/shapes.py", SHAPES)
    np.save(tmp_path / "mesh.npy", np.float32(1.5))
    return found


def ran(folder, *stages):
    """Build, and return the stages that ran, besides those that are right as they were."""
    found = open_folder(folder.path)
    return [stage for stage in stages or PROGRAM if build(stage, found).how == "ran"]


def value(folder):
    a = np.load(folder.path / "build/numpy/a.npy")
    assert np.array_equal(a, np.load(folder.path / "build/graph/a.npy"))
    return a.flat[0]


@pytest.mark.wide
def test_what_a_program_reads_is_an_input_of_the_stages_that_run_it(folder):
    """A mesh, a module beside it, a file that was not there, and its parameters."""
    runs = ["capture", "rehearse"]
    assert (ran(folder), value(folder)) == ([*PROGRAM], 3)
    assert ran(folder) == []
    np.save(folder.path / "mesh.npy", np.float32(2.5))
    assert ran(folder)[:2] == runs and value(folder) == 5
    folder.write("inside/shapes.py", SHAPES.replace("x, ", "x + 1, "))
    assert ran(folder)[:2] == runs and value(folder) == 7
    folder.write("extra.txt", "four")
    assert value(folder) == 7 and ran(folder)[:2] == runs and value(folder) == 11
    folder.write("program.yaml", "program: heat.py\nparameters: {scale: 3.0}\n")
    assert ran(folder)[1:3] == runs and value(folder) == 14.5
    folder.write("beside.py", "")
    assert ran(folder, "translate", "capture") == ["translate"]


@pytest.mark.wide
def test_comments_and_blank_lines_stop_at_program_il(folder):
    ran(folder)
    folder.write("heat.py", HEAT.replace("a[...]", "# doubled\n\na[...]"))
    assert ran(folder) == ["translate"]


def error(folder, source, stage):
    folder.write("heat.py", source)
    with pytest.raises((UserError, UserErrors)) as raised:
        ran(folder, *PROGRAM[: PROGRAM.index(stage) + 1])
    return str(raised.value).replace(f"{folder.path}/", "")


@pytest.mark.wide
def test_first_values_that_differ_between_two_runs_are_named(folder):
    source = HEAT.replace("stretch(numpy.load(\"mesh.npy\"))", "stretch(numpy.random.normal())")
    assert error(folder, source, "rehearse") == (
        "heat.py:11:5: error: the first values of a differ between two runs of the program\n"
        '  a = LocalArray("a", init_data=start, output=True)\n'
        f"      {'^' * 45}\n"
        "hint: seed the generator: `numpy.random.default_rng(0)`\n"
    )


@pytest.mark.wide
@pytest.mark.parametrize("what", ["open('log.txt', 'w')", "numpy.load('none.npy')"])
def test_what_code_does_wrong_has_its_place_in_the_source(folder, what):
    """And not in program.il, which has no comments: here it is seven lines shorter."""
    wrong = f"    x = [\n        {what}]\n    start"
    source = HEAT.replace("    start", "    # seven lines of comments\n" * 7 + wrong)
    said = error(folder, source, "capture")
    assert said.startswith("heat.py:18:9: error: the program ")
    assert f"\n          {what}]\n          {'^' * len(what)}\n" in said


@pytest.mark.wide
def test_what_only_python_runs_may_write(folder):
    ignored = "with MACH_Compiler_Ignore():\n    open('log.txt', 'w').write(str(a.sum()))\n"
    source = HEAT.replace("parameter\n", "parameter, MACH_Compiler_Ignore\n") + ignored
    folder.write("heat.py", source)
    assert ran(folder) == [*PROGRAM]
    assert not (folder.path / "log.txt").exists()


DOCUMENT = Path(__file__).resolve().parents[2] / "docs/programs.md"


@pytest.mark.wide
def test_the_python_of_the_document_is_a_program_and_its_error_is_one(folder):
    text = DOCUMENT.read_text(encoding="utf-8")
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    folder.write("heat.py", source)
    assert ran(folder) == [*PROGRAM]
    said = error(folder, f"{source}T = new\n", "translate")
    assert f"```\n{said}```" in text, said
