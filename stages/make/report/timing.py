"""Times of tasks, and the graph of their order."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from lairmake.stages.make.core.action import (
    FROM_STORE,
    LEFT_OUT,
    MAY_RUN,
    UP_TO_DATE,
    WOULD_RUN,
    Forecast,
)
from lairmake.stages.make.report.causes import (
    ALL,
    PLAN_STYLES,
    ToldTask,
    group,
    name_slots,
    say_slots,
)
from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.store.state import BuildRecord, Line

# --- Times of the tasks of a build, and its critical path -----------------------------------------

MICROSECONDS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTimes:
    """The tasks of a build that took time, in the order in which they began.

    `path` are the tasks of the critical path: each comes after the one before it, and no other
    such path took longer. `same` is the number of tasks that were up to date.
    """

    build: BuildRecord
    tasks: Sequence[Line]
    path: Sequence[str]
    same: int

    @property
    def seconds(self) -> float | None:
        """The time of the build; None where it did not end."""
        return self.build.end["seconds"] if self.build.end is not None else None


def timing_of(build: BuildRecord, after: Mapping[str, Sequence[str]]) -> TaskTimes:
    """Return the times of a build; `after` are the tasks before each."""
    tasks = sorted((t for t in build.tasks if "seconds" in t), key=lambda line: line["start"])
    path = critical_path({line["task"]: line["seconds"] for line in tasks}, after)
    same = sum(line["how"] == "same" for line in build.tasks)
    return TaskTimes(build=build, tasks=tasks, path=path, same=same)


def critical_path(seconds: Mapping[str, float], after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the chain of tasks, each after the one before it, that took longest in all.

    Tasks without `seconds` took none, and are not in the chain.
    """
    longest: dict[str, tuple[float, list[str]]] = {}
    for task in TopologicalSorter({**{t: () for t in seconds}, **after}).static_order():
        before = max((longest[name] for name in after.get(task, ())), default=(0.0, []))
        own = [task] if task in seconds else []
        longest[task] = (before[0] + seconds.get(task, 0.0), before[1] + own)
    return max(longest.values(), default=(0.0, []))[1]


def lines_of_times(found: TaskTimes, folded: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for each task, those of the critical path marked, and the sums.

    Tasks that are `folded`, and not on the critical path, share one line.
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


def trace(found: TaskTimes) -> dict[str, Any]:
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


def data_of_times(found: TaskTimes) -> dict[str, Any]:
    """Return the times of a build as data for a program."""
    kept = ("task", "how", "start", "seconds", "pid")
    return {
        "build": found.build.id,
        "seconds": found.seconds,
        "critical": list(found.path),
        "tasks": [{name: line[name] for name in kept} for line in found.tasks],
    }

# --- Graph of tasks and their order, as text and picture ------------------------------------------

FILLS = {
    UP_TO_DATE: "palegreen",
    FROM_STORE: "lightblue",
    WOULD_RUN: "lightsalmon",
    MAY_RUN: "khaki",
    LEFT_OUT: "lightgrey",
}


def lines_of_graph(found: Sequence[Forecast], told: ToldTask) -> Iterator[str]:
    """Yield a line for each layer, and for each of its stages; folded slots share one line."""
    width = max((len(each.stage) for each in found), default=0)
    slots = {each.task: each.folder.name for each in found if told.folds(each.folder)}
    for own in group(found, lambda each: each.folder, told):
        if told.folds(own[0].folder):
            names = [each.folder.name for each in own]
            yield say_slots(names, (each.status for each in own), PLAN_STYLES)
            continue
        yield paint("bold", own[0].folder.name)
        for each in own:
            status = paint(PLAN_STYLES[each.status], f"{each.status:<{len(FROM_STORE)}}")
            after = f"  after {', '.join(_short(each, slots))}" if each.after else ""
            yield f"  {each.stage:<{width}}  {status}{after}".rstrip()


def _short(each: Forecast, slots: Mapping[str, str]) -> list[str]:
    """Return the tasks before a task; those of its own layer by their stage, folded slots as one.

    `slots` are the tasks of these, and the slot of each.
    """
    own = [name.removeprefix(f"{each.folder.name}:") for name in each.after if name not in slots]
    folded = [slots[name] for name in each.after if name in slots]
    return [*own, *([name_slots(folded)] if folded else [])]


def dot_of(found: Sequence[Forecast]) -> Iterator[str]:
    """Yield the lines of a graph in the language of Graphviz, a cluster for each layer."""
    yield "digraph lairmake {"
    yield "  node [shape=box, style=filled];"
    for layer in dict.fromkeys(each.folder.name for each in found):
        yield f"  subgraph {_quoted(f'cluster_{layer}')} {{"
        yield f"    label={_quoted(layer)};"
        for each in (each for each in found if each.folder.name == layer):
            label = _quoted(f"{each.stage}\n{each.status}")
            fill = FILLS[each.status]
            yield f"    {_quoted(each.task)} [label={label}, fillcolor={fill}];"
        yield "  }"
    for each in found:
        yield from (f"  {_quoted(name)} -> {_quoted(each.task)};" for name in each.after)
    yield "}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def data_of_forecast(each: Forecast) -> dict[str, object]:
    """Return the forecast of a task as data for a program."""
    return {
        "task": each.task,
        "layer": each.folder.name,
        "stage": each.stage,
        "status": each.status,
        "after": list(each.after),
    }
