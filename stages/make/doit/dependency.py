"""doit's manager of dependencies, and its database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from doit.dependency import Dependency, DependencyStatus, SqliteDB

from lairmake.stages.make.core.pipeline import files_of, path_from_here, result_of, values_of
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.store.files import warn
from lairmake.stages.make.store.folders import LayerFolder, file_of, further_file, shown_path
from lairmake.stages.make.store.marks import FORGOTTEN, IGNORED, is_marked, set_mark
from lairmake.stages.make.store.state import WorkspaceState, state_of
from lairmake.stages.make.store.state_folder import state_folder

# --- Manager of dependencies that knows stages ----------------------------------------------------
#
# doit asks the manager whether a task is up to date, for the values and results of tasks, and
# whether they are to be ignored. It tells the manager which tasks ran, and which to forget. For a
# stage the manager answers from the key and files of the stage, and keeps nothing. Tasks of other
# kinds have all of that in doit's database.

RESULT, VALUES = "result:", "_values_:"


class StageDependency(Dependency):  # type: ignore[misc]
    """Status, values and results of tasks: of stages, from their keys and files."""

    def __init__(self, manager: Dependency, session: Session) -> None:
        self.session = session
        self.__dict__.update(manager.__dict__)
        for name in ("_get", "_in", "remove", "remove_all"):
            del self.__dict__[name]

    def get_status(self, task: Any, tasks_dict: Any, get_log: bool = False) -> DependencyStatus:
        """Return whether a task is up to date."""
        if task.name not in self.session.stages:
            return super().get_status(task, tasks_dict, get_log)
        from lairmake.stages.make.core.action import unchanged

        status = DependencyStatus(get_log)
        task.dep_changed = []
        folder, stage = self.session.stages[task.name]
        found, unknown = unchanged(stage, folder, self.session.build)
        if found is not None:
            self.session.results[task.name] = found
            return status
        if unknown is not None:
            self.session.unknown[task.name] = unknown
        status.status = "run"
        if get_log:
            _add_reasons(status, task.name, folder, stage)
        return status

    def save_success(self, task: Any, result_hash: Any = None) -> None:
        """Note the result of a task that ran."""
        if task.name in self.session.stages:
            self.session.results[task.name] = task.meta["result"]
            set_mark(self._home, task.name, FORGOTTEN, False)
        elif task.name not in self.session.folders:
            super().save_success(task, result_hash)

    def remove_success(self, task: Any) -> None:
        """Forget that a task ran which now failed; for a stage there is nothing to forget."""
        if not self._is_ours(task.name):
            self.backend.remove(task.name)

    def remove(self, name: str) -> None:
        """Forget that a task ran, and that it is ignored."""
        if self._is_ours(name):
            set_mark(self._home, name, IGNORED, False)
            set_mark(self._home, name, FORGOTTEN, name in self.session.stages)
        else:
            self.backend.remove(name)

    def remove_all(self) -> None:
        """Forget all tasks."""
        for name in [*self.session.folders, *self.session.stages]:
            self.remove(name)
        self.backend.remove_all()

    def ignore(self, task: Any) -> None:
        """Leave a task out of builds from now on."""
        if self._is_ours(task.name):
            set_mark(self._home, task.name, IGNORED)
        else:
            super().ignore(task)

    def status_is_ignore(self, task: Any) -> Any:
        """Return whether a task is to be left out of builds."""
        if self._is_ours(task.name):
            return is_marked(self._home, task.name, IGNORED)
        return super().status_is_ignore(task)

    def _in(self, name: str) -> Any:
        if name in self.session.stages:
            return bool(files_of(*self.session.stages[name]))
        return self.backend.in_(name)

    def _get(self, name: str, what: str) -> Any:
        """Return something that is known of a task; None for nothing."""
        if name not in self.session.stages:
            return self.backend.get(name, what)
        known = {RESULT: result_of, VALUES: values_of}.get(what)
        return known(*self.session.stages[name]) if known is not None else None

    @property
    def _home(self) -> Path:
        assert self.session.home is not None
        return self.session.home

    def _is_ours(self, name: str) -> bool:
        """Return whether this is a stage, or a layer as a whole."""
        return name in self.session.stages or name in self.session.folders


def _add_reasons(
    status: DependencyStatus, name: str, folder: LayerFolder, stage: str
) -> None:
    """Add why a stage would run: what it wrote is gone, or what it read is new."""
    from lairmake.stages.make.core.action import current_key
    from lairmake.stages.make.store import state

    last = (state.history(state_folder(folder.home), name) or [{"reads": {}}])[-1]
    key = current_key(stage, folder)
    now = {**key.reads, **key.further}
    if is_marked(folder.home, name, FORGOTTEN):
        status.add_reason("uptodate_false", ("it was forgotten", (), {}))
    for read in sorted(n for n in now if now[n] != last["reads"].get(n)):
        path = further_file(folder, read) if read in key.further else file_of(folder, read)
        status.add_reason("changed_file_dep", path_from_here(path, folder.home))
    for written in sorted(set(last.get("writes", ())) - files_of(folder, stage).keys()):
        status.add_reason("missing_target", path_from_here(file_of(folder, written), folder.home))

# --- Database of tasks that are no stages, in the state -------------------------------------------

def open_database(
    session: Session, name: str, codec: Any, module_name: str | None = None
) -> Any:
    """Return the database with a name: in the state for our dodo files, else doit's own."""
    home, file = session.home, Path(name)
    if home is None or file.parent != state_folder(home):
        return SqliteDB(name, codec, module_name=module_name)
    return Remembered(state_of(file.parent), file.name, codec)


class Remembered:
    """doit's database for a dodo file: data of tasks by their names, kept when it is dumped.

    Where the state of the workspace is lost, nothing is remembered, and a warning says so.
    """

    def __init__(self, state: WorkspaceState, name: str, codec: Any) -> None:
        self.name = name
        self._state = state
        self._codec = codec
        self._known: dict[str, dict[str, Any]] = {}
        self._changed: set[str] = set()

    def get(self, task: str, what: str) -> Any:
        """Return a value of a task; None where it has none."""
        return self._of(task).get(what)

    def set(self, task: str, what: str, value: Any) -> None:
        """Note a value of a task."""
        self._of(task)[what] = value
        self._changed.add(task)

    def in_(self, task: str) -> bool:
        """Return whether a task has any value."""
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
