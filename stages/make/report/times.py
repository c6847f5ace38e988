"""How long the tasks of a build took, and which of them decided."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.report.folded import ALL, name_slots
from lairmake.stages.make.store.state import BuildRecord, Line

MICROSECONDS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The tasks of a build that took time, in the order in which they began.

    `path` are the tasks of the critical path: each comes after the one before it, and no other
    such path took longer. `seconds` is what the build took, None where it was killed.
    """

    build: BuildRecord
    tasks: Sequence[Line]
    path: Sequence[str]
    same: int

    @property
    def seconds(self) -> float | None:
        """What the build took, None where it did not end."""
        return self.build.end["seconds"] if self.build.end is not None else None


def timing_of(build: BuildRecord, after: Mapping[str, Sequence[str]]) -> Times:
    """Return the times of a build; `after` are the tasks before each."""
    tasks = sorted((t for t in build.tasks if "seconds" in t), key=lambda line: line["start"])
    path = critical_path({line["task"]: line["seconds"] for line in tasks}, after)
    same = sum(line["how"] == "same" for line in build.tasks)
    return Times(build=build, tasks=tasks, path=path, same=same)


def critical_path(seconds: Mapping[str, float], after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the chain of tasks, each after the one before it, that took longest in all.

    Tasks without `seconds` took none; they are not listed.
    """
    longest: dict[str, tuple[float, list[str]]] = {}
    for task in TopologicalSorter({**{t: () for t in seconds}, **after}).static_order():
        before = max((longest[name] for name in after.get(task, ())), default=(0.0, []))
        own = [task] if task in seconds else []
        longest[task] = (before[0] + seconds.get(task, 0.0), before[1] + own)
    return max(longest.values(), default=(0.0, []))[1]


def lines_of_times(found: Times, folded: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for each task, those of the critical path marked, and the sums.

    There is one for all of those tasks that are `folded` and not on the critical path.
    """
    hidden = [t for t in found.tasks if t["task"] in folded and t["task"] not in found.path]
    names = [line["task"] for line in found.tasks if line not in hidden]
    said = name_slots(line["task"].partition(":")[0] for line in hidden) if hidden else ""
    width = max(map(len, [*names, said]))
    for line in found.tasks:
        mark = paint("bold", "*") if line["task"] in found.path else " "
        how = "  from the store" if line["how"] == "hit" else ""
        if line not in hidden:
            yield f"{mark} {line['task']:<{width}}  {line['seconds']:9.3f} s{how}"
        elif line is hidden[-1]:
            seconds = sum(each["seconds"] for each in hidden)
            yield f"  {said:<{width}}  {seconds:9.3f} s  {len(hidden)} tasks; {ALL}"
    work = sum(line["seconds"] for line in found.tasks)
    chain = sum(line["seconds"] for line in found.tasks if line["task"] in found.path)
    workers = len({line["pid"] for line in found.tasks})
    ended = f"{found.seconds:.3f} s" if found.seconds is not None else "a build that did not end"
    yield (
        f"{ended}: {work:.3f} s of tasks in {workers} {'process' if workers == 1 else 'processes'},"
        f" {chain:.3f} s on the critical path (*)"
    )
    if found.same:
        yield f"{found.same} more {'task was' if found.same == 1 else 'tasks were'} up to date"


def trace(found: Times) -> dict[str, Any]:
    """Return the trace events of a build, each process a thread; times in microseconds.

    Source   Trace Event Format: complete events X, metadata M.
    """
    begin = found.build.begin["when"]
    workers = {pid: at for at, pid in enumerate(dict.fromkeys(t["pid"] for t in found.tasks), 1)}
    names = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": at, "args": {"name": f"process {pid}"}}
        for pid, at in workers.items()
    ]
    tasks = [
        {
            "name": line["task"], "cat": line["how"], "ph": "X", "pid": 1,
            "tid": workers[line["pid"]],
            "ts": round((line["start"] - begin) * MICROSECONDS),
            "dur": round(line["seconds"] * MICROSECONDS),
            "args": {"key": line["key"], "critical": line["task"] in found.path},
        }
        for line in found.tasks
    ]
    return {"traceEvents": [*names, *tasks], "displayTimeUnit": "ms"}


def data_of_times(found: Times) -> dict[str, Any]:
    """Return the times of a build as data for a program."""
    kept = ("task", "how", "start", "seconds", "pid")
    return {
        "build": found.build.id,
        "seconds": found.seconds,
        "critical": list(found.path),
        "tasks": [{name: line[name] for name in kept} for line in found.tasks],
    }
