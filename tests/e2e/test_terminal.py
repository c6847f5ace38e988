"""What a person sees on a terminal while a build runs."""

import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from tests.e2e.conftest import DODO

PAINT = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
SUMMARY = "small on ideal\r\n  y       right, bit for bit\r\n"


def on_terminal(space, *args, **more):
    """Run doit on a terminal, and return what it prints there."""
    ours, theirs = pty.openpty()
    env = {
        **os.environ, "PYTHONPATH": str(space.modules), "TERM": "xterm", "SLOW": "0.3",
        "COLUMNS": "120", **more,
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


@pytest.mark.wide
def test_one_live_line_then_the_summary(small):
    code, shown = on_terminal(small)
    assert code == 0
    for done, stage in enumerate(["parse", "place", "render", "simulate"]):
        assert f"a:{stage} " in shown
        assert f"{done}/4" in shown
    assert "0 from the store" in shown
    assert "a: 4 stages" not in shown
    assert SUMMARY in shown


@pytest.mark.wide
def test_the_line_counts_what_was_asked_for(small):
    small.write("dodo.py", DODO + OTHERS)
    code, shown = on_terminal(small, "a:place")
    assert (code, "1/2" in shown, "/4" in shown, "/6" in shown) == (0, True, False, False)


OTHERS = """
def task_others():
    for name in "xy":
        yield {"name": name, "actions": ["echo " + name]}
"""


@pytest.mark.wide
def test_the_line_moves_and_so_does_the_time_left_while_one_stage_runs(small):
    code, shown = on_terminal(small, "-n", "2", SLOW="0", LONG="3")
    assert code == 0
    found = re.findall(r"a:simulate (\d+%).*?0:00:0(\d) left", PAINT.sub("", shown))
    assert list(dict.fromkeys(share for share, _ in found)) == ["25%", "50%", "75%"]
    assert next(left for share, left in found if share == "25%") in "23"
    assert found[-1][1] in "01"


@pytest.mark.wide
def test_a_long_stage_prints_no_line_of_its_own(small):
    code, shown = on_terminal(small, SLOW="0", LONG="1")
    assert (code, "a:simulate 75%" in shown, "a:simulate: " in shown) == (0, True, False)


def test_what_follows_the_line_has_no_colours_where_none_are_wanted(small):
    code, shown = on_terminal(small, SLOW="0", NO_COLOR="1")
    assert (code, re.findall("\x1b\\[[0-9;]*m", shown)) == (0, [])


def test_with_v_every_stage_has_a_line_on_a_terminal_too(small):
    code, shown = on_terminal(small, "-v", SLOW="0")
    assert (code, ".  a:parse\r\n" in shown) == (0, True)


def test_nothing_to_do_has_no_live_line(small):
    small.build()
    assert on_terminal(small) == (0, "1 layer unchanged\r\n")


def test_an_error_stands_below_the_task_that_found_it(small):
    small.write("projects/a/a.lair", "One\nwrong\n")
    code, shown = on_terminal(small)
    assert code == 1
    assert "a: parse failed\r\nprojects/a/a.lair:2:1: error: this is wrong\r\n" in shown


@pytest.mark.wide
def test_a_sweep_has_one_live_line_and_then_its_table_as_wide_as_the_terminal(small):
    words = ("sweep", "a", "--set", f"machine={'x' * 90},wse2")
    code, shown = on_terminal(small, *words, SLOW="0.1")
    assert code == 0
    assert f"a/build/sweep/machine-{'x' * 16}" in shown
    assert "/8" in shown and "stages ran" not in shown
    title, legend, _, long, short, rest = shown[shown.index("a: 2 ") :].split("\r\n")
    assert (title, legend, rest) == ("a: 2 combinations", "  * no other takes fewer cycles", "")
    assert re.fullmatch(r"\x1b\[1m  \*  x+\.\.\.  +2 .* 0 %\x1b\[0m", long)
    assert len(PAINT.sub("", long)) == len(PAINT.sub("", short)) == 120


def begin_on_terminal(space):
    """Begin a build on a terminal, and return it, and the other side, once a stage is shown."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(space.modules), "TERM": "xterm", "SLOW": "0.5"}
    build = subprocess.Popen(
        [sys.executable, "-m", "doit"], cwd=space.root, env=env, stdin=theirs, stdout=theirs,
        stderr=theirs, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    os.close(theirs)
    while b"a:place" not in os.read(ours, 65536):
        pass
    return build, ours


@pytest.mark.wide
def test_nothing_is_shown_after_the_line_that_a_build_was_interrupted(small):
    build, ours = begin_on_terminal(small)
    build.send_signal(signal.SIGINT)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass
    os.close(ours)
    assert build.wait() == 130
    assert PAINT.sub("", shown.decode()).endswith("interrupted: what is done is kept\r\n")


@pytest.mark.wide
def test_a_build_whose_terminal_is_closed_ends_as_an_interrupted_one(small):
    build, ours = begin_on_terminal(small)
    os.close(ours)
    build.send_signal(signal.SIGHUP)  # the system tells the session of the terminal only
    assert build.wait() == 129
    assert small.log()[-1]["exit"] == 129
    assert small.build()[-1] == "a:simulate"
