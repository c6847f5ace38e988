"""Stages of a folder and their order."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from lairmake.stages.fabric.command import WHEEL, State
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.key import compiler, versions
from lairmake.stages.make.store.folders import (
    LayerFolder,
    every_stage,
    file_of,
    folders_of,
    matches,
    names_meant,
    parts_of,
)
from lairmake.stages.make.store.state import memo_of, state_of
from lairmake.stages.make.store.state_folder import state_folder

# --- Tasks that write what another task reads -----------------------------------------------------

MOST_KINDS = 10_000
"""Number of kinds of parts, and stages of these, whose inputs from others are remembered."""


def before(folder: LayerFolder, reads: tuple[str, ...]) -> list[str]:
    """Return the tasks that write the files of a stage's patterns, in other parts too."""
    found = writers_in(folder, reads)
    inside = tuple(name.partition("/")[2] for name in reads if name.startswith("*/"))
    for part in parts_of(folder):
        found += writers_in(part, inside)
    names = tuple(crossing.name for crossing in folder.crossings)
    for at in _that_match(names, reads):
        found += folder.crossings[at].after
    return found


@functools.lru_cache(MOST_KINDS)
def _that_match(names: tuple[str, ...], reads: tuple[str, ...]) -> list[int]:
    """Return which of the names some patterns stand for; they are the same for many parts."""
    return [at for at, name in enumerate(names) if any(matches(name, each) for each in reads)]


def writers_in(folder: LayerFolder, names: tuple[str, ...]) -> list[str]:
    """Return the tasks of the stages of a folder that write one of these names."""
    return [f"{folder.name}:{stage}" for stage in _that_write(every_stage(folder), names)]


