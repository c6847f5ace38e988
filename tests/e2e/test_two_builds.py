"""Two builds at the same time: no task runs twice, and who waits says for whom."""

import fcntl
import os

import pytest

from tests.e2e.test_interrupted import noted, start

ALL = ["parse", "place", "render", "simulate"]


@pytest.fixture
def notes(tmp_path):
    file = tmp_path / "notes"
    file.touch()
    return file


@pytest.mark.wide
def test_two_builds_at_once_in_one_folder_run_no_task_twice(small, notes):
    builds = [start(small, NOTED=str(notes), SLOW="0.2") for _ in range(2)]
    assert [(build.communicate(), build.returncode)[1] for build in builds] == [0, 0]
    assert noted(notes) == ALL
    assert small.run().out == "1 layer unchanged\n"


@pytest.mark.wide
def test_who_waits_for_another_process_says_once_for_which(small):
    """The lock is held until the other process has said that it waits."""
    small.write(".lairmake/lock", "")
    with (small.root / ".lairmake/lock").open("r+b") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        build = start(small, "a")
        said = build.stderr.readline()
        fcntl.lockf(lock, fcntl.LOCK_UN)
        out, err = build.communicate()
    assert (build.returncode, err) == (0, "")
    assert said == (
        f"waiting for another command, process {os.getpid()}, which opens .lairmake/state.db\n"
    )
    assert out.startswith("a: 4 stages ran\n")


@pytest.mark.wide
def test_two_builds_at_once_of_equal_layers_run_no_task_twice(small, notes):
    small.layer("projects/b")
    builds = [start(small, layer, NOTED=str(notes), SLOW="0.2") for layer in "ab"]
    assert [(build.communicate(), build.returncode)[1] for build in builds] == [0, 0]
    assert noted(notes) == ALL
    assert small.read("cache/a/placement.isl") == small.read("cache/b/placement.isl")


@pytest.mark.long
def test_who_waits_for_a_process_of_the_same_build_says_nothing(small, notes):
    """Two equal layers, which two processes build: one runs a stage, the other waits for it."""
    small.layer("projects/b")
    build = start(small, "-n", "2", NOTED=str(notes), SLOW="1.5")
    _, err = build.communicate()
    assert (build.returncode, err, noted(notes)) == (0, "", ALL)
