"""What is remembered of the tasks of a user beside those of layers, and how it is forgotten."""


import pytest

from tests.e2e.conftest import DODO, LAYER_DODO
from tests.e2e.test_make import ALL
from tests.e2e.test_own_tasks import BEFORE_PLACE


def test_git_does_not_see_the_state_of_a_dodo_file_that_only_has_our_tasks(small):
    small.write("dodo.py", "from lairmake.stages.make import workspace_tasks as task_layers\n")
    assert small.build("-r", "console", "a") == ALL
    assert small.read(".lairmake/.gitignore") == "*\n"


def test_commands_without_a_database_are_doits(small):
    small.write("other/dodo.py", 'def task_x():\n    return {"actions": []}\n')
    run = small.run("tabcompletion", "--hardcode-tasks", cwd="other")
    assert (run.code, run.err) == (0, "")


ONCE = """
from doit.tools import run_once


def task_once():
    return {"actions": ["true"], "uptodate": [run_once]}
"""


def test_each_dodo_file_has_a_database_of_its_own(small):
    for name in ("dodo.py", "projects/a/dodo.py"):
        small.write(name, small.read(name) + ONCE)
    for folder in (".", "projects/a"):
        assert small.build("once", cwd=folder) == ["once"]
        assert small.build("once", cwd=folder) == []
    assert not (small.root / "projects/a/.doit.db").exists()
    small.write("alone/dodo.py", LAYER_DODO + ONCE)
    small.write("alone/layer.yaml", "machine: ideal\n")
    assert small.build("once", cwd="alone") == ["once"]
    assert small.build("once", cwd="alone") == []


@pytest.mark.wide
def test_what_is_forgotten_in_one_dodo_file_is_in_all_and_the_store_keeps_it(small):
    small.build()
    stored = sorted(path.name for path in (small.root / ".lairmake/store").rglob("*"))
    small.run("forget", "a:place")
    assert sorted(path.name for path in (small.root / ".lairmake/store").rglob("*")) == stored
    assert small.build(cwd="projects/a") == ["a:place"]
    assert small.build() == []
    small.run("ignore", "a:render", cwd="projects/a")
    small.write("projects/a/a.lair", "Three\n")
    run = small.run()
    assert (run.code, run.ran) == (0, BEFORE_PLACE)
    assert "!! a:render\n!! a:simulate\n" in run.out
    small.run("clean", "--forget", "a:render")
    assert small.build() == ["a:render", "a:simulate"]


def test_a_stage_that_fails_stays_forgotten(small):
    small.build()
    small.run("forget", "a:parse")
    small.write("projects/a/a.lair", "wrong\n")
    assert small.run().code == 1
    small.write("projects/a/a.lair", "One\nTwo  # a word\n")
    assert small.build() == ["a:parse"]


def test_reset_dep_of_all_tasks_leaves_stages_as_they_are(small):
    small.write("dodo.py", DODO + ONCE)
    small.build()
    run = small.run("reset-dep")
    assert (run.code, run.out) == (0, "processed once\n")
