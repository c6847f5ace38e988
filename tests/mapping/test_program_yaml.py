"""program.yaml: what it says, and the whole text of every error in it."""

import random

import pytest

from lairmake.stages.diagnose import Source, UndeclaredReadError, UserError, UserErrors, source_of
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.program_yaml import choose_program, program_schema, read_program
from tests.mapping.machines import OURS
from tests.property.mutator import damage_often

GOOD = """program: heat.py
machine: {profile: wse2, dispatch: 5}
parameters: {n: 16, wide: true, rate: 0.5, name: sun}
control: {responses: 2}
reductions: drain
"""
WRONG = {
    "unknown_key": (
        "parameter: {n: 16}\n",
        """\
program.yaml:1:1: error: unknown key parameter
  parameter: {n: 16}
  ^^^^^^^^^
hint: did you mean parameters?
""",
    ),
    "a_list_as_a_parameter": (
        "parameters:\n  n: [16]\n",
        """\
program.yaml:2:6: error: parameters.n must be a number, a text, true or false
  n: [16]
     ^^^^
""".replace("  n:", "    n:").replace("     ^", "       ^"),
    ),
    "no_number": (
        "parameters: {n: .nan}\n",
        """\
program.yaml:1:17: error: parameters.n must be a number, a text, true or false
  parameters: {n: .nan}
                  ^^^^
""",
    ),
    "a_machine": (
        "machine: {dispatch: 5}\n",
        """\
program.yaml:1:10: error: machine must be a profile's name, a path, or a mapping with `profile`
  machine: {dispatch: 5}
           ^^^^^^^^^^^^^
""",
    ),
    "no_response_pe": (
        "control: {responses: 0}\n",
        """\
program.yaml:1:22: error: control.responses must be at least 1
  control: {responses: 0}
                       ^
""",
    ),
    "an_unknown_control": (
        "control: {response: 2}\n",
        """\
program.yaml:1:11: error: unknown key response
  control: {response: 2}
            ^^^^^^^^
hint: did you mean responses?
""",
    ),
    "a_reduction": (
        "reductions: tree\n",
        """\
program.yaml:1:13: error: reductions must be 'drain'
  reductions: tree
              ^^^^
""",
    ),
    "a_text": (
        "heat.py\n",
        """\
program.yaml:1:1: error: program.yaml must be a mapping
  heat.py
  ^^^^^^^
""",
    ),
}


def read(text):
    return read_program(Source(path="program.yaml", text=text))


def test_what_it_says():
    program = read(GOOD)
    assert program.program == "heat.py"
    assert program.parameters == {"n": 16, "wide": True, "rate": 0.5, "name": "sun"}
    assert program.parameters["wide"] is True
    assert (program.control.responses, program.reductions) == (2, "drain")
    assert read_machine(program, OURS).dispatch == 5
    assert program.key_span("parameters", "n").column == 14


def test_an_empty_one_says_what_is_there_without_it():
    assert read("").model_dump() == {
        "program": None, "machine": "wse2", "parameters": {}, "control": {"responses": None},
        "reductions": "drain", "limits": {"seconds": 60, "memory": 1 << 32, "answer": 1 << 30},
        "report": False,
    }


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_errors(text, expected):
    with pytest.raises(UserErrors) as caught:
        read(text)
    assert str(caught.value) == expected


CHOICES = {
    "none": ("", [], "error: here holds no program\nhint: it is a NAME.py beside program.yaml\n"),
    "several": (
        "", ["a.py", "b.py"],
        """\
error: here holds 2 .py files (a.py, b.py)
hint: name the one to build in program.yaml: `program: NAME.py`
""",
    ),
    "missing": (
        "program: heat.py\n", ["a.py"],
        """\
program.yaml:1:10: error: heat.py does not exist
  program: heat.py
           ^^^^^^^
hint: the .py files here: a.py
""",
    ),
    "a_path": (
        "program: ../heat.py\n", [],
        """\
program.yaml:1:10: error: ../heat.py is not the name of a .py file
  program: ../heat.py
           ^^^^^^^^^^
hint: the .py files here: none
""",
    ),
}


@pytest.mark.parametrize(("text", "names", "expected"), CHOICES.values(), ids=CHOICES)
def test_errors_of_the_source(text, names, expected):
    with pytest.raises(UserError) as caught:
        choose_program(read(text), names, "here")
    assert str(caught.value) == expected


def test_the_schema_names_every_key():
    assert set(program_schema()["properties"]) == {
        "program", "machine", "parameters", "control", "reductions", "limits", "report"}


def test_a_stage_gets_the_program_and_its_source(tmp_path):
    files = {"program.yaml": GOOD, "heat.py": "x = 1\n", "dodo.py": "", "b.py": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    inputs = FolderInputs(open_folder(tmp_path), ("program.yaml", "*.py"))
    assert inputs.program().parameters["n"] == 16
    assert inputs.program_source() == Source(path=str(tmp_path / "heat.py"), text="x = 1\n")
    assert inputs.names("*.py") == ["b.py", "heat.py"]
    assert set(inputs.reads) == {"program.yaml", "heat.py"}


def test_places_in_files_are_found_without_reading_them(tmp_path):
    (tmp_path / "program.yaml").write_text("")
    (tmp_path / "heat.py").write_text("x = 1\n")
    inputs = FolderInputs(open_folder(tmp_path), ("program.yaml",))
    assert inputs.unnoted().program_source().text == "x = 1\n"
    assert inputs.reads == {} == inputs.further
    with pytest.raises(UndeclaredReadError):
        inputs.program_source()


@pytest.mark.parametrize("seeds", [
    range(100), pytest.param(range(100, 2000), marks=pytest.mark.long),
])
def test_a_damaged_one_is_read_or_refused_at_its_place(seeds):
    """Whatever YAML makes of it, and whatever machine it names."""
    for seed in seeds:
        content = damage_often("program.yaml", GOOD.encode(), random.Random(seed))
        try:
            program = read_program(source_of("program.yaml", content))
            choose_program(program, ["heat.py"], "here")
            read_machine(program, OURS)
        except (UserError, UserErrors) as error:
            assert "program.yaml" in str(error), seed
