"""Builds that are killed or interrupted."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import DODO

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
KILLED = Path(__file__).parent / "killed.py"


@pytest.fixture
def notes(tmp_path):
    file = tmp_path / "notes"
    file.touch()
    return file


def noted(notes):
    return [line.split()[0] for line in notes.read_text(encoding="utf-8").splitlines()]


def start(space, *args, cwd=".", **env):
    return subprocess.Popen(
        [sys.executable, "-m", "doit", *args], cwd=space.root / cwd, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(space.modules), **env}, preexec_fn=hear_of_hangups,
    )


def hear_of_hangups():
    """Whoever began the tests with nohup did not mean these builds."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def left_overs(space):
    return [p for p in space.root.rglob("*.tmp") if "__pycache__" not in p.parts]


def contents(space):
    return {name: space.read(name) for name in space.files() if name != "dodo.py"}


@pytest.mark.wide
@pytest.mark.parametrize("moments", ["30", pytest.param("200", marks=pytest.mark.long)])
def test_builds_killed_at_many_moments_leave_nothing_behind(small, notes, moments):
    """Then a build to the end gives what an undisturbed one gives, without what was finished."""
    for layer in "bc":
        small.layer(f"projects/{layer}")
        small.write(f"projects/{layer}/a.lair", f"One\n{layer}\n")
    env = {**os.environ, "PYTHONPATH": str(small.modules), "NOTED": str(notes), "SLOW": "0.01"}
    killed = subprocess.run(
        [sys.executable, KILLED, "1", moments, notes], cwd=small.root, env=env,
        capture_output=True, text=True, check=False,
    )
    assert (killed.returncode, killed.stdout, killed.stderr) == (0, "", "")
    time.sleep(0.5)
    assert small.run().code == 0
    assert small.run().out == "3 layers unchanged\n"
    assert left_overs(small) == []
    found = contents(small)
    shutil.rmtree(small.root / ".lairmake")
    for folder in [small.root / "cache", *small.root.glob("projects/*/build")]:
        shutil.rmtree(folder)
    small.build()
    assert contents(small) == found


@pytest.mark.wide
@pytest.mark.parametrize(("number", "arguments"), [
    *((number, words) for number in NUMBERS[:2] for words in ((), ("-n", "2"))),
    (signal.SIGHUP, ("-n", "2")), pytest.param(signal.SIGHUP, (), marks=pytest.mark.long),
])
def test_an_interrupted_build_ends_cleanly_and_keeps_what_is_done(
    small, notes, number, arguments
):
    build = start(small, *arguments, NOTED=str(notes), SLOW="0.3")
    wait_for(lambda: noted(notes) == ["parse", "place", "render"])
    build.send_signal(number)
    out, err = build.communicate()
    assert (build.returncode, err) == (128 + number, "interrupted: what is done is kept\n")
    assert out in ("a: 2 stages ran\n", "a: 3 stages ran\n")
    assert left_overs(small) == []
    assert small.build()[-1] == "a:simulate"
    assert small.run().out == "1 layer unchanged\n"
    assert noted(notes) == ["parse", "place", "render"]


@pytest.mark.wide
@pytest.mark.parametrize("number", [
    *NUMBERS[:2], pytest.param(signal.SIGHUP, marks=pytest.mark.long)
])
def test_a_build_is_interrupted_while_its_processes_start(small, number):
    """The first runs a stage, the second is not there yet."""
    small.layer("projects/b")
    small.write("dodo.py", DODO + BETWEEN.format(number=int(number)))
    build = start(small, "-n", "2")
    try:
        _, err = build.communicate(timeout=30)
    finally:
        build.kill()
    assert (build.returncode, err) == (128 + number, "interrupted: what is done is kept\n")
    assert left_overs(small) == []
    assert small.run().code == 0


BETWEEN = """
import os
from lairmake.stages.make.doit.runner import LazyRunner

add, added = LazyRunner._add_process, []

def interrupted(self):
    added.append(add(self))
    if len(added) == 2:
        os.kill(os.getpid(), {number})

LazyRunner._add_process = interrupted
"""


@pytest.mark.parametrize("number", [
    signal.SIGHUP, *(pytest.param(n, marks=pytest.mark.long) for n in NUMBERS[:2])
])
def test_a_command_that_shows_something_ends_by_any_signal_as_by_ctrl_c(small, number):
    small.write("dodo.py", DODO + SHOWS.format(number=int(number)))
    ended = start(small, "show", "a")
    _, err = ended.communicate(timeout=30)
    assert (ended.returncode, err) == (128 + number, "interrupted\n")


SHOWS = """
import os
from lairmake.stages.make.doit.commands import command

command.tell_unread = lambda folders: os.kill(os.getpid(), {number})
"""


def children_of(build):
    children = Path(f"/proc/{build.pid}/task/{build.pid}/children")
    if not children.is_file():
        pytest.skip("the system does not list the processes of a process")
    found = children.read_text(encoding="utf-8").split()
    assert found
    return found


WAYS = [
    (),
    pytest.param(("-n", "2"), marks=pytest.mark.long),
    pytest.param(("-n", "2", "-P", "thread"), marks=pytest.mark.long),
]