@functools.cache
def _that_write(stages: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    return [stage for stage in stages if set(names).intersection(declaration(stage).writes)]


def writer_of(folder: LayerFolder, name: str) -> str | None:
    """Return the task that writes the file which a stage calls `name`; None for a user's file."""
    for crossing in folder.crossings:
        if crossing.name == name:
            return crossing.after[-1]
    head, _, rest = name.partition("/")
    part = dict(folder.parts).get(head)
    if part is not None:
        return writer_of(part, rest)
    for stage in every_stage(folder):
        if any(matches(name, each) for each in declaration(stage).writes):
            return f"{folder.name}:{stage}"
    return None

# --- Stages of a folder as tasks in order ---------------------------------------------------------

def stage_named(folder: LayerFolder, word: str) -> str | None:
    """Return the stage with the name `word`, or that writes the file `word`; None for neither."""
    for stage in every_stage(folder):
        writes = declaration(stage).writes
        if word == stage or word in writes or any(matches(word, name) for name in writes):
            return stage
    return None


def tasks_of_folders(
    folders: Iterable[LayerFolder], analyses: bool = False
) -> dict[str, tuple[LayerFolder, str]]:
    """Return the layer and the stage of every task of some layers and networks, by its name.

    `analyses` adds the stages that only run where they are asked for.
    """
    return {
        f"{each.name}:{stage}": (each, stage)
        for each in folders
        for stage in (every_stage(each) if analyses else each.stages)
    }


def orders(tasks: Mapping[str, tuple[LayerFolder, str]]) -> dict[str, list[str]]:
    """Return, for each task, those of the tasks that come before it."""
    return {
        task: [n for n in dict.fromkeys(before(folder, declaration(stage).reads)) if n in tasks]
        for task, (folder, stage) in tasks.items()
    }


def needed(after: Mapping[str, Sequence[str]], wanted: Iterable[str]) -> list[str]:
    """Return the tasks wanted and all those before them, in an order in which they may run.

    Where that leaves a choice, they keep the order in which they are given.
    """
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        task = waiting.pop()
        found.add(task)
        waiting += [name for name in after[task] if name not in found]
    graph = {task: after[task] for task in after if task in found}
    return list(TopologicalSorter(graph).static_order())


def tasks_up_to(
    folder: LayerFolder, wanted: Iterable[str]
) -> dict[str, tuple[LayerFolder, str]]:
    """Return tasks of a folder and its parts, and all that come before them, in no order.

    Parts that these do not need are not looked at.
    """
    folders = {each.name: each for each in folders_of(folder)}
    found: dict[str, tuple[LayerFolder, str]] = {}
    waiting = list(wanted)
    while waiting:
        task = waiting.pop()
        name, _, stage = task.rpartition(":")
        if task not in found and name in folders and stage in every_stage(folders[name]):
            found[task] = folders[name], stage
            waiting += before(folders[name], declaration(stage).reads)
    return found


def knows_parts(stage: str) -> bool:
    """Return whether a stage reads or writes files of parts, by what it declares."""
    declared = declaration(stage)
    names = (*declared.reads, *declared.writes)
    return any(name.startswith(("*/", "build/parts/")) for name in names)


def tasks_until(folder: LayerFolder, stage: str) -> list[tuple[LayerFolder, str]]:
    """Return the tasks up to a stage of a folder, that stage included, as folders and stages."""
    wanted = [f"{folder.name}:{stage}"]
    found = tasks_up_to(folder, wanted)
    every = tasks_of_folders(folders_of(folder), analyses=True)
    tasks = {task: every[task] for task in every if task in found}
    return [tasks[task] for task in needed(orders(tasks), wanted)]


def stages_until(folder: LayerFolder, stage: str) -> list[str]:
    """Return the stages of a folder up to one of them, that one included."""
    return [name for each, name in tasks_until(folder, stage) if each == folder]


def files_written(folder: LayerFolder, stage: str) -> list[str]:
    """Return the names of the files that a stage writes; of a pattern, those that there are."""
    return names_meant(folder, declaration(stage).writes)

# --- Values and results of stages, for other tasks ------------------------------------------------
#
# Tasks take values by `getargs` and `calc_dep`. Values and results are read from what the stage
# wrote, so they are there whether it ran in this build, came from the store, or was up to date.

RESULTS = "build/results.json"


def files_of(folder: LayerFolder, stage: str) -> dict[str, Path]:
    """Return the files that a stage wrote, by name."""
    names = names_meant(folder, declaration(stage).writes)
    found = {name: file_of(folder, name) for name in names}
    return {name: path for name, path in found.items() if path.is_file()}


def values_of(folder: LayerFolder, stage: str) -> dict[str, Any]:
    """Return the values of a stage, by name.

    `file_dep` are the paths of what it wrote, so that a task with the stage as `calc_dep` depends
    on all of it. A stage that writes results.json also has each value of that file, and each
    value within one, as `cycles.simd`.
    """
    found = files_of(folder, stage)
    paths = [path_from_here(path, folder.home) for path in found.values()]
    values: dict[str, Any] = {"file_dep": paths}
    if RESULTS in found:
        results = json.loads(found[RESULTS].read_text("utf-8"))
        values |= dict(_within("", results))
    return values


def result_of(folder: LayerFolder, stage: str) -> dict[str, str | None] | None:
    """Return the digest of each file that a stage wrote, by name; None where there is none."""
    memo = memo_of(state_folder(folder.home))
    found = files_of(folder, stage)
    return {name: memo.digest(path) for name, path in found.items()} or None


def path_from_here(path: Path, home: Path) -> str:
    """Return a path as a dodo file has it: within the workspace `home`, it starts from here."""
    name, below = str(path), f"{os.getcwd()}/"
    if name.startswith(below):
        return name.removeprefix(below)
    return os.path.relpath(name) if path.is_relative_to(home) else name


def _within(prefix: str, data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        yield f"{prefix}{name}", value
        if isinstance(value, dict):
            yield from _within(f"{prefix}{name}.", value)

# --- Tools of a build, and their changes ----------------------------------------------------------

def news(state: Path) -> dict[str, Any]:
    """Return the `tools` that changed since the last call, each with its old and new version.

    The result is empty the first time, and where nothing changed.
    """
    old, new = state_of(state).get("made", "with"), _tools()
    if new != old:
        state_of(state).keep("made", {"with": new})
    if not old:
        return {}
    tools = {n: [old.get(n), new.get(n)] for n in {**old, **new} if old.get(n) != new.get(n)}
    return {"tools": tools} if tools else {}


def _tools() -> dict[str, str]:
    """Return the version of each tool; of the C compiler its words, and where its programs are."""
    python = ".".join(map(str, sys.version_info[:3]))
    packages = {name: version for name, version in versions().items() if version is not None}
    return {"python": python, **packages, "C compiler": _shown(compiler())}


def _shown(state: State) -> str:
    words, programs, wheel = state
    marks = [f"{path} {size} {time}" for path, size, time in programs]
    return ", ".join([" ".join(words), *marks, *([f"{WHEEL} {wheel}"] if wheel else [])])
