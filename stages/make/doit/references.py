"""What tasks that a user wrote refer to: other tasks by name, and files by path."""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from doit.task import result_dep

Paths = dict[str, list[Any]]
"""Tasks, by the path of a file: absolute, without symbolic links in the names of folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """What some tasks refer to.

    `names` are those of tasks, or patterns of them, that come before one; of those that are
    `valued` too, the values or the result are wanted. `reads` and `writes` give the tasks that
    have a file as file_dep or target.
    """

    names: frozenset[str]
    valued: frozenset[str]
    reads: Paths
    writes: Paths


def references_of(tasks: Iterable[Any]) -> References:
    """Return what tasks refer to."""
    names: set[str] = set()
    valued: set[str] = set()
    reads: Paths = {}
    writes: Paths = {}
    for task in tasks:
        names.update(named_by(task))
        valued |= {*task.calc_dep, *(name for name, _ in task.getargs.values())}
        valued |= {item.dep_name for item, _, _ in task.uptodate if isinstance(item, result_dep)}
        for paths, found in ((task.file_dep, reads), (task.targets, writes)):
            for path in paths:
                found.setdefault(real_path(path), []).append(task)
    return References(
        names=frozenset(names), valued=frozenset(valued), reads=reads, writes=writes
    )


def named_by(task: Any) -> list[str]:
    """Return the names of tasks, and patterns of them, that come before a task."""
    return [*task.task_dep, *task.wild_dep, *task.setup_tasks, *task.calc_dep]


def real_path(path: str) -> str:
    """Return a path from here as one from the root, with no symbolic links but the last name."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(_real_folder(folder), name)


@functools.cache
def _real_folder(path: str) -> str:
    return os.path.realpath(path)


def reached_by(tasks: Sequence[Any], words: Iterable[str], references: References) -> list[Any]:
    """Return the tasks that words name, and those that come before them, in no order.

    Where a task creates others during the build, a word that is no task may name one of these.
    """
    known = {task.name: task for task in tasks}
    late = [name for name, task in known.items() if task.loader]
    waiting = [name for word in words for name in _matching(word, known, references) or late]
    found: dict[str, Any] = {}
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found[name] = task = known[name]
            before = (*named_by(task), *task.file_dep)
            waiting += [n for word in before for n in _matching(word, known, references)]
    return list(found.values())


def _matching(word: str, known: Iterable[str], references: References) -> list[str]:
    """Return the tasks that a word names, as a pattern, or by a file that they make."""
    names = [name for name in known if word == name or fnmatch.fnmatch(name, word)]
    return [*names, *(task.name for task in references.writes.get(real_path(word), ()))]
