"""The critical path of a build, and its trace."""

from lairmake.stages.make.report.timing import TaskTimes, critical_path, timing_of, trace
from lairmake.stages.make.store.state import BuildRecord

AFTER = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": []}


def test_the_critical_path_is_the_longest_chain():
    seconds = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 1.0, "e": 6.5}
    assert critical_path(seconds, AFTER) == ["a", "b", "d"]
    assert critical_path({**seconds, "e": 7.5}, AFTER) == ["e"]


def test_a_task_that_took_no_time_is_on_no_path_but_chains_go_through_it():
    assert critical_path({"a": 1.0, "d": 1.0, "e": 1.5}, AFTER) == ["a", "d"]
    assert critical_path({}, AFTER) == []
    assert critical_path({"gone": 1.0}, AFTER) == ["gone"]


def line(task, start, seconds, pid, how="ran"):
    return {
        "task": task, "how": how, "start": start, "seconds": seconds, "pid": pid, "key": "0" * 64
    }


def test_a_trace_has_a_thread_for_each_process():
    tasks = [line("c", 103.0, 0.25, 8), line("a", 101.5, 1.0, 7), {"task": "b", "how": "same"}]
    build = BuildRecord(id="x", begin={"when": 101.0}, tasks=tasks, end=None)
    found = timing_of(build, {"a": [], "b": ["a"], "c": ["b"]})
    assert isinstance(found, TaskTimes)
    assert (found.path, found.same, found.seconds) == (["a", "c"], 1, None)
    named = {"name": "thread_name", "ph": "M", "pid": 1}
    args = {"key": "0" * 64, "critical": True}
    assert trace(found) == {
        "displayTimeUnit": "ms",
        "traceEvents": [
            {**named, "tid": 1, "args": {"name": "process 7"}},
            {**named, "tid": 2, "args": {"name": "process 8"}},
            {"name": "a", "cat": "ran", "ph": "X", "pid": 1, "tid": 1, "ts": 500_000,
             "dur": 1_000_000, "args": args},
            {"name": "c", "cat": "ran", "ph": "X", "pid": 1, "tid": 2, "ts": 2_000_000,
             "dur": 250_000, "args": args},
        ],
    }