def start_in_isl(space, notes, *arguments):
    """Start a build, and wait until isl works on its third stage."""
    build = start(space, *arguments, NOTED=str(notes), IN_ISL="render")
    wait_for(lambda: noted(notes) == ["parse", "place", "render"])
    time.sleep(0.3)
    return build


def processes_below(build):
    """Return all that a build has started."""
    if not Path(f"/proc/{build.pid}/task/{build.pid}/children").is_file():
        pytest.skip("the system does not list the processes of a process")
    found, waiting = [], [str(build.pid)]
    while waiting:
        children = Path(f"/proc/{waiting.pop()}").glob("task/*/children")
        texts = [each.read_text(encoding="utf-8") for each in children]
        waiting += [child for text in texts for child in text.split()]
        found = [*found, *waiting]
    assert found
    return found


def are_gone(processes):
    return not any(Path(f"/proc/{process}/fd").exists() for process in processes)


@pytest.mark.wide
@pytest.mark.parametrize("arguments", WAYS)
@pytest.mark.parametrize("number", [
    signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.long),
])
def test_a_build_ends_cleanly_inside_of_isl(small, notes, number, arguments):
    build = start_in_isl(small, notes, *arguments)
    processes = processes_below(build)
    build.send_signal(number)
    out, err = build.communicate(timeout=30)
    assert (build.returncode, err) == (128 + number, "interrupted: what is done is kept\n")
    assert out == "a: 2 stages ran\n"
    assert left_overs(small) == []
    wait_for(lambda: are_gone(processes))
    assert small.build() == ["a:render", "a:simulate"]


@pytest.mark.wide
@pytest.mark.parametrize("arguments", WAYS)
def test_a_second_ctrl_c_ends_a_build_at_once_inside_of_isl(small, notes, arguments):
    build = start_in_isl(small, notes, *arguments)
    processes = processes_below(build)
    build.send_signal(signal.SIGINT)
    time.sleep(0.1)
    build.send_signal(signal.SIGINT)
    build.communicate(timeout=30)
    assert build.returncode in (-signal.SIGINT, 128 + signal.SIGINT)  # 130 to a shell
    wait_for(lambda: are_gone(processes))


@pytest.mark.wide
@pytest.mark.parametrize("arguments", WAYS)
def test_what_isl_does_for_a_killed_build_ends_too(small, notes, arguments):
    build = start_in_isl(small, notes, *arguments)
    processes = processes_below(build)
    build.kill()
    build.communicate()
    wait_for(lambda: are_gone(processes))


@pytest.mark.wide
@pytest.mark.parametrize("arguments", WAYS)
def test_a_build_says_that_the_process_of_isl_was_killed(small, notes, arguments):
    build = start_in_isl(small, notes, *arguments)
    os.kill(int(processes_below(build)[-1]), signal.SIGKILL)
    _, err = build.communicate(timeout=30)
    assert (build.returncode, err) == (
        2, "error: SIGKILL ended a process of the build; what is done is kept\n"
        "hint: where memory is short, run fewer processes: `doit -n 1`\n",
    )


@pytest.mark.wide
@pytest.mark.parametrize("arguments", WAYS)
@pytest.mark.usefixtures("own_modules")
def test_isl_is_ended_where_it_works_for_long_without_counting(small, notes, arguments):
    path = small.modules / "stages/make/core/workers.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("MOST_SECONDS = 600.0", "MOST_SECONDS = 0.5"), encoding="utf-8")
    build = start(small, *arguments, NOTED=str(notes), IN_ISL="render")
    out, err = build.communicate(timeout=30)
    assert (build.returncode, out, err) == (
        1, "a: 2 stages ran, render failed\n",
        "projects/a/layer.yaml:1:1: error: stage render: isl works for more than ten minutes\n"
        "  machine: ideal\n  ^^^^^^^^^^^^^^\n"
        "hint: simplify the placement, or how tensors arrive and leave\n",
    )
    assert noted(notes) == ["parse", "place", "render"]
    assert small.build() == ["a:render", "a:simulate"]


@pytest.mark.wide
def test_a_build_ends_where_one_of_its_processes_is_killed(small, notes):
    """As where memory is short; what the others did is kept, and the next build goes on."""
    small.layer("projects/b")
    build = start(small, "-n", "2", NOTED=str(notes), SLOW="30")
    wait_for(lambda: noted(notes))
    os.kill(int(children_of(build)[0]), signal.SIGKILL)
    _, err = build.communicate(timeout=30)
    assert (build.returncode, err) == (
        2, "error: SIGKILL ended a process of the build; what is done is kept\n"
        "hint: where memory is short, run fewer processes: `doit -n 1`\n",
    )
    assert left_overs(small) == []
    assert small.run().code == 0


@pytest.mark.wide
def test_the_processes_of_a_killed_build_end_too(small, notes):
    small.layer("projects/b")
    build = start(small, "-n", "2", NOTED=str(notes), SLOW="0.3")
    wait_for(lambda: noted(notes))
    workers = children_of(build)
    build.kill()
    build.communicate()
    wait_for(lambda: not any(Path(f"/proc/{worker}/fd").exists() for worker in workers))
