"""The command `doit watch`: it builds again when something that is read changes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.e2e.conftest import DODO
from tests.e2e.test_own_tasks import AFTER

PATIENCE = 30
"""How many seconds may pass before files are watched again."""


def hear_interrupts():
    """Hear interrupts, which a shell lets all ignore that it runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def watching(small):
    """The space, in which a task of a user comes after the layer, watched."""
    text = AFTER.format(path="cache/a/lair.isl").replace('["true"]', '["cat cache/a/lair.isl own"]')
    small.write("dodo.py", DODO + text.replace("['cache", "['own', 'cache"))
    small.write("own", "its own\n")
    with (small.root / "printed").open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "doit", "watch", "after"], cwd=small.root, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=hear_interrupts,
            env={**os.environ, "PYTHONPATH": str(small.modules)},
        )
    small.process = process
    yield small
    process.kill()


def until_watched(space):
    """Return what was printed since it was last asked, once files are watched."""
    end, known = time.monotonic() + PATIENCE, getattr(space, "known", 0)
    while time.monotonic() < end:
        text = space.read("printed")
        if text[known:].endswith("Ctrl-C ends this\n"):
            space.known = len(text)
            return text[known:]
        time.sleep(0.02)
    raise AssertionError(space.read("printed"))


@pytest.mark.wide
def test_sources_of_layers_and_files_of_tasks_are_watched_until_an_interrupt(watching):
    assert "Two\nits own" in until_watched(watching)
    watching.write("projects/a/a.lair", "Three\n")
    assert "Three\nits own" in until_watched(watching)
    watching.write("own", "new\n")
    assert "Three\nnew" in until_watched(watching)
    watching.write("projects/a/a.lair", "wrong\n")
    assert "this is wrong" in until_watched(watching)
    watching.write("projects/a/b.lair", "Four\n")
    watching.write("projects/a/a.lair", "One\n")
    assert "One\nFour\nnew" in until_watched(watching)
    right = watching.read("dodo.py")
    watching.write("dodo.py", f"{right}\n(")
    assert "ERROR: '(' was never closed" in until_watched(watching)
    watching.write("dodo.py", right)
    assert "watching" in until_watched(watching)
    os.killpg(watching.process.pid, signal.SIGINT)
    assert watching.process.wait(PATIENCE) == 0


@pytest.mark.long
def test_lairmake_watches_where_there_is_no_dodo_file(small):
    (small.root / "dodo.py").unlink()
    small.layer("projects/-b")
    with (small.root / "printed").open("w") as out:
        watch = subprocess.Popen(
            [sys.executable, "-m", "lairmake", "watch"], cwd=small.root, stdout=out,
            stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": str(small.modules)},
        )
    try:
        printed = until_watched(small)
        small.write("projects/a/a.lair", "Three\n")
        printed += until_watched(small)
    finally:
        watch.kill()
    assert (printed.count("a: 4 stages ran"), printed.count("projects/-b is left out")) == (2, 2)
