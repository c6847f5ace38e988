"""What a person sees on a terminal while a build runs."""

import os
import pty
import subprocess
import sys

from tests.e2e.conftest import DODO

SUMMARY = "small on ideal\r\n  y       right, bit for bit\r\n"


def on_terminal(space, *args):
    """Run doit on a terminal, and return what it prints there."""
    ours, theirs = pty.openpty()
    env = {
        **os.environ, "PYTHONPATH": str(space.modules), "TERM": "xterm", "SLOW": "0.3",
        "COLUMNS": "120",
    }
    build = subprocess.Popen(
        [sys.executable, "-m", "doit", *args], cwd=space.root, env=env, stdin=theirs,
        stdout=theirs, stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass  # the other side is closed: the end
    os.close(ours)
    return build.wait(), shown.decode()


def test_one_live_line_then_the_summary(small):
    code, shown = on_terminal(small)
    assert code == 0
    for done, stage in enumerate(["parse", "place", "render", "simulate"]):
        assert f"a:{stage} " in shown
        assert f"{done}/4" in shown
    assert "0 from the store" in shown
    assert "a: 4 stages" not in shown
    assert SUMMARY in shown


def test_the_line_counts_what_was_asked_for(small):
    small.write("dodo.py", DODO + OTHERS)
    code, shown = on_terminal(small, "a:place")
    assert (code, "1/2" in shown, "/4" in shown, "/6" in shown) == (0, True, False, False)


OTHERS = """
def task_others():
    for name in "xy":
        yield {"name": name, "actions": ["echo " + name]}
"""


def test_nothing_to_do_has_no_live_line(small):
    small.build()
    assert on_terminal(small) == (0, "1 layer unchanged\r\n")


def test_an_error_stands_below_the_task_that_found_it(small):
    small.write("projects/a/a.lair", "One\nwrong\n")
    code, shown = on_terminal(small)
    assert code == 1
    assert "a: parse failed\r\nprojects/a/a.lair:2:1: error: this is wrong\r\n" in shown
