"""Say how far a long run is: the engine counts where another thread reads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from stages.fabric.library import Outcome

INTERVAL = 10.0
"""Seconds from one line to the next, the first one included."""


@contextmanager
def reported(outcome: Outcome) -> Iterator[None]:
    """Write a line to stderr from time to time for as long as the block runs."""
    done = threading.Event()
    thread = threading.Thread(target=_report, args=(outcome, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _report(outcome: Outcome, done: threading.Event) -> None:
    while not done.wait(INTERVAL):
        sys.stderr.write(f"simulate: cycle {outcome.now}, {outcome.tasks} tasks have run\n")
        sys.stderr.flush()
