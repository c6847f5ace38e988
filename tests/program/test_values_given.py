"""What a program is given from outside, and on how many workers it lies."""

import subprocess
import sys

import pytest

from lairmake.stages.program.values.api import check_parameters, set_parameters
from lairmake.stages.program.values.forms import ProgramError
from tests.program.fronted import HEAD, run

GIVEN = [
    (3, 4, 4), (3, "16", 16), (0.5, 2, 2.0), (0.5, "1e-6", 1e-6), ("a", "b", "b"), ("a", 3, "3"),
    (False, "true", True), (True, False, False), (1, "-7", -7),
]


@pytest.mark.parametrize(("default", "given", "value"), GIVEN)
def test_a_parameter_has_the_type_of_its_default(default, given, value):
    found = run(f"x = parameter('n', {default!r})\ny = parameter('m', 5)", n=given)
    assert (found["x"], type(found["x"]), found["y"]) == (value, type(value), 5)


@pytest.mark.parametrize(("default", "given"), [
    (3, 2.5), (3, True), (3, "2.5"), (0.5, "x"), (False, 1), (False, "maybe"), (1.0, True),
    ("a", False), (3, ""),
])
def test_a_parameter_of_another_type_is_refused(default, given):
    with pytest.raises(ProgramError) as error:
        run(f"parameter('n', {default!r})", n=given)
    assert str(error.value).startswith(
        f"parameter n={given}: not of the type of its default, {default!r}")


def test_a_parameter_that_no_one_asks_for_is_an_error():
    run("parameter('steps', 3)\nparameter('n', 3)", stepps=4)
    with pytest.raises(ProgramError) as error:
        check_parameters()
    assert str(error.value) == "the program has no parameter 'stepps'\nhint: did you mean steps?"
    set_parameters({"n": 3})
    with pytest.raises(ProgramError, match="no parameter 'n'\nhint: it asks for none"):
        check_parameters()
    with pytest.raises(ProgramError) as error:
        run("parameter('n', None)")
    assert str(error.value) == ("parameter 'n': its default is no int, float, str or bool\n"
                                "hint: `parameter(\"n\", 16)`")


def test_parameters_come_from_the_command_line(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("from lairmake.objects import parameter\n"
                    "print(parameter('n', 3) + 1, parameter('x', 0.5))\n", encoding="utf-8")
    ended = subprocess.run([sys.executable, path, "n=16", "--plot", "m=3"], text=True,
                           capture_output=True)
    assert ended.stdout == "17 0.5\n"
    assert ended.stderr == "ERROR: the program has no parameter 'm'\nhint: it asks for n, x\n"


MADE = 'a = LocalScalar("a", 0, shape=(3, 4))\n'
FIELDS = {
    "field(2, 9)": "field(2, 9): there are objects on 3 x 4 PEs",
    "field(3, 4)\nfield(5, 5)": "the field is 3 x 4 already: field(3, 4)\n"
    "hint: `field(W, H)` stands once, before sums",
    "np.sum(a)\nfield(5, 5)": "the field is 3 x 4 already: a sum was taken, whose order depends on "
    "it\nhint: `field(W, H)` stands once, before sums",
    "np.max(a)\nb = LocalScalar('b', 0, shape=(4, 1))": "b needs 4 x 1 PEs, the field is 3 x 4: a "
    "sum was taken, whose order depends on it\n"
    "hint: `field(W, H)` at the beginning, with room for all objects",
    "field(3, 5)\nb = LocalArray('b', 0, shape=(1, 6, 2))": "b needs 1 x 6 PEs, the field is 3 x "
    "5: field(3, 5)\nhint: `field(W, H)` at the beginning, with room for all objects",
    "field(3.0, 4)": "field(3.0, 4): columns and rows, each at least 1",
    "field(True, 0)": "field(True, 0): columns and rows, each at least 1",
}


@pytest.mark.parametrize("source", FIELDS)
def test_the_field_is_settled_once(source):
    with pytest.raises(ProgramError) as error:
        run(MADE + source, head=HEAD)
    assert str(error.value) == FIELDS[source]


@pytest.mark.parametrize("source", [
    "np.sum(a)\nb = LocalScalar('b', 0, shape=(3, 2))\nnp.sum(b)", "field(3, 4)\nnp.sum(a)",
    "field(9, 9)\nb = LocalScalar('b', 0, shape=(9, 1))",
])
def test_a_field_has_room_for_what_is_not_larger(source):
    assert run(MADE + source, head=HEAD)["a"].shape == (3, 4)
