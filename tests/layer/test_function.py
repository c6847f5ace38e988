import pytest

from lairmake.stages.pe.block import Body
from lairmake.stages.pe.nodes import Assign, Call, Declare, Field, If, SendEnd, Task, find_mentioned
from lairmake.stages.pe.speller import spell
from lairmake.stages.poly.expression import Name, Number, Operation

PE_X, PE_Y = Name("PE_X"), Name("PE_Y")


def lines(*given, kind="task", **local):
    body = Body(name="f", comment="", kind=kind)
    body.hold(local)
    body.block.add(*given)
    return [line.strip() for line in spell(body.finished()).splitlines()[3:-1]]


def test_what_the_statements_use_is_declared_and_nothing_else():
    assert lines(Assign(Field("n"), PE_Y)) == [
        "struct memory *my = pe->memory;", "const int PE_Y = pe->y;", "", "my->n = PE_Y;",
    ]


def test_what_a_declaration_uses_is_declared_before_it():
    out = Operation("%", (PE_X, Number(2)))
    assert lines(SendEnd(Name("out")), out=out, other=Number(1)) == [
        "const int PE_X = pe->x;", "const int out = PE_X % 2;", "", "send_end(pe, out);",
    ]


@pytest.mark.parametrize(
    ("kind", "unused"),
    [("task", ["(void)pe;"]), ("data", ["(void)pe;", "(void)w;"]), ("control", ["(void)pe;",
                                                                              "(void)w;"])],
)
def test_parameters_that_nobody_uses_are_said_to_be_so(kind, unused):
    assert lines(kind=kind) == unused


def test_what_only_variables_need_asks_nothing_of_the_pe():
    assert lines(Declare("k", "int", Number(1))) == ["(void)pe;", "const int k = 1;"]


def test_a_function_knows_what_it_may_call():
    body = Body(name="f", comment="")
    body.block.nest(If(Operation("==", (PE_X, Number(0))))).add(Call(Task("g")))
    assert find_mentioned(body.finished().statements) == {"g", "PE_X"}
