"""Say how far a long run is: the engine counts where another thread reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lairmake.stages.fabric.library import Outcome

Tell = Callable[[float], None]
"""Takes how much of something is done, from 0 to 1."""

INTERVAL = 0.2
"""Seconds from one time to the next, the first one included."""


def find_share(outcome: Outcome, entering: int, tasks: int) -> float:
    """Return how much of a run is done: of the wavelets that ports have to send, those they sent.

    Where nothing enters, of the least number of tasks, one for each PE and invocation, those that
    have run.
    """
    done, of = (outcome.entered, entering) if entering else (outcome.tasks, tasks)
    return float(min(done, of) / max(1, of))


@contextmanager
def report_progress(share: Callable[[], float], tell: Tell | None) -> Iterator[None]:
    """Tell from time to time, for as long as the block runs, how much is done; nobody if None."""
    done = threading.Event()
    thread = threading.Thread(target=_report, args=(share, tell, done), daemon=True)
    if tell is not None:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if tell is not None:
            thread.join()


def _report(share: Callable[[], float], tell: Tell, done: threading.Event) -> None:
    while not done.wait(INTERVAL):
        tell(share())
