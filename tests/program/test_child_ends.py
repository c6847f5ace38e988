"""Whatever ends a build ends the process that runs a user's code: none is left behind."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.program.started import Folder

ROOT = Path(__file__).resolve().parents[2]
DODO = (
    "from lairmake.stages.make import layer_config, layer_tasks as task_layer\n"
    "DOIT_CONFIG = layer_config()\n"
)
HANGS = "file = open('held')\nwhile True:\n    pass\n"
"""Holds a pipe open, which tells who writes to it that nobody reads any more."""


@pytest.fixture
def folder(tmp_path):
    os.mkfifo(tmp_path / "held")
    return Folder(tmp_path)


def raise_interrupt(number, frame):
    raise KeyboardInterrupt


def build(folder, source):
    """Return the process of a build whose program runs, and a pipe that this program reads."""
    process = os.fork()
    if process == 0:
        signal.signal(signal.SIGTERM, raise_interrupt)
        try:
            folder.run(source)
        except KeyboardInterrupt:
            os._exit(7)
        os._exit(1)
    return process, opened(folder)


def opened(folder):
    """Return the pipe that a program reads, once it does."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            return os.open(folder.path / "held", os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.01)
    raise AssertionError("no program opened the pipe")


def is_let_go(pipe, seconds):
    """Whether nobody reads a pipe any more, after a while at most."""
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(1000 * seconds))


@pytest.mark.wide
def test_an_interrupt_of_the_command_ends_it_too(folder):
    """Which runs stages in processes of its own, and these the program."""
    imports = "import time\nfrom lairmake.objects import LocalArray as Made\n"
    folder.write("heat.py", f"{imports}file = open('held')\ntime.sleep(50)\n")
    folder.write("dodo.py", DODO)
    build = subprocess.Popen(
        [sys.executable, "-m", "lairmake"], cwd=folder.path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pipe = opened(folder)
    build.send_signal(signal.SIGINT)
    assert is_let_go(pipe, 2)
    _, said = build.communicate()
    assert (build.returncode, said) == (130, "interrupted: what is done is kept\n")


IGNORES = "import signal\nfor n in (2, 15, 29):\n    signal.signal(n, signal.SIG_IGN)\n"


@pytest.mark.parametrize("source", [HANGS, IGNORES + HANGS], ids=["hangs", "ignores"])
def test_an_interrupted_build_ends_it_at_once(folder, source):
    process, pipe = build(folder, source)
    assert not is_let_go(pipe, 0.05)
    os.kill(process, signal.SIGTERM)
    assert is_let_go(pipe, 1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7


def test_the_system_ends_it_where_a_build_is_killed(folder):
    process, pipe = build(folder, HANGS)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    assert is_let_go(pipe, 1)


def test_what_a_program_starts_all_the_same_ends_with_it(folder):
    """Which nobody waits for: it would hold its pipes for a minute."""
    unseen = (
        "import os\nfrom lairmake.stages.program.sandbox import limits\nlimits.REFUSED.clear()\n"
        "file = open('held')\nif os.fork() == 0:\n    while True:\n        pass\n"
    )
    process, pipe = build(folder, unseen)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 1
    assert is_let_go(pipe, 1)
