"""What all commands of ours share, by real doit processes."""

import os
import subprocess
import sys

import pytest

from tests.e2e.conftest import DODO, printed
from tests.e2e.test_graph import UP, graph

FOREIGN = """def task_show():
    "Say so."
    return {"actions": ["echo shown"], "verbosity": 2}


def task_first():
    "Come first."
    return {"actions": ["true"], "task_dep": ["show"]}
"""
OURS = ("cache", "diff", "dry", "graph", "new", "show", "sweep", "timing", "why")


@pytest.mark.wide
def test_help_says_what_each_command_is_for(small):
    listed = printed(small.run("help"))
    for command in OURS:
        text = printed(small.run("help", command))
        assert text.startswith("PURPOSE\n    ")
        assert f" {command} " in text
        assert "DESCRIPTION" in text
        assert f" {command} " in listed


def test_the_shell_completes_our_commands(small):
    line = next(
        line for line in printed(small.run("tabcompletion")).splitlines() if "sub_cmds=" in line
    )
    assert set(OURS) <= set(line.strip().removeprefix('sub_cmds="').rstrip('"').split())


@pytest.mark.wide
def test_where_the_dodo_file_is_not_ours_we_are_not_there(space):
    space.write("dodo.py", FOREIGN)
    assert printed(space.run()) == ".  show\nshown\n.  first\n"
    assert printed(space.run("show")) == ".  show\nshown\n"
    assert printed(space.run("first", "show")) == ".  show\nshown\n.  first\n"
    assert printed(space.run("list")) == "first   Come first.\nshow    Say so.\n"
    assert printed(space.run("list", "show")) == "show   Say so.\n"
    assert "show" in printed(space.run("info", "--no-status", "show"))
    assert printed(space.run("clean", "show")) == ""
    assert printed(space.run("forget", "show")) == "forgetting show\n"
    assert printed(space.run("reset-dep", "show")) == "processed show\n"
    assert space.run("new", "a").code == 3
    assert not (space.root / "a").exists()


def test_a_dodo_file_above_decides_too_whether_we_are_there(space):
    space.write("dodo.py", FOREIGN)
    (space.root / "below").mkdir()
    assert printed(space.run("show", cwd="below", DOIT_SEEK_FILE="1")) == ".  show\nshown\n"
    assert printed(space.run("-f", "../dodo.py", "show", cwd="below")) == ".  show\nshown\n"


def test_without_a_dodo_file_there_is_nothing_to_show(space):
    run = space.run("show")
    assert run.code == 3
    assert run.err.startswith("ERROR: Could not find dodo file ")


def test_commands_look_for_the_dodo_file_as_doit_does(small):
    small.build()
    (small.root / "projects/a/below").mkdir()
    found = printed(small.run("graph", cwd="projects/a/below", DOIT_SEEK_FILE="1"))
    assert found == graph(UP, UP, UP, UP)
    assert printed(small.run("-f", "dodo.py", "graph")) == found


def test_a_bug_of_ours_exits_with_2(small):
    spoil = "import lairmake.stages.make.doit.commands.graph as g\ng.forecast = None\n"
    small.write("dodo.py", DODO + spoil)
    run = small.run("graph")
    assert run.code == 2
    assert run.err.startswith("Traceback")


UNREAD = """
import os, subprocess, sys
end, written = os.pipe()
os.close(end)
sys.exit(subprocess.run([sys.executable, "-m", "doit", *sys.argv[1:]], stdout=written).returncode)
"""


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize("words", [
    "show fc render", "show fc", "list --all", "help", "tabcompletion", "-a fc", "-n 2 -a fc", "fc",
])
def test_nobody_reading_is_no_error(paper, words):
    command = [sys.executable, "-c", UNREAD, *words.split()]
    ended = subprocess.run(command, cwd=paper.root, check=False, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
def test_without_stdout_or_stderr_nothing_is_printed(small, closed):
    small.build()
    before = {name: small.read(name) for name in small.files()}
    for words in ("-a", "-n 2 -a", "show a", "list", "dry", "why", "help"):
        run = small.run(*words.split(), preexec=lambda: [os.close(number) for number in closed])
        assert (words, run.code, run.err) == (words, 0, "")
        assert {name: small.read(name) for name in small.files()} == before


@pytest.mark.wide_after(1)
@pytest.mark.parametrize("words", ["show fc render", "show fc", "list --all", "-a fc"])
def test_no_room_for_what_is_printed_is_said(paper, words):
    command = [sys.executable, "-m", "doit", *words.split()]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command, cwd=paper.root, check=False, stdout=full, stderr=subprocess.PIPE, text=True
        )
    said = "error: stdout: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (1, said)


def test_info_of_a_name_that_is_none_is_no_crash(small):
    run = small.run("info", "nosuch")
    assert (run.code, run.err) == (3, "ERROR: 'nosuch' is not a task.\n")


def test_dumpdb_says_that_there_is_nothing_to_print(small):
    run = small.run("dumpdb")
    assert run.code == 3
    assert run.err.startswith("ERROR: dumpdb: ")
