"""What a build prints where nobody watches: in a pipe, a file, the log of a CI."""

from tests.e2e.conftest import DODO

SUMMARY = "small on ideal\n"


def lines(run):
    assert run.code == 0, run.err
    return run.out.splitlines()


def test_what_ran_is_one_line_then_comes_the_summary(small):
    assert lines(small.plain())[:2] == ["a: 4 stages ran", "small on ideal"]


def test_every_stage_has_a_line_with_v_before_or_after_what_is_asked_for(small):
    for words in (("-v",), ("a", "-v"), ("-v2", "a")):
        found = lines(small.plain("-a", *words))
        assert found[:5] == [
            ".  a:parse", ".  a:place", ".  a:render", ".  a:simulate", "small on ideal",
        ]


def test_stages_of_several_layers_at_once_are_told_by_layer(small):
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Three\n")
    found = lines(small.plain("-n", "2"))
    assert sorted(found[:2]) == ["a: 4 stages ran", "b: 4 stages ran"]


def test_what_comes_from_the_store_is_counted(small):
    small.plain()
    small.write("projects/a/a.lair", "Three\n")
    assert lines(small.plain())[0] == "a: 4 stages ran"
    small.write("projects/a/layer.yaml", "machine: ideal  # more\n")
    small.write("projects/a/a.lair", "One\nTwo\n")
    assert lines(small.plain())[0] == "a: 2 stages ran, 2 from the store"


def test_what_failed_is_named_with_what_ran_before(small):
    small.write("projects/a/layer.yaml", "crash\n")
    run = small.plain()
    assert (run.code, run.out) == (2, "a: parse failed\n")
    small.write("projects/a/layer.yaml", "machine: ideal\n")
    small.write("projects/a/a.lair", "One\nwrong\n")
    run = small.plain()
    assert (run.code, run.out) == (1, "a: parse failed\n")
    assert run.err.startswith("projects/a/a.lair:2:1: error: this is wrong\n")


def test_tasks_of_a_user_are_told_as_doit_tells_them(small):
    small.write("dodo.py", DODO + "\n\ndef task_hello():\n    return {'actions': ['echo hi']}\n")
    assert lines(small.plain("a:parse", "hello")) == ["a: 1 stage ran", ".  hello", "hi"]


def test_an_option_of_a_task_is_its_own(small):
    small.write("dodo.py", DODO + LOUD)
    assert lines(small.plain("loud", "-v")) == [".  loud", "True"]


def test_no_colours_are_printed(small):
    assert "\x1b" not in small.plain(TERM="xterm-256color").out


LOUD = """

def task_loud():
    option = {"name": "loud", "short": "v", "type": bool, "default": False}
    return {"actions": ["echo %(loud)s"], "params": [option]}
"""


def test_a_letter_that_stdout_has_not_is_escaped(small):
    small.layer("projects/grün")
    run = small.plain("grün", PYTHONIOENCODING="ascii")
    assert (run.code, run.out.splitlines()[0]) == (0, "gr\\xfcn: 4 stages ran")
