"""Options that there are not, or that have a wrong value: one line, as words that name nothing."""

import pytest

from tests.e2e.conftest import COMMANDS, DODO

OF_USER = '''
def task_hello():
    number = {"name": "n", "short": "m", "long": "number", "type": int, "default": 1}
    return {"actions": ["echo %(n)s"], "params": [number]}
'''
IN_ONE_PROCESS = """
from lairmake.__main__ import main
for words in {cases}:
    assert main(words.split()) == 3, words
"""
LATE = "is an option, which stands before all tasks\nhint: `lairmake"
SAID = {
    "--contnue": "option --contnue not recognized: did you mean --continue?",
    "-N 3 a": "option -N not recognized: did you mean -n?",
    "a --bogus": "option --bogus not recognized; `lairmake help run` says more",
    "a --contin": f"--contin {LATE} --contin a`",
    "list a -p": f"-p {LATE} list -p a`",
    "-n two": "-n two: two is no whole number",
    "-n": "option -n requires argument; `lairmake help run` says more",
    "-n -2 a": "-n -2: say how many processes",
    "-v 7 a": "-v 7: there are 0, 1, 2",
    "-P threads a": "-P threads: there are process, thread",
    "list --sort nam": "list: --sort nam: there are name, definition; did you mean name?",
    "show --jsn": "show: option --jsn not recognized: did you mean --json?",
    "hello --numbr 3": "hello: option --numbr not recognized: did you mean --number?",
    "hello -m x": "hello: -m x: x is no whole number",
    "hello -m 2 a -n 1": f"-n {LATE} -n 1 hello -m 2 a`",
}


@pytest.mark.wide
def test_no_command_prints_its_insides_for_an_option_that_it_has_not(small):
    cases = [f"{name} {word}" for name in sorted(COMMANDS) for word in ("--no-such", "-9")]
    run = small.python("-c", IN_ONE_PROCESS.format(cases=cases))
    expected = ""
    for case in cases:
        name, option = case.split()
        said = f"option {option} not recognized; `lairmake help {name}` says more"
        expected += "ERROR: " + ("" if name == "run" else f"{name}: ") + said + "\n"
    assert (run.code, run.err) == (0, expected)


@pytest.mark.wide
def test_what_is_wrong_with_an_option_is_one_line_and_says_what_may_be_meant(small):
    small.write("dodo.py", DODO + OF_USER)
    run = small.python("-c", IN_ONE_PROCESS.format(cases=list(SAID)))
    assert (run.code, run.out, run.err) == (
        0, "", "".join(f"ERROR: {said}\n" for said in SAID.values())
    )


def test_a_command_behind_an_option_is_told_where_it_stands(small):
    run = small.plain("-v", "list")
    assert run.code == 3
    assert run.err.splitlines()[-1] == (
        "hint: list is a command, which stands first: `doit list`"
    )


def test_where_the_dodo_file_is_not_ours_doit_says_it(small):
    small.write("dodo.py", OF_USER)
    assert small.plain("--bogus").err.startswith("ERROR: Error parsing Command: option --bogus")
