"""The log of a build, whichever reporter of doit prints it."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from doit.exceptions import TaskFailed, UnmetDependency

from lairmake.stages.make.core.key import ActionKey, code_units
from lairmake.stages.make.doit.act import StageFailed
from lairmake.stages.make.doit.grouped import needed
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.doit.stopped import is_drawn
from lairmake.stages.make.store.state import state_of
from lairmake.stages.make.store.state_folder import state_folder

if TYPE_CHECKING:
    from lairmake.stages.make.core.action import Result

WRONG, BUG = 1, 2
"""What doit exits with where a task fails, and where one cannot be run."""

NUMBERS = itertools.count()
"""Of the builds of this process."""


class Recorded:
    """What a reporter notes of a build: what became of every stage; `recorded` adds it to one."""

    session: Session

    def __init__(self, outstream: Any, options: Mapping[str, Any]) -> None:
        super().__init__(outstream, options)  # type: ignore[call-arg]
        self._build = ""
        self._stages: set[str] = set()
        self._begin = time.time()
        self._tasks: Mapping[str, Any] = {}
        self._selected: Sequence[str] = ()
        self.session.reporter = self

    def initialize(self, tasks: Mapping[str, Any], selected_tasks: Sequence[str]) -> None:
        """Take note of the tasks of a build."""
        self._tasks, self._selected = tasks, selected_tasks
        if hasattr(super(), "initialize"):
            super().initialize(tasks, selected_tasks)  # type: ignore[misc]

    def skip_uptodate(self, task: Any) -> None:
        """Note a task that was restored from the store, or was up to date."""
        found = self.session.results.get(task.name)
        if found is not None:
            self._note(task, found)
        super().skip_uptodate(task)  # type: ignore[misc]

    def add_success(self, task: Any) -> None:
        """Note a task that was run."""
        found = self.session.results.get(task.name)
        if found is not None:
            self._note(task, found)
        super().add_success(task)  # type: ignore[misc]

    def add_failure(self, task: Any, fail: Any) -> None:
        """Note a failure, unless it only follows from another one."""
        if not isinstance(fail, UnmetDependency):
            self._fail(WRONG if isinstance(fail, TaskFailed) else BUG)
        if task.name in self.session.stages and not isinstance(fail, UnmetDependency):
            from lairmake.stages.make.core.action import current_key

            layer, _, stage = task.name.rpartition(":")
            key = current_key(stage, self.session.folders[layer])
            self._append_key(task.name, "failed", key, {"error": fail.message})
        if isinstance(fail, StageFailed) and fail.stop is not None:
            self.session.stops[task.name] = fail.stop
            if is_drawn(self.session, task.name, needed(self._tasks, self._selected)):
                self.session.drawn.add(task.name)
        super().add_failure(task, fail)  # type: ignore[misc]

    def runtime_error(self, msg: str) -> None:
        """Note that doit found a task to be none while it built."""
        self._fail(BUG)
        super().runtime_error(msg)  # type: ignore[misc]

    def _fail(self, code: int) -> None:
        self.session.failed = max(self.session.failed, code)

    def end(self, code: int) -> None:
        """Note the end of the build; in a line if there was no task to look at in any layer."""
        known, now = self.session, time.time()
        if self._build:
            self._append({"event": "end", "when": now, "seconds": now - self._begin, "exit": code})
        elif code == 0 and known.unchanged + len(known.clean):
            self._start("same", {"layers": known.unchanged + len(known.clean)})
        if known.home is not None:
            state_of(state_folder(known.home)).shorten()

    def _note(self, task: Any, found: Result) -> None:
        edits = {"kept": found.kept, "repaired": found.repaired, "forgotten": found.forgotten}
        edits = {word: what for word, what in edits.items() if what}
        if found.how == "same":
            line = {"key": found.key.digest, "start": found.start}
            self._append_task(task.name, "same", {**line, **edits})
        else:
            done = {"start": found.start, "seconds": found.seconds, "pid": found.pid, **edits}
            self._append_key(task.name, found.how, found.key, {"writes": found.outputs, **done})

    def _append_key(self, task: str, how: str, key: ActionKey, more: Mapping[str, Any]) -> None:
        reads = {**key.reads, **key.further}
        self._append_task(task, how, {"key": key.digest, "reads": reads, **more})

    def _append_task(self, task: str, how: str, more: Mapping[str, Any]) -> None:
        layer, _, stage = task.rpartition(":")
        home = self.session.home
        if not self._build and home is not None:
            from lairmake.stages.make.core.pipeline import news

            self._start("begin", {"always": self.session.build.always, **news(state_folder(home))})
        if "reads" in more and stage not in self._stages:
            self._stages.add(stage)
            self._append({"event": "code", "stage": stage, "units": code_units(stage)})
        self._append({"task": task, "layer": layer, "stage": stage, "how": how, **more})

    def _start(self, event: str, more: Mapping[str, Any]) -> None:
        """Write the first line of the build: what was asked for, nothing being everything."""
        self._build = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{next(NUMBERS)}"
        known = self.session
        asked = {"arguments": known.arguments, "asked": sorted(known.asked)}
        self._append({"event": event, "when": self._begin, "pid": os.getpid(), **asked, **more})

    def _append(self, line: Mapping[str, Any]) -> None:
        home = self.session.home
        if home is not None:
            state_of(state_folder(home)).add({"build": self._build, **line})


def recorded(reporter: type, session: Session) -> type:
    """Return a reporter of doit that also writes the log of what a command does."""
    return type(reporter.__name__, (Recorded, reporter), {"session": session})
