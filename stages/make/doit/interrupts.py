"""Signals that interrupt a command: all end it as Ctrl-C does, and it says so."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import IO

from lairmake.stages.make.doit.pipe import go_nowhere

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 128
"""What is added to the number of a signal, for an exit code."""


@contextlib.contextmanager
def handled(interrupt: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call a function for each signal that interrupts; but who began with nohup asked for no end.

    It is a plain function: `signal` prints the one before it, to find out what it is, and a partial
    one prints all that it holds: every task of the build.
    """
    asked = [n for n in SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in asked}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def raise_interrupt() -> None:
    """Raise KeyboardInterrupt, once: a second signal ends the process at once.

    But not a second SIGHUP: where a terminal is closed, both the system and the shell send one.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGHUP else signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and _is_gone(stream):
            go_nowhere(stream)
    raise KeyboardInterrupt


def _is_gone(stream: IO[str]) -> bool:
    """Return whether a stream is a terminal that was closed: what is printed there fails."""
    with contextlib.suppress(OSError, ValueError):
        file = stream.fileno()
        return stat.S_ISCHR(os.fstat(file).st_mode) and not os.isatty(file)
    return False


@contextlib.contextmanager
def interruptible() -> Iterator[list[int]]:
    """Let signals raise KeyboardInterrupt; yields a list, to which the first is added."""
    caught: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        raise_interrupt()

    with handled(interrupt):
        yield caught


def say_interrupted(more: str = "") -> None:
    """Say that a command was interrupted."""
    sys.stderr.write(f"interrupted{more}\n")
