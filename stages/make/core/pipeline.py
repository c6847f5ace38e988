"""Which stages a layer has, what each one is, and which others read what it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.writers import before
from lairmake.stages.make.store.folders import (
    LayerFolder,
    every_stage,
    folders_of,
    matches,
    names_meant,
)


def stage_named(folder: LayerFolder, word: str) -> str | None:
    """Return the stage that is called `word`, or writes the file that is; None for neither."""
    for stage in every_stage(folder):
        writes = declaration(stage).writes
        if word == stage or word in writes or any(matches(word, name) for name in writes):
            return stage
    return None


def tasks_of_folders(
    folders: Iterable[LayerFolder], analyses: bool = False
) -> dict[str, tuple[LayerFolder, str]]:
    """Return the layer and the stage of every task of some layers and networks, by its name.

    With `analyses` those that only run where they are asked for are among them.
    """
    return {
        f"{each.name}:{stage}": (each, stage)
        for each in folders
        for stage in (every_stage(each) if analyses else each.stages)
    }


def orders(tasks: Mapping[str, tuple[LayerFolder, str]]) -> dict[str, list[str]]:
    """Return those of the tasks that come before each of them."""
    return {
        task: [n for n in dict.fromkeys(before(folder, declaration(stage).reads)) if n in tasks]
        for task, (folder, stage) in tasks.items()
    }


def needed(after: Mapping[str, Sequence[str]], wanted: Iterable[str]) -> list[str]:
    """Return the tasks wanted and all those before them, in an order in which they may run.

    As far as that leaves it open it is the one in which they are given.
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

    What these do not need is not looked at, however many parts there are.
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
    """Return the stages of a folder and its parts that come before one of it, and that one."""
    wanted = [f"{folder.name}:{stage}"]
    found = tasks_up_to(folder, wanted)
    every = tasks_of_folders(folders_of(folder), analyses=True)
    tasks = {task: every[task] for task in every if task in found}
    return [tasks[task] for task in needed(orders(tasks), wanted)]


def stages_until(folder: LayerFolder, stage: str) -> list[str]:
    """Return the stages of a folder that come before one of them, and that one."""
    return [name for each, name in tasks_until(folder, stage) if each == folder]


def files_written(folder: LayerFolder, stage: str) -> list[str]:
    """Return the names of the files that a stage writes; of a pattern, those that there are."""
    return names_meant(folder, declaration(stage).writes)
