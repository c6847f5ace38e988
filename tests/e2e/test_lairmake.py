"""The command `lairmake`, as it is where a user installed it, in a repository of their own."""

import importlib.metadata
import json
import runpy

import pytest

from lairmake.stages.make.doit.commands.inert import OF_LAIRMAKE
from tests.e2e.conftest import ROOT, printed

FOREIGN = "raise SystemExit('the folder of the user was imported')\n"


def lairmake(space, *words, cwd="."):
    return space.python("-m", "lairmake", *words, cwd=cwd)


def test_a_layer_without_a_dodo_file_is_built_from_any_folder_in_it(small):
    small.layer("elsewhere/b")
    (small.root / "elsewhere/b/dodo.py").unlink()
    assert lairmake(small, "-v", cwd="elsewhere/b").ran == [
        "b:parse", "b:place", "b:render", "b:simulate",
    ]
    assert lairmake(small, "list", cwd="elsewhere/b/build").out.split() == [
        "b", "build", "and", "simulate", "b",
    ]


def test_a_workspace_without_a_dodo_file_is_built_whole(small):
    (small.root / "dodo.py").unlink()
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Another\n")
    assert {task.partition(":")[0] for task in lairmake(small, "-v").ran} == {"a", "b"}


@pytest.mark.long
def test_a_dodo_file_above_is_found(small):
    (small.root / "docs").mkdir()
    assert lairmake(small, "list", cwd="docs").out.split()[0] == "a"


def test_where_nothing_is_to_be_built_it_says_what_to_do(small):
    (small.root / "empty").mkdir()
    (small.root / "dodo.py").unlink()
    ended = lairmake(small, cwd="empty")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "ERROR: nothing to build here: no dodo.py, no layer.yaml and no projects/\n"
        "hint: `lairmake new NAME` makes a layer; one that there is, is built in its folder\n"
    )


def test_the_version_is_that_of_the_package(small):
    said = f"lairmake {importlib.metadata.version('lairmake')}\n"
    assert lairmake(small, "--version").out == said


@pytest.mark.long
def test_help_is_found_behind_a_command_too(small):
    helped = lairmake(small, "diff", "--help")
    assert helped.code == 0 and "USAGE\n    lairmake diff" in helped.out
    assert helped.out == lairmake(small, "help", "diff").out
    assert "  lairmake diff " in lairmake(small, "--help").out


@pytest.mark.parametrize(
    "program", [pytest.param("lairmake", marks=pytest.mark.long), "doit"]
)
def test_a_folder_of_the_user_called_stages_does_no_harm(small, program):
    small.write("projects/a/stages/__init__.py", FOREIGN)
    ended = small.python("-m", program, "-v2", cwd="projects/a")
    assert (ended.code, ended.err) == (0, "")
    assert ended.ran == ["a:parse", "a:place", "a:render", "a:simulate"]


def test_a_package_of_the_user_called_stages_is_imported_beside(small):
    small.write("other/stages/__init__.py", "MINE = 1\n")
    code = ("import sys; sys.path.insert(0, 'other'); import stages, lairmake.commands as c; "
            "print(stages.MINE, c.Run.__name__)")
    assert printed(small.python("-c", code)) == "1 Run\n"


def test_what_lies_beside_the_package_is_imported_by_its_name_alone(space):
    ended = space.python("-c", "import stages")
    assert ended.err.splitlines()[-1] == (
        "ImportError: these are the stages of Lairmake: import lairmake.stages"
    )


def test_tasks_of_the_repository_of_lairmake_are_known_elsewhere(small, monkeypatch):
    monkeypatch.chdir(ROOT)
    dodo = runpy.run_path("dodo.py")
    tasks = {task["basename"] for of in ("runs", "checks") for task in dodo[f"task_{of}"]()}
    assert tasks == set(OF_LAIRMAKE)
    ended = lairmake(small, "test")
    assert ended.code == 3
    assert ended.err.endswith("hint: test is a task of Lairmake's own repository only\n")


def test_schema_prints_that_of_one_kind_of_file(small):
    printed = lairmake(small, "schema", "layer")
    assert json.loads(printed.out)["$schema"].endswith("2020-12/schema")
    refused = lairmake(small, "schema", "layers")
    assert (refused.code, refused.err) == (
        3, "ERROR: schema: say of which file: layer, network, kernel, program, lairmake\n",
    )
