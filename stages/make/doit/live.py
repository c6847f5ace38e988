"""The one line that a person watches while a build runs on a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any

from lairmake.stages.make.core.workers import progress


@dataclass(slots=True, kw_only=True)
class Running:
    """A task that began then, and what it last told of itself, and when: 0 for nothing."""

    began: float
    share: float = 0.0
    told: float = 0.0


class LiveLine:
    """What runs, how much is done, how much of it came from the store, and how long it may take.

    A stage that tells how far it is goes on at its own pace; others take as long as those before.
    """

    def __init__(self, stream: IO[str], total: int) -> None:
        from rich.console import Console, RenderableType
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        class Heard(Progress):
            def get_renderable(inside) -> RenderableType:  # noqa: N805
                self._hear()
                return super().get_renderable()

        progress().watch()
        self._total = total
        self._done = self._hits = 0
        self._spent = 0.0
        self._running: dict[str, Running] = {}
        self._progress: Any = None
        columns = (
            TextColumn("{task.description}", markup=False), BarColumn(bar_width=20),
            MofNCompleteColumn(), TextColumn("{task.fields[hits]} from the store"),
            TextColumn("{task.fields[left]}"),
        )
        shown = Heard(*columns, console=Console(file=stream), transient=True)
        self._line = shown.add_task("", total=total, hits=0, left="")
        self._progress = shown

    def begin(self, task: str) -> None:
        """Show a task that begins to run."""
        self._running[task] = Running(began=time.monotonic())
        self._progress.start()

    def end(self, task: str, is_hit: bool = False) -> None:
        """Count a task that ended, maybe since the store had it."""
        self._done += 1
        self._hits += is_hit
        ran = self._running.pop(task, None)
        self._spent += time.monotonic() - ran.began if ran is not None else 0.0

    def hide(self) -> None:
        """Take the line away, so that something else can be printed."""
        self._progress.stop()

    def show(self) -> None:
        """Show it again, if anything runs."""
        if self._running:
            self._progress.start()

    def left(self) -> float | None:
        """Return how many seconds the build may take from now on; None where that is not known."""
        running = list(self._running.values())
        mean = self._spent / self._done if self._done else None
        own = [rest for each in running if (rest := _rest(each, mean)) is not None]
        if mean is None and not own:
            return None
        waiting = (self._total - self._done - len(running)) * (mean or 0.0)
        return max([(waiting + sum(own)) / max(1, len(running)), *own])

    def _hear(self) -> None:
        """Show what running tasks told since: called whenever the line is drawn anew."""
        if self._progress is None:
            return
        for task, share in progress().hear().items():
            if task in self._running:
                self._running[task].share, self._running[task].told = share, time.monotonic()
        left = self.left()
        shares = {task: each.share for task, each in list(self._running.items())}
        self._progress.update(
            self._line, completed=self._done + sum(shares.values()), hits=self._hits,
            description=next(_descriptions(shares), ""),
            left="" if left is None else f"{timedelta(seconds=round(left))} left",
        )


def _rest(running: Running, mean: float | None) -> float | None:
    """Return the seconds that a task may still take: it goes on as fast as until it last told."""
    now = time.monotonic()
    if running.share:
        pace = (running.told - running.began) / running.share
        return max(0.0, running.began + pace - now)
    return max(0.0, running.began + mean - now) if mean is not None else None


def _descriptions(shares: dict[str, float]) -> Iterator[str]:
    """Yield the tasks that run, with how far they are, the last that began first."""
    for task, share in reversed(shares.items()):
        yield f"{task} {share:.0%}" if share else task
