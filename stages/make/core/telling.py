"""How far stages are that run for long, told by the processes that run them to who watches."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time

INTERVAL = 30.0
"""Seconds from one line to the next where nobody watches, the first one included."""

READ = 65536


class Progress:
    """A pipe from all processes of a build to the live line; without one, lines on stderr."""

    def __init__(self) -> None:
        self._pipe: tuple[int, int] | None = None
        self._rest = b""
        self._task, self._said = "", 0.0

    def watch(self) -> None:
        """Let this process hear what it and those that it forks from here on tell."""
        if self._pipe is None:
            self._pipe = os.pipe()
            for end in self._pipe:
                os.set_blocking(end, False)

    def tell(self, task: str, share: float) -> None:
        """Tell how much of a task is done, from 0 to 1."""
        if self._pipe is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._pipe[1], f"{share:.4f} {task}\n".encode())
            return
        now = time.monotonic()
        if task != self._task:
            self._task, self._said = task, now
        if now - self._said >= INTERVAL:
            self._said = now
            sys.stderr.write(f"{task}: {share:.0%}\n")
            sys.stderr.flush()

    def hear(self) -> dict[str, float]:
        """Return what was told since, the last of each task."""
        if self._pipe is None:
            return {}
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._pipe[0], READ):
                self._rest += part
        *lines, self._rest = self._rest.split(b"\n")
        pairs = (line.decode().partition(" ") for line in lines)
        return {task: float(share) for share, _, task in pairs}


@functools.cache
def progress() -> Progress:
    """Return that of this process, and of those that it forks."""
    return Progress()
