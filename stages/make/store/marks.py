"""Marks of single tasks by the user: forget that the task ran, or ignore the task.

They are in the state of the workspace, so that every dodo file of it knows them. Marks of tasks
that are no stages are in what doit itself keeps.
"""

from __future__ import annotations

import functools
from pathlib import Path

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.store.folders import shown_path
from lairmake.stages.make.store.state import state_of
from lairmake.stages.make.store.state_folder import state_folder

FORGOTTEN, IGNORED = "forgotten", "ignored"


def is_marked(home: Path, task: str, mark: str) -> bool:
    """Return whether a task bears a mark."""
    return task in _names(home, mark)


def marked(home: Path) -> set[str]:
    """Return the names of all tasks that bear a mark."""
    return _names(home, FORGOTTEN) | _names(home, IGNORED)


def set_mark(home: Path, task: str, mark: str, value: bool = True) -> None:
    """Set or remove the mark of a task. Raises UserError where the mark cannot be kept."""
    if is_marked(home, task, mark) == value:
        return
    state = state_of(state_folder(home))
    if value:
        state.keep(mark, {task: True})
        _names(home, mark).add(task)
    else:
        state.forget(mark, task)
        _names(home, mark).discard(task)
    if state.lost:
        raise UserError(f"cannot write {shown_path(state.file)}: {state.lost}")


@functools.cache
def _names(home: Path, mark: str) -> set[str]:
    """Return the names of the tasks that bear a mark, read once a process."""
    return set(state_of(state_folder(home)).every(mark))
