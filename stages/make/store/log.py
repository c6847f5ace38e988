"""The log of builds, in the state of a workspace: one line for each task that was looked at.

The code of a stage has a line of its own in a build, before the first that says what it read.
Layers that nothing happened to since their last build are not looked at, and have no line; a build
with no others has one line. What is in it is told by `doit why` and `doit timing`; each line is
JSON, for `sqlite3 .lairmake/state.db "select line from log"`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lairmake.stages.make.store.state import state_of

Line = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord:
    """One build: its first line, a line for each task, its last line: None while it runs."""

    id: str
    begin: Line
    tasks: list[Line]
    end: Line | None


def read(state: Path) -> Iterator[Line]:
    """Yield every line, oldest first."""
    return state_of(state).lines()


def builds(state: Path) -> list[BuildRecord]:
    """Return the builds of the log, oldest first, with what their tasks did."""
    found: dict[str, BuildRecord] = {}
    code: dict[tuple[str, str], Line] = {}
    for line in read(state):
        name, event = line["build"], line.get("event")
        if event in ("begin", "same"):
            end = line if event == "same" else None
            found[name] = BuildRecord(id=name, begin=line, tasks=[], end=end)
        elif name in found and event == "end":
            found[name] = BuildRecord(
                id=name, begin=found[name].begin, tasks=found[name].tasks, end=line
            )
        elif event == "code":
            code[name, line["stage"]] = line["units"]
        elif name in found:
            known = {"code": code.get((name, line["stage"]), {})} if "reads" in line else {}
            found[name].tasks.append({**line, **known})
    return list(found.values())


def begun(build: BuildRecord) -> str:
    """Return when a build began, as people are told: also what it is called."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(build.begin["when"]))


def covers(build: BuildRecord, layer: str) -> bool:
    """Return whether a build was to see to a layer, or to the network that it is a part of."""
    asked = build.begin.get("asked", [])
    is_all = not asked and not build.begin.get("arguments")
    seen = any(line["layer"] == layer for line in build.tasks)
    return is_all or seen or any(f"{layer}/".startswith(f"{name}/") for name in asked)


def history(state: Path, task: str) -> list[Line]:
    """Return what a task did whenever it was not up to date, oldest first."""
    where = "where task = ? and how != ?"
    return list(state_of(state).lines(where, (task, "same")))


def count(state: Path, how: str) -> int:
    """Return how often something became of a task."""
    return sum(1 for _ in state_of(state).lines("where how = ?", (how,)))


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return what differs between two lines of a task: files by name, code as `code place.py`."""
    files = _differing(before.get("reads", {}), after.get("reads", {}))
    code = _differing(before.get("code", {}), after.get("code", {}))
    return [*files, *(f"code {unit}" for unit in code)]


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    names = before.keys() | after.keys()
    return sorted(name for name in names if before.get(name) != after.get(name))
