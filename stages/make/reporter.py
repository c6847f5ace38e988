"""What doit prints of a run: a line per task, and an error once, by the stage that found it."""

from __future__ import annotations

from typing import Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter


class StageReporter(ConsoleReporter):  # type: ignore[misc]
    """The console reporter of doit, silent about tasks that wait for one that failed."""

    def add_failure(self, task: Any, fail: Any) -> None:
        """Print a failure, unless it only follows from another one."""
        if not isinstance(fail, UnmetDependency):
            super().add_failure(task, fail)
