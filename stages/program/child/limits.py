"""How much a user's code may take, and what the process that runs it does where that is reached."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import math
import os
import resource
import select
import signal
import sys
from dataclasses import dataclass

WAITING = 10
"""How many times as long as it may compute a program may take by the clock: it waits, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many seconds of processors code may take, how many bytes of addresses, and how many bytes
    it may give back. `clock` is how many seconds it may last, None: WAITING times as many."""

    seconds: float = 60
    memory: int = 4 << 30
    answer: int = 1 << 30
    clock: float | None = None

    @property
    def longest(self) -> float:
        """How many seconds of the clock code may last, which others may keep from a processor."""
        return WAITING * self.seconds if self.clock is None else self.clock


LIMITS = Limits()
MOST = Limits(seconds=86_400, memory=1 << 40, answer=1 << 33)
"""What program.yaml may set them to: a day, 1 TiB, 8 GiB."""


def set_limits(limits: Limits, report: int) -> None:
    """Limit this process for good. What ends it is told on the file `report`, with the line.

    A thread of C watches the clock: code that never comes back from C is ended, too. The system
    counts what processors do, of all threads.
    """
    faulthandler.enable(report)
    faulthandler.dump_traceback_later(limits.longest, exit=True, file=report)
    faulthandler.register(signal.SIGXCPU, report, chain=True)
    _limit(resource.RLIMIT_CPU, math.ceil(limits.seconds), math.ceil(limits.seconds) + 1)
    _limit(resource.RLIMIT_AS, limits.memory)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)


def spell_bytes(count: int) -> str:
    """Return `4 GiB`, or a number of bytes that is no whole number of such."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if count and not count % size:
            return f"{count // size} {unit}"
    return f"{count} bytes"


def suggest_more(key: str, now: float) -> str:
    """Return how program.yaml raises a limit that was reached; "" where it is the largest."""
    times = 10 if key == "seconds" else 2
    more = min(times * now, getattr(MOST, key))
    return f"; or more, in program.yaml: `limits: {{{key}: {more:.0f}}}`" if more > now else ""


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, where the system has it and allows as much."""
    known = resource.getrlimit(kind)[1]
    hard = soft if hard is None else hard
    if known != resource.RLIM_INFINITY:
        soft, hard = min(soft, known), min(hard, known)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


def end_with(held: int) -> None:
    """Let the system end this process when nobody holds the other end of a pipe any more."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(held, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(held, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    ended = select.poll()  # which takes a file of any number
    ended.register(held)
    if ended.poll(0):
        sys.exit(1)
