"""What doit remembers of tasks that are no stages: in the state of the workspace, as all else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from doit.dependency import SqliteDB

from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.store.files import warn
from lairmake.stages.make.store.folders import shown_path
from lairmake.stages.make.store.state import State, state_of
from lairmake.stages.make.store.state_folder import state_folder


def open_database(
    session: Session, name: str, codec: Any, module_name: str | None = None
) -> Any:
    """Return the database of a name: that of one of our dodo files, or doit's own in sqlite."""
    home, file = session.home, Path(name)
    if home is None or file.parent != state_folder(home):
        return SqliteDB(name, codec, module_name=module_name)
    return Remembered(state_of(file.parent), file.name, codec)


class Remembered:
    """What doit calls a database: data of tasks by their names, kept when it is dumped.

    There is one for each dodo file; where the state is lost nothing is remembered, and that said.
    """

    def __init__(self, state: State, name: str, codec: Any) -> None:
        self.name = name
        self._state = state
        self._codec = codec
        self._known: dict[str, dict[str, Any]] = {}
        self._changed: set[str] = set()

    def get(self, task: str, what: str) -> Any:
        """Return something that is known of a task; None for nothing."""
        return self._of(task).get(what)

    def set(self, task: str, what: str, value: Any) -> None:
        """Take note of something."""
        self._of(task)[what] = value
        self._changed.add(task)

    def in_(self, task: str) -> bool:
        """Return whether anything is known of a task."""
        return bool(self._of(task))

    def remove(self, task: str) -> None:
        """Forget a task."""
        self._known[task] = {}
        self._changed.discard(task)
        self._state.forget(self.name, task)

    def remove_all(self) -> None:
        """Forget all tasks."""
        self._known.clear()
        self._changed.clear()
        self._state.forget(self.name)

    def dump(self) -> None:
        """Keep what changed."""
        data = {task: self._codec.encode(self._known[task]) for task in self._changed}
        self._state.keep(self.name, data)
        if data and self._state.lost:
            warn(f"{shown_path(self._state.file)} is left out: {self._state.lost}")
        self._changed.clear()

    def _of(self, task: str) -> dict[str, Any]:
        if task not in self._known:
            kept = self._state.get(self.name, task)
            found = self._codec.decode(kept) if isinstance(kept, str) else {}
            self._known[task] = found if isinstance(found, dict) else {}
        return self._known[task]
