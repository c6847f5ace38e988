"""The command new, by real doit processes: a layer folder that builds, whole or not at all."""

import json
import signal

import pytest

from lairmake.stages import PIPELINE
from tests.e2e.conftest import DODO, ROOT, printed


@pytest.mark.wide
def test_new_makes_a_layer_that_builds(space):
    assert printed(space.run("new", "mine")) == (
        "mine/\n  dodo.py\n  layer.yaml\n  mine.lair\nbuild it: cd mine && doit\n"
    )
    assert "lair: mine.lair" in space.read("mine/layer.yaml")
    assert space.read("mine/mine.lair") == (ROOT / "projects/fc/fc.lair").read_text()
    assert sorted(space.build(cwd="mine")) == sorted(f"mine:{stage}" for stage in PIPELINE)


@pytest.mark.wide
def test_new_in_a_workspace_makes_a_layer_below_projects(paper):
    out = printed(paper.run("new", "deep/own", "--like", "conv1d"))
    assert out == (
        "projects/deep/own/\n  dodo.py\n  layer.yaml\n  own.lair\nbuild it: doit deep/own\n"
    )
    paper.build("deep/own")
    assert paper.read("projects/deep/own/build/results.json") == paper.read(
        "projects/conv1d/build/results.json"
    )


def test_new_from_a_path_may_take_inputs_along(space):
    space.copy(ROOT / "projects/fc", "a")
    space.write("a/inputs/x.npy", "an input")
    space.write("a/build/results.json", "built")
    printed(space.run("new", "b", "--like=a"))
    assert space.files("b") == ["b/b.lair", "b/dodo.py", "b/layer.yaml"]
    data = json.loads(printed(space.run("new", "c", "--like=a", "--inputs", "--json")))
    assert data == {
        "layer": "c", "folder": str(space.root / "c"),
        "files": ["c.lair", "dodo.py", "inputs/x.npy", "layer.yaml"],
    }


@pytest.mark.parametrize(("arguments", "code", "text"), [
    (("new",), 3, "ERROR: new: say one NAME, of letters, digits, _ and -, and not a digit first\n"),
    (("new", "1a"), 3,
     "ERROR: new: say one NAME, of letters, digits, _ and -, and not a digit first\n"),
    (("new", "a", "--bad"), 3,
     "ERROR: new: option --bad not recognized; `doit help new` says more\n"),
    (("new", "graph"), 1, "error: graph is a command of doit\nhint: choose another name\n"),
    (("new", "a/build"), 1,
     "error: a/build is where a layer keeps its files\nhint: choose another name\n"),
    (("new", "there"), 1, "error: projects/there exists\nhint: choose another name\n"),
    (("new", "there/b"), 1, "error: projects/there/b would lie in the layer there\n"),
    (("new", "a", "--like", "none"), 1, "error: there is no layer none\nhint: there are "),
    (("new", "a", "--like", "conv1"), 1,
     "error: there is no layer conv1\nhint: did you mean conv1d?\n"),
])
def test_new_refuses(space, arguments, code, text):
    space.copy(ROOT / "projects/fc", "projects/there")
    run = space.run(*arguments)
    assert (run.code, run.out) == (code, "")
    assert run.err == text or (text.endswith("there are ") and run.err.startswith(text))
    assert space.files("projects/a") == []


def test_new_that_is_killed_leaves_no_layer_behind(small):
    """Killed while it writes: the next one cleans up, and makes what was asked for."""
    small.write("dodo.py", DODO + KILLED)
    assert small.run("new", "b", "--like", "a").code == -signal.SIGKILL
    (left,) = [p for p in (small.root / "projects").iterdir() if p.name != "a"]
    assert left.name.startswith(".b.")
    small.write("dodo.py", DODO)
    assert small.run("new", "b", "--like", "a").code == 0
    assert sorted(p.name for p in (small.root / "projects").iterdir()) == ["a", "b"]
    assert small.build("b")[-1] == "b:simulate"


KILLED = """
import os, signal
import lairmake.stages.make.doit.commands.new as new
new._rename_lair = lambda *words: os.kill(os.getpid(), signal.SIGKILL)
"""
