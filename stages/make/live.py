"""The one line that a person watches while a build runs on a terminal."""

from __future__ import annotations

from typing import IO, Any


class LiveLine:
    """What runs, how much is done, how much of it came from the store, and how long it may take."""

    def __init__(self, stream: IO[str], total: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[hits]} from the store"),
            TimeRemainingColumn(),
            console=Console(file=stream),
            transient=True,
        )
        self._line: Any = self._progress.add_task("", total=total, hits=0)

    def show(self, task: str, done: int, hits: int) -> None:
        """Show the task that runs, and how many of all are done."""
        self._progress.update(self._line, description=task, completed=done, hits=hits)
        self._progress.start()

    def hide(self) -> None:
        """Take the line away, so that something else can be printed."""
        self._progress.stop()
