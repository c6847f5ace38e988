"""What doit prints of a run, and the log of it: a line per task, and an error once, on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter

from stages.make import log
from stages.make.action import Result, StageFailed, current_key
from stages.make.folders import STATE, file_of, shown_path
from stages.make.key import ActionKey
from stages.make.pipe import printing
from stages.make.session import session
from stages.make.store import store_of

if TYPE_CHECKING:
    from stages.make.live import LiveLine


LINES = {"ran": ".  {}\n", "hit": "=  {}  from the store\n"}


def _is_stage(task: Any) -> bool:
    """Return whether a task is a stage of a layer, not one that a dodo file adds."""
    return task.name.rpartition(":")[0] in session().folders


class StageReporter(ConsoleReporter):  # type: ignore[misc]
    """A line for each task that runs or is restored from the store, nothing for the others."""

    desc = "what runs, what comes from the store, and the results"

    def __init__(self, outstream: Any, options: Mapping[str, Any]) -> None:
        super().__init__(outstream, options)
        known = session()
        assert known.home is not None
        self._state = known.home / STATE
        self._build = ""
        self._begin = time.time()
        self._live: LiveLine | None = None
        self._done = self._hits = 0
        known.reporter = self

    def initialize(self, tasks: Mapping[str, Any], selected_tasks: Sequence[str]) -> None:
        """Watch the tasks of a build, on a terminal."""
        if self.outstream.isatty():
            from stages.make.live import LiveLine

            self._live = LiveLine(self.outstream, sum(bool(t.actions) for t in tasks.values()))

    def write(self, text: str) -> None:
        """Print a text, at once; nobody watches while it is printed."""
        self._hide()
        with printing(self.outstream):
            super().write(text)

    def execute_task(self, task: Any) -> None:
        """Show a task that begins; what became of a stage is printed when it ends."""
        if not _is_stage(task):
            super().execute_task(task)
        elif self._live is not None:
            self._live.show(task.title(), self._done, self._hits)

    def skip_uptodate(self, task: Any) -> None:
        """Print a task that was restored from the store."""
        found = session().results.get(task.name)
        if found is None:
            super().skip_uptodate(task)
        else:
            self._note(task, found)

    def add_success(self, task: Any) -> None:
        """Print what became of a task that was run."""
        found = (task.meta or {}).get("result")
        if found is not None:
            session().results[task.name] = found
            self._note(task, found)

    def add_failure(self, task: Any, fail: Any) -> None:
        """Print a failure, unless it only follows from another one."""
        if isinstance(fail, UnmetDependency):
            return
        if _is_stage(task):
            self.write(f".  {task.title()}\n")
            layer, _, stage = task.name.rpartition(":")
            key = current_key(stage, session().folders[layer])
            self._append_key(task.name, "failed", key, {"error": fail.message})
        self._hide()
        if isinstance(fail, StageFailed):
            sys.stderr.write(fail.message)
        else:
            super().add_failure(task, fail)

    def complete_run(self) -> None:
        """Print what doit has to say at the end."""
        self._hide()
        super().complete_run()

    def end(self, code: int) -> None:
        """Note the end of the build, if any task was looked at."""
        if self._build:
            now = time.time()
            self._append({"event": "end", "when": now, "seconds": now - self._begin, "exit": code})
            log.shorten(self._state)

    def _write_failure(self, result: Mapping[str, Any], write_exception: bool = True) -> None:
        fail = result["exception"]
        said = fail.get_msg() if write_exception else ""
        sys.stderr.write(f"{fail.get_name()} - taskid:{result['task'].name}\n{said}\n")

    def _hide(self) -> None:
        if self._live is not None:
            self._live.hide()

    def _note(self, task: Any, found: Result) -> None:
        """Print a task, say what was repaired on the way, and log it."""
        self._done += 1
        self._hits += found.how == "hit"
        if self._live is None and found.how in LINES:
            self.write(LINES[found.how].format(task.title()))
        layer = session().folders[task.name.rpartition(":")[0]]
        for name, digest in found.repaired.items():
            kept = shown_path(store_of(layer.home).edit_path(digest))
            self.write(
                f"repaired {shown_path(file_of(layer, name))}, which was edited by hand: keep such "
                f"edits with --keep-edits or pin: (this one is in {kept})\n"
            )
        for name in found.kept:
            self.write(f"kept {shown_path(file_of(layer, name))}, as it was edited by hand\n")
        edits = {"kept": found.kept, "repaired": found.repaired}
        edits = {word: names for word, names in edits.items() if names}
        if found.how == "same":
            line = {"key": found.key.digest, "start": found.start}
            self._append_task(task.name, "same", {**line, **edits})
        else:
            done = {"start": found.start, "seconds": found.seconds, "pid": found.pid, **edits}
            self._append_key(task.name, found.how, found.key, {"writes": found.outputs, **done})

    def _append_key(self, task: str, how: str, key: ActionKey, more: Mapping[str, Any]) -> None:
        reads = {**key.reads, **key.further}
        self._append_task(task, how, {"key": key.digest, "code": key.code, "reads": reads, **more})

    def _append_task(self, task: str, how: str, more: Mapping[str, Any]) -> None:
        layer, _, stage = task.rpartition(":")
        if not self._build:
            self._build = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
            begin = {"event": "begin", "when": self._begin, "arguments": session().arguments}
            self._append({**begin, "pid": os.getpid()})
        self._append({"task": task, "layer": layer, "stage": stage, "how": how, **more})

    def _append(self, line: Mapping[str, Any]) -> None:
        log.append(self._state, {"build": self._build, **line})
