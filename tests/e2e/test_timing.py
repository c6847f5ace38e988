"""The command timing: how long the tasks of the last build took."""

import json
import re

import pytest

TIMES = re.compile(r" *\b\d+\.\d{3} s")


def printed(run):
    assert (run.code, run.err) == (0, ""), run.out + run.err
    return TIMES.sub(" T", run.out)


@pytest.mark.wide
def test_timing_lists_the_tasks_of_the_last_build(small):
    small.build()
    assert printed(small.run("timing")) == """* a:parse T
* a:place T
* a:render T
* a:simulate T
 T: T of tasks in 1 process, T on the critical path (*)
"""
    small.write("projects/a/a.lair", "One\nTwo  # another word\n")
    small.build()
    assert printed(small.run("timing", "a", cwd="projects/a")) == (
        "* a:parse T\n"
        " T: T of tasks in 1 process, T on the critical path (*)\n"
        "3 more tasks were up to date\n"
    )


@pytest.mark.wide
def test_timing_marks_the_path_that_decided_and_tells_hits(small):
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Other\n")
    small.build("a")
    (small.root / "cache/a/placement.isl").unlink()
    assert small.build("-n", "2", SLOW="0.2") == [
        "b:parse", "b:place", "b:render", "b:simulate"
    ]
    data = json.loads(small.run("timing", "--json").out)
    assert data["critical"] == ["b:parse", "b:place", "b:render", "b:simulate"]
    assert {each["task"]: each["how"] for each in data["tasks"]}["a:place"] == "hit"
    assert all(each["seconds"] >= 0.2 for each in data["tasks"] if each["how"] == "ran")
    assert data["seconds"] >= 0.8
    assert "  a:place" in small.run("timing").out
    assert small.run("timing").out.count("from the store") == 1


def test_a_trace_is_written_where_the_user_stands(small):
    small.build("-n", "2")
    printed(small.run("timing", "--trace", "trace.json", cwd="projects/a"))
    events = json.loads(small.read("projects/a/trace.json"))["traceEvents"]
    assert [e["name"] for e in events if e["ph"] == "X"] == [
        "a:parse", "a:place", "a:render", "a:simulate"
    ]
    run = small.run("timing", "--trace", "projects")
    assert (run.code, run.err) == (1, "error: cannot write projects: Is a directory\n")


def test_without_a_build_there_is_nothing_to_time(small):
    run = small.run("timing")
    assert (run.code, run.err) == (
        1, "error: the log knows no build in which these tasks took time\n"
    )
