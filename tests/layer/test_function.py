import pytest

from stages.layer.pe.c_functions import Body


def lines(*given, kind="task", **local):
    body = Body(name="f", comment="", kind=kind, locals=local)
    body.block.add(*given)
    return list(body.finished().lines)


def test_what_the_lines_use_is_declared_and_nothing_else():
    assert lines("my->n = PE_Y;") == [
        "struct memory *my = pe->memory;", "const int PE_Y = pe->y;", "", "my->n = PE_Y;",
    ]


def test_what_a_declaration_uses_is_declared_before_it():
    assert lines("run(pe, out);", out="const int out = PE_X % 2;", other="int other;") == [
        "const int PE_X = pe->x;", "const int out = PE_X % 2;", "", "run(pe, out);",
    ]


@pytest.mark.parametrize(
    ("kind", "unused"),
    [("task", ["(void)pe;"]), ("data", ["(void)pe;", "(void)w;"]), ("control", ["(void)pe;",
                                                                              "(void)w;"])],
)
def test_parameters_that_nobody_uses_are_said_to_be_so(kind, unused):
    assert lines(kind=kind) == unused


def test_a_function_knows_what_it_may_call():
    body = Body(name="f", comment="")
    body.block.nest("if (PE_X == 0)").add("g(pe);")
    assert {"g", "pe"} <= body.finished().calls
