"""What doit prints of a run: a line for each layer, and an error once, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter

from lairmake.stages.make.doit.act import StageError, StageFailed
from lairmake.stages.make.doit.grouped import Grouped, needed
from lairmake.stages.make.doit.pipe import printing
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.doit.stopped import hint_of
from lairmake.stages.make.store.folders import LayerFolder, file_of, shown_path
from lairmake.stages.make.store.store import store_of

if TYPE_CHECKING:
    from lairmake.stages.make.core.action import Result
    from lairmake.stages.make.doit.live import LiveLine


LINES = {"ran": ".  {}\n", "hit": "=  {}  from the store\n"}


class StageReporter(ConsoleReporter):  # type: ignore[misc]
    """A line for each layer, or with `-v` for each stage, that did not stay the same.

    On a terminal one line shows what runs instead.
    """

    desc = "what runs, what comes from the store, and the results"

    session: Session
    shows_results = True
    """Whether the results of layers are printed at the end."""

    def __init__(self, outstream: Any, options: Mapping[str, Any]) -> None:
        super().__init__(outstream, options)
        self._live: LiveLine | None = None
        self._grouped = Grouped([])

    def initialize(self, tasks: Mapping[str, Any], selected_tasks: Sequence[str]) -> None:
        """Take note of the tasks of a build, and watch them on a terminal."""
        names = needed(tasks, selected_tasks)
        known = self.session
        stages = (name for name in names if name in known.stages)
        self._grouped = Grouped(stages, known.folders.values())
        if self.outstream.isatty():
            from lairmake.stages.make.doit.live import LiveLine

            self._live = LiveLine(self.outstream, len(names))

    def write(self, text: str) -> None:
        """Print a text, at once; nobody watches while it is printed."""
        self._hide()
        with printing(self.outstream):
            super().write(text)
        if self._live is not None:
            self._live.show()

    def execute_task(self, task: Any) -> None:
        """Show a task that begins; what became of a stage is printed when it ends."""
        if task.name not in self.session.stages:
            super().execute_task(task)
        elif self._live is not None:
            self._live.begin(task.name)

    def skip_uptodate(self, task: Any) -> None:
        """Print a task that was restored from the store."""
        found = self.session.results.get(task.name)
        if found is None:
            super().skip_uptodate(task)
        else:
            self._print(task, found)

    def add_success(self, task: Any) -> None:
        """Print what became of a task that was run."""
        found = (task.meta or {}).get("result")
        if found is not None:
            self._print(task, found)

    def add_failure(self, task: Any, fail: Any) -> None:
        """Print a failure, unless it only follows from another one."""
        if isinstance(fail, UnmetDependency):
            if task.name in self.session.stages:
                self._say(self._grouped.end(task.name, "left"))
            return
        if self._live is not None:
            self._live.end(task.name)
        if task.name in self.session.stages:
            line = self._grouped.fail(task.name)
            self.write(f".  {task.title()}\n" if self.session.verbose else line)
        self._hide()
        if isinstance(fail, StageFailed):
            self.tell_refusal(task.name, fail.message + hint_of(self.session, task.name))
        elif isinstance(fail, StageError):
            sys.stderr.write(fail.message)
        else:
            super().add_failure(task, fail)

    def tell_refusal(self, task: str, text: str) -> None:
        """Print what a stage found wrong in a layer folder."""
        sys.stderr.write(text)

    def complete_run(self) -> None:
        """Print what doit has to say at the end."""
        self._say(self._grouped.rest())
        self._hide()
        self._live = None  # of an interrupted build some tasks never end
        super().complete_run()
        left = self._grouped.left()
        if left:
            said = "1 other layer was" if left == 1 else f"{left} other layers were"
            sys.stderr.write(f"hint: {said} not built: `{self.session.program} -c` goes on\n")

    def _write_failure(self, result: Mapping[str, Any], write_exception: bool = True) -> None:
        fail = result["exception"]
        said = fail.get_msg() if write_exception else ""
        sys.stderr.write(f"{fail.get_name()} - taskid:{result['task'].name}\n{said}\n")

    def _say(self, line: str) -> None:
        """Print what became of a layer, unless it is told in other ways."""
        if line and self._live is None and not self.session.verbose:
            self.write(line)

    def _hide(self) -> None:
        if self._live is not None:
            self._live.hide()

    def _print(self, task: Any, found: Result) -> None:
        """Print what became of a task, and say what was repaired on the way."""
        if self._live is not None:
            self._live.end(task.name, is_hit=found.how == "hit")
        if self.session.verbose and found.how in LINES:
            self.write(LINES[found.how].format(task.title()))
        self._say(self._grouped.end(task.name, found.how))
        layer = self.session.folders[task.name.rpartition(":")[0]]
        for name, digest in found.repaired.items():
            self._tell_repaired(layer, name, digest)
        for name in found.kept:
            self.write(f"kept {shown_path(file_of(layer, name))}, as it was edited by hand\n")

    def _tell_repaired(self, layer: LayerFolder, name: str, digest: str) -> None:
        """Say that an edit was replaced, and what keeps such edits, if anything does."""
        from lairmake.stages.make.core.edits import how_to_keep

        path, how = shown_path(file_of(layer, name)), how_to_keep(layer, name, self.session.build)
        kept = shown_path(store_of(layer.home).edit_path(digest))
        self.write(f"repaired {path}, which was edited by hand: {how} (this one is in {kept})\n")
