"""Decorators that keep members and arguments what they are."""

import pytest

from lairmake.stages.program.values.forms import ProgramError
from tests.program.fronted import run

CLASS = """\
@{}
class C:
    limit = 3
    def __init__(self, n):
        self.n = n
        self.x = LocalScalar("x", 0.0, shape=(2, 2))
    def fill(self, y: LocalArray, times: int = 1) -> None:
        self.x[...] += 1
    @staticmethod
    def free(y: int): return y
c = C(1)
"""
MEMBERS = {
    "c.n = 2": None, "c.limit = 4": None, "c.new = 'a'": None, "c.x[...] += 2": None,
    "c.x = c.x": None, "c.n = True": "member n of C was of type int, and would be bool\n"
    "hint: members keep their type: another name",
    "c.n = 2.5": "member n of C was of type int, and would be float\n"
    "hint: members keep their type: another name",
    "c.limit = la": "member limit of C was of type int, and would be LocalArray\n"
    "hint: members keep their type: another name",
    "c.x = la": "member x of C holds a LocalScalar, and would hold another object\n"
    "hint: `self.x[...] = ` gives it other values",
    "c.x = c.x + 1": "member x of C holds a LocalScalar, and would hold another object\n"
    "hint: `self.x[...] = ` gives it other values",
    "c.x += 1": "`+=` would bind the name of a LocalScalar anew\n"
    "hint: `x[...] += ` changes its values",
}


def check(source, said):
    if said is None:
        return run(source)
    with pytest.raises(ProgramError) as error:
        run(source)
    assert str(error.value) == said
    return None


@pytest.mark.parametrize("decorator", ["strict", "holds_objects"])
@pytest.mark.parametrize("source", MEMBERS)
def test_members_keep_their_type_and_objects_their_place(source, decorator):
    check(CLASS.format(decorator) + source, MEMBERS[source])


def test_methods_of_a_class_that_holds_objects_are_typed():
    assert check(CLASS.format("holds_objects") + "c.fill(la)", None)["la"].shape == (3, 2, 4)
    check(CLASS.format("holds_objects") + "c.fill(ls)",
          "argument y of fill is of type LocalScalar, its hint says LocalArray")
    check(CLASS.format("holds_objects") + "c.fill(la, times=2.5)",
          "argument times of fill is of type float, its hint says int")
    check(CLASS.format("strict") + "c.fill(ls)", None)


ARGUMENTS = [
    ("LocalArray", "la", None), ("LocalArray", "la[1:] + u", None), ("LocalScalar", "ls", None),
    ("LocalScalar", "la[:, :, 1]", None), ("GlobalScalar", "ga[0]", None),
    ("MACHScalar", "u", None), ("MACHScalar", "g", None), ("MACHScalar", "ls", None),
    ("MACHScalar", "la", "LocalArray"), ("MACHScalar", "2.0", "float"), ("LocalArray", "3", "int"),
    ("GlobalArray", "g", "GlobalScalar"), ("int", "3", None), ("int", "True", "bool"),
    ("int", "i", "GlobalScalar"), ("bool", "True", None), ("float", "3", None),
    ("float", "2.5", None), ("float", "'a'", "str"), ("list[int]", "[1]", None),
    ("list[int]", "(1,)", "tuple"), ("'LocalArray'", "ls", "LocalScalar"),
    ("LocalArray | LocalScalar", "ls", None), ("LocalArray | LocalScalar", "g", "GlobalScalar"),
    ("LocalArray | None", "None", None), ("None", "3", "int"), ("Any", "la", None),
    ("numpy.ndarray", "numpy.ones(2)", None), ("numpy.ndarray", "la", "LocalArray"),
]


@pytest.mark.parametrize(("hint", "value", "is_of"), ARGUMENTS)
def test_an_argument_is_what_its_hint_says(hint, value, is_of):
    source = f"from typing import Any\n@typed\ndef f(a, b: {hint}): return a\nfound = f(1, {value})"
    if is_of is None:
        assert run(source)["found"] == 1
        return
    with pytest.raises(ProgramError) as error:
        run(source)
    assert str(error.value).startswith(f"argument b of f is of type {is_of}, its hint says ")


def test_every_one_of_several_arguments_is_looked_at():
    source = "@typed\ndef f(*a: int, **b: float): return len(a) + len(b)\n"
    assert run(source + "found = f(1, 2, x=2.5)")["found"] == 3
    check(source + "f(1, 2.5)", "argument a of f is of type float, its hint says int")
    check(source + "f(x=1, y='a')", "argument b of f is of type str, its hint says float")
