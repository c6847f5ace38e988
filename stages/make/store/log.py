"""The log of builds, `.lairmake/log.jsonl`: one line for each task that was looked at.

The code of a stage has a line of its own in a build, before the first that says what it read.

A line is there whole or, where a build was killed, not at all. Layers that nothing happened to
since their last build are not looked at, and have no line; a build with no others has one line.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Line = dict[str, Any]

MOST_BYTES = 16_000_000
"""The log is made shorter when it is longer than this, to half of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One build: its first line, a line for each task, its last line: None while it runs."""

    id: str
    begin: Line
    tasks: list[Line]
    end: Line | None


def append(state: Path, line: Mapping[str, Any]) -> None:
    """Add a line; without a log that can be written to there is none."""
    text = json.dumps(line, separators=(",", ":")) + "\n"
    with contextlib.suppress(OSError):
        state.mkdir(parents=True, exist_ok=True)
        file = os.open(_file(state), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def read(state: Path) -> list[Line]:
    """Return every line that is whole, oldest first."""
    try:
        content = _file(state).read_bytes()
    except OSError:
        return []
    return list(_lines(content))


def builds(state: Path) -> list[Build]:
    """Return the builds of the log, oldest first, with what their tasks did."""
    found: dict[str, Build] = {}
    code: dict[tuple[str, str], Line] = {}
    for line in read(state):
        name, event = line["build"], line.get("event")
        if event in ("begin", "same"):
            end = line if event == "same" else None
            found[name] = Build(id=name, begin=line, tasks=[], end=end)
        elif name in found and event == "end":
            found[name] = Build(id=name, begin=found[name].begin, tasks=found[name].tasks, end=line)
        elif event == "code":
            code[name, line["stage"]] = line["units"]
        elif name in found:
            known = {"code": code.get((name, line["stage"]), {})} if "reads" in line else {}
            found[name].tasks.append({**line, **known})
    return list(found.values())


def covers(build: Build, layer: str) -> bool:
    """Return whether a build was to see to a layer, or to the network that it is a part of."""
    asked = build.begin.get("asked", [])
    is_all = not asked and not build.begin.get("arguments")
    seen = any(line["layer"] == layer for line in build.tasks)
    return is_all or seen or any(f"{layer}/".startswith(f"{name}/") for name in asked)


def history(state: Path, task: str) -> list[Line]:
    """Return what a task did whenever it was not up to date, oldest first."""
    return [line for line in read(state) if line.get("task") == task and line["how"] != "same"]


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return what differs between two lines of a task: files by name, code as `code place.py`."""
    files = _differing(before.get("reads", {}), after.get("reads", {}))
    code = _differing(before.get("code", {}), after.get("code", {}))
    return [*files, *(f"code {unit}" for unit in code)]


def shorten(state: Path) -> None:
    """Leave the oldest builds out of a log that is too long."""
    from stages.make.store.files import write_whole

    with contextlib.suppress(OSError):
        if _file(state).stat().st_size > MOST_BYTES:
            kept = _file(state).read_bytes()[-MOST_BYTES // 2 :]
            begin = kept.find(b'\n{"build":')
            write_whole(_file(state), kept[begin + 1 :])


def _file(state: Path) -> Path:
    return state / "log.jsonl"


def _lines(content: bytes) -> Iterator[Line]:
    for text in content.split(b"\n"):
        with contextlib.suppress(ValueError):
            line = json.loads(text)
            if isinstance(line, dict) and "build" in line and ("event" in line or "how" in line):
                yield line


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    names = before.keys() | after.keys()
    return sorted(name for name in names if before.get(name) != after.get(name))
